"""A log folded again, and every command in it decided again, by the edition of the rules that its first
entry names.

Two tables go side by side: one is told what the log tells, the other what the rules say to the same
commands. As long as they say the same, the log is what an honest referee writes; where they differ
there is a finding, and the second table goes on from the first.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import replace
from typing import Final, NamedTuple

from schemas.codec import Corrupt, unpack_entry
from schemas.commands import Letter
from schemas.contract import Malformed
from schemas.entries import Entry
from schemas.events import CommandRefused, Event, GameCreated, SeedSealed
from schemas.field_types import Seat
from services.referee.rules import NotKept, Table, fold_events, judge
from services.referee.rules.ruleset import Ruleset
from services.referee.rules.rulesets import EDITIONS
from services.runtime.worker_loop import BUGS
from services.verification.findings import Finding
from services.verification.verdict_diff import difference

UNREADABLE: Final = (Corrupt, Malformed, *BUGS)  # what damage may make of reading, folding or judging


class Ground(NamedTuple):
    """What a log's first entry settles for all its commands."""

    game: str
    created: int
    opened: int
    seed: str
    rulesets: Mapping[str, Ruleset]


class Verdict(NamedTuple):
    """What the rules say to a command: these events; or none, where the log has no place for it."""

    events: tuple[Event, ...]
    kept: NotKept | None = None


def ground(game: str, first: Entry) -> Ground:
    """What all commands of this game are decided by. Raises Corrupt where no game begins like this."""
    if len(first.events) < 2:
        raise Corrupt("a log begins with a game's creation")
    laid, sealed = first.events[:2]
    if not isinstance(laid, GameCreated) or not isinstance(sealed, SeedSealed):
        raise Corrupt("a log begins with a game's creation")
    edition = EDITIONS.get((laid.ruleset, laid.rules))
    if edition is None:
        raise Corrupt(f"nobody knows version {laid.rules} of the rules {laid.ruleset}")
    return Ground(game, laid.created, laid.opened, sealed.seed or "", {laid.ruleset: edition})


def decided(ground: Ground, table: Table, entry: Entry) -> Verdict:
    """What the rules say to this entry's command, on the table before it, which takes on the verdict."""
    letter = Letter(entry.id, ground.game, entry.seat, entry.command)
    now = ground.opened + entry.at
    try:
        events = judge(
            table, letter, now, ground.seed, created=ground.created, rulesets=ground.rulesets
        )  # fmt: skip
    except NotKept as no:
        return Verdict((), no)
    return Verdict(events)


def agree(verdict: Verdict, told: tuple[Event, ...]) -> bool:
    """Whether the log tells what the rules say. A rule may be worded better, but never be another."""
    if verdict.kept is not None:
        return False
    return verdict.events == told or [*map(_meant, verdict.events)] == [*map(_meant, told)]


def doubts(game: str, log: Iterable[bytes]) -> Iterator[Finding]:
    """Everything in these entries that isn't what the rules say to its command. Ends at the first
    entry that can't be read or folded: nothing after it means anything."""
    told, again = Table(), Table()
    settled: Ground | None = None
    answered: dict[tuple[Seat | None, str], int] = {}
    for number, data in enumerate(log, 1):
        try:
            entry = unpack_entry(data)
            settled = settled or ground(game, entry)
            early = told.at - entry.at
            fold_events(told, entry.at, entry.events)
        except UNREADABLE as error:
            yield Finding(number, "fold", f"The entry can't be read or folded: {_said(error)}.")
            return
        if early > 0:
            yield Finding(number, "fold", f"Its time is {early} ms before that of the entry before it.")
        before = answered.setdefault((entry.seat, entry.id), number)
        if before != number:
            yield Finding(number, "verdict", f"Command {entry.id} had its verdict in entry {before} already.")
        if why := _doubt(settled, again, entry):
            yield Finding(number, "verdict", why)
            again = told.branch()
    if settled is None:
        yield Finding(None, "fold", "The log is empty.")


def _doubt(settled: Ground, again: Table, entry: Entry) -> str:
    """How the entry differs from what the rules say; empty if it doesn't."""
    try:
        verdict = decided(settled, again, entry)
    except UNREADABLE as error:
        return f"On the table before it the rules have no answer to its command: {_said(error)}."
    return "" if agree(verdict, entry.events) else difference(entry.events, verdict.events, verdict.kept)


def _meant(event: Event) -> Event:
    return replace(event, why="") if isinstance(event, CommandRefused) else event


def _said(error: Exception) -> str:
    return str(error) if isinstance(error, Corrupt | Malformed) else f"{type(error).__name__}: {error}"
