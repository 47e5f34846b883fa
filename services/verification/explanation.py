"""One entry of a log explained: the table before it as the referee and as each viewer saw it, the command,
the verdict, the rule in words, what else the seat could have done, and the table after."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import cache
from typing import Final, Literal, NamedTuple, TypeAlias

from schemas import commands as wishes
from schemas.codec import Corrupt, unpack_entry, unpack_facts
from schemas.commands import Command
from schemas.contract import Malformed
from schemas.entries import Entry
from schemas.events import Event
from schemas.field_types import Seat
from schemas.refusals import ALL
from services.referee.rules import Table, fold_events, legal, seen_by
from services.referee.rules.evolve import elapse
from services.rulebook import passages, read_pages
from services.text.events import tell
from services.verification.verdict_check import UNREADABLE, Verdict, agree, decided, ground
from services.verification.verdict_diff import difference

Viewer: TypeAlias = Seat | Literal["referee", "public"]


class Told(NamedTuple):
    """An event as somebody was told it, and the sentence that says so (empty: it goes without saying)."""

    event: Event
    sentence: str


class Sight(NamedTuple):
    """The entry as one viewer saw it."""

    before: Table
    told: tuple[Told, ...]
    after: Table


class Cited(NamedTuple):
    """A rule: its id, its sentence, and what the ruleset's page says of it, in Markdown."""

    rule: str
    sentence: str
    passage: str


class Explained(NamedTuple):
    """One entry, and all that an arbiter asks about it."""

    number: int
    entry: Entry
    sights: Mapping[Viewer, Sight]  # the referee's, the public's, each seat's
    cited: tuple[Cited, ...]  # the rule that refused it first, then those of its kind of command
    alternatives: tuple[Command, ...]  # what the seat could have done instead
    doubt: str  # how the verdict differs from what the rules say; empty if it doesn't

    @property
    def before(self) -> Table:
        return self.sights["referee"].before

    @property
    def after(self) -> Table:
        return self.sights["referee"].after


def seek(log: Sequence[bytes], number: int) -> Table:
    """The referee's table after so many entries. Raises Corrupt, naming the entry."""
    table = Table()
    for place, data in enumerate(log[:number], 1):
        try:
            at, _, _, _, events = unpack_facts(data)
            fold_events(table, at, events)
        except UNREADABLE as error:
            raise Corrupt(f"entry {place} can't be read or folded: {error}") from None
    return table


def explain(game: str, log: Sequence[bytes], number: int) -> Explained:
    """The entry of this number. Raises Malformed (there is none), or Corrupt (it, or one before it,
    can't be read)."""
    if not 1 <= number <= len(log):
        raise Malformed("--at", f"game {game} has {len(log)} entries, so there is no entry {number}")
    tables = _before(log, number)
    try:
        entry = unpack_entry(log[number - 1])
        sights = {viewer: _seen(viewer, table, entry) for viewer, table in tables.items()}
        before, ruleset = sights["referee"].before, sights["referee"].after.rules.name
        could = tuple(_alternatives(before, entry))
    except UNREADABLE as error:
        raise Corrupt(f"entry {number} can't be read or folded: {error}") from None
    return Explained(number, entry, sights, cite(ruleset, entry), could, _doubt(game, log, before, entry))


def _alternatives(before: Table, entry: Entry) -> list[Command]:
    """What the seat that spoke could have done; nothing, where it wasn't asked to act."""
    seat = entry.seat
    return legal(before, seat) if seat is not None and seat < len(before.places) else []


def _before(log: Sequence[bytes], number: int) -> dict[Viewer, Table]:
    """Everybody's table before this entry."""
    referee = seek(log, number - 1)
    tables: dict[Viewer, Table] = {"referee": referee, "public": Table()}
    seats = len(referee.places) or len(seek(log, number).places)
    tables |= {seat: Table() for seat in range(seats)}
    viewers = {viewer: table for viewer, table in tables.items() if viewer != "referee"}
    for place, data in enumerate(log[: number - 1], 1):
        at, _, _, _, events = unpack_facts(data)
        for viewer, table in viewers.items():
            try:
                fold_events(table, at, _shown(viewer, events))
            except UNREADABLE as error:
                raise Corrupt(f"entry {place} can't be folded as {viewer} sees it: {error}") from None
    return tables


def _seen(viewer: Viewer, table: Table, entry: Entry) -> Sight:
    """The entry on this viewer's table: first its time comes, then its events."""
    before = table.branch()
    elapse(table, entry.at)
    elapse(before, entry.at)
    told = []
    for event in _shown(viewer, entry.events):
        fold_events(table, entry.at, (event,))
        told.append(Told(event, tell(table, event) or ""))
    return Sight(before, tuple(told), table)


def _shown(viewer: Viewer, events: Sequence[Event]) -> list[Event]:
    if viewer == "referee":
        return list(events)
    seen = (seen_by(None if viewer == "public" else viewer, event) for event in events)
    return [event for event in seen if event is not None]


def _doubt(game: str, log: Sequence[bytes], before: Table, entry: Entry) -> str:
    """How the entry differs from what the rules say on the table before it."""
    try:
        verdict: Verdict = decided(ground(game, unpack_entry(log[0])), before.branch(), entry)
    except UNREADABLE as error:
        return f"The rules have no answer to this command: {error}."
    return "" if agree(verdict, entry.events) else difference(entry.events, verdict.events, verdict.kept)


# -- the rules that it is about --------------------------------------------------------------


def cite(ruleset: str, entry: Entry) -> tuple[Cited, ...]:
    """The rules that a verdict is about, as this ruleset has them."""
    said = _pages()
    refusal = entry.refusal
    own = () if refusal is None else (refusal.rule,)
    told = (rule for rule in ABOUT.get(type(entry.command), ()) if ruleset in said.get(rule, {}))
    rules = dict.fromkeys((*own, *told))
    return tuple(Cited(rule, ALL.get(rule, ""), said.get(rule, {}).get(ruleset, "")) for rule in rules)


@cache
def _pages() -> Mapping[str, Mapping[str, str]]:
    return passages(read_pages())


_PAYMENT: Final = ("ROUTE-1", "ROUTE-2", "ROUTE-3", "ROUTE-4")
ABOUT: Final[Mapping[type[Command], tuple[str, ...]]] = {  # what each command is judged by
    wishes.DrawBlind: ("CARD-1", "CARD-4"),
    wishes.DrawMarket: ("CARD-1", "CARD-2", "CARD-4"),
    wishes.DrawTickets: ("TICKET-1", "TICKET-3"),
    wishes.KeepTickets: ("SETUP-2", "SETUP-3", "SETUP-4", "TICKET-1"),
    wishes.ClaimRoute: (*_PAYMENT, "ROUTE-7", "DOUBLE-1", "DOUBLE-2", "FERRY-1", "TUNNEL-1", "PASSENGER-1"),
    wishes.PayTunnel: ("TUNNEL-2", "TUNNEL-3"),
    wishes.DeclineTunnel: ("TUNNEL-3", "TUNNEL-4"),
    wishes.BuildStation: ("STATION-1", "STATION-2", "STATION-3"),
    wishes.MovePassenger: ("PASSENGER-2",),
    wishes.RequestCards: ("CARD-6",),
    wishes.Pass: ("TURN-4",),
    wishes.Leave: ("CONDUCT-3",),
    wishes.CallTime: ("CLOCK-1", "CLOCK-2"),
}
