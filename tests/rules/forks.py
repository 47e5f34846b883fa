"""A game that goes on from another one's log, on the pure core: its own log, table and views."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from functools import cache
from random import Random
from typing import Any, Final

from schemas.codec import pack_entry, unpack_entry
from schemas.commands import Command, CommandEnvelope, CreateGame, ForkGame, StartGame, TakeSeat
from schemas.entries import Entry
from schemas.events import DeckShuffled, Event, PlayOffCalled, PlayOffEnded, TicketsShuffled
from schemas.field_types import Seat
from services.referee.rules import GameState, decide_envelope, fold, fold_events, split_by_visibility
from services.referee.rules.determinization import ViewerKnowledge
from services.referee.rules.setup.fork import fork_command
from tests.rules.given import everything
from tests.rules.random_games import BOARDS, HABITS, Play, a_position, seats_of, seen

OF = "random"  # what a random game is called
SEED = "f0" * 32
OPENED = 7_000_000
GAMES = range(12)  # of each ruleset
SERIES = (PlayOffCalled, PlayOffEnded)
SHUFFLES = (DeckShuffled, TicketsShuffled)
OWN = (  # what a game has of its own, wherever it comes from
    *(
        "game",
        "at_ms",
        "opened_at_ms",
        "created_at_ms",
        "play_off",
        "seed",
        "commitment",
        "epoch",
        "refusal_counts",
    ),
    *(
        "fork_origin",
        "position_starter",
        "fork_turn_state",
        "result",
        "next_play_off",
        "board",
        "shuffle_key",
        "seed_was_named",
    ),
)


@dataclass
class Forked:
    """The game that starts where a log stood after entry `at`, everybody seated; it has begun."""

    origin: Sequence[bytes]
    at: int
    asker: Seat | None = None
    table: GameState = field(default_factory=GameState)
    log: list[bytes] = field(default_factory=list)

    def __post_init__(self) -> None:
        self.say(None, self.creation())
        for seat, place in enumerate(self.table.seats):
            if not place.is_seated:
                self.say(None, TakeSeat(f"Person {seat}", seat))
        self.say(None, StartGame())
        self.begun = len(self.log)

    def creation(self) -> CreateGame:
        return fork_command(self.origin, ForkGame(OF, self.at, self.asker), SEED)

    def say(self, seat: Seat | None, command: Command, now: int = OPENED) -> tuple[Event, ...]:
        letter = CommandEnvelope(f"c{len(self.log)}", "forked", seat, command)
        events = decide_envelope(self.table, letter, now, SEED)
        entry = Entry(self.table.at_ms, letter.id, seat, command, events)
        self.log.append(pack_entry(entry, split_by_visibility(events)))
        assert unpack_entry(self.log[-1]) == entry
        return events

    def with_the_chance_of(self, other: GameState) -> Forked:
        """From here on its shuffles are those of the other game."""
        for name in ("seed", "epoch", "shuffle_key"):
            if hasattr(other, name):
                setattr(self.table, name, getattr(other, name))
        return self

    def says_what_came_of(self, rest: Sequence[bytes]) -> None:
        """Each further command of the other game, after the same time, has the same verdict here."""
        began, now = fold(self.origin[: self.at]).at_ms, OPENED + self.table.at_ms
        for data in rest:
            entry = unpack_entry(data)
            events = self.say(entry.seat, entry.command, now + entry.at - began)
            assert alike(events) == alike(entry.events), entry


def alike(events: Sequence[Event]) -> list[Event]:
    """Without what tells of a play-off: a fork belongs to none. And without the roots of shuffles, which
    are made of the game's id too."""
    kept = (event for event in events if not isinstance(event, SERIES))
    return [replace(event, root=None) if isinstance(event, SHUFFLES) else event for event in kept]


@cache
def a_game(rules: str, chance: int, **more: Any) -> Play:
    """A whole random game, the same for every test."""
    dice = Random(f"{rules} {chance}")
    board = dice.choice(BOARDS[rules])
    seats = dice.choice(seats_of(board))
    options = {
        "strict": dice.random() < 0.4,
        "clock_ms": dice.choice([None, 60_000, 200_000]),
        "move_ms": dice.choice([None, 4_000, 259_200_000]),
    }
    laid = {"position": a_position(dice, board, seats)} if dice.random() < 0.15 else {}
    habit, leaving = dice.choice([*HABITS]), dice.choice([0, 0, 0.01])
    mischief = 0.01 if options["strict"] else 0.05
    play = Play(dice, board, seats, habit, mischief, leaving, {**options, **more}, laid)
    for _ in play.steps():
        pass
    return play


def begun_at(log: Sequence[bytes]) -> int:
    """The entry that starts the game."""
    return next(n for n, data in enumerate(log, 1) if fold(log[:n]).started)


def viewers(play: Play) -> list[Seat | None]:
    return [None, *range(play.seats)]


def somebody(play: Play, at: int) -> Seat | None:
    """Who asks for the fork at this entry."""
    return Random(at).choice(viewers(play))


# -- moments to go on from -------------------------------------------------------------------


def moments(play: Play, most: int) -> list[int]:
    """Entries after which the game went on: the first of them, one of a rare kind, and some others."""
    first, last = begun_at(play.log), len(play.log) - 1
    if last < first:
        return []
    dice = Random(len(play.log))
    rare = [at for at in _of_rare_kinds(play) if at != first]
    others = [at for at in range(first + 1, last + 1) if at not in rare[:1]]
    chosen = [*dice.sample(rare, min(1, len(rare))), *dice.sample(others, min(most, len(others)))]
    return [first, *chosen[:most]]


def _of_rare_kinds(play: Play) -> list[int]:
    """The first entry of each kind that few games are of."""
    found: dict[str, int] = {}
    table = GameState()
    for at, data in enumerate(play.log, 1):
        table = fold([data], table)
        for kind in _kinds_of(table) if table.started and not table.result else ():
            found.setdefault(kind, at)
    return [found[kind] for kind in RARE if kind in found]


def kinds(log: Sequence[bytes], at: int) -> set[str]:
    """What kind of moment the game is in after this entry."""
    refused = {"refused"} if unpack_entry(log[at - 1]).refusal is not None else set()
    return _kinds_of(fold(log[:at])) | refused


def _kinds_of(table: GameState) -> set[str]:
    places = table.seats
    there = {
        "setup": table.turn is None,
        "last turns": table.in_last_turns,
        "passed": table.seats_passed,
        "named": any(place.requested_mix for place in places),
        "some have chosen": len({place.start_tickets_chosen for place in places}) == 2,
        "strict": table.rule_options.strict,
        "clocks": table.rule_options.clock_ms,
        "stations": table.station_owners,
        "passengers": table.passenger_owners,
        "from a position": table.position_starter is not None,
    }
    gone = (f"gone: {place.exit_reason}" for place in places if place.exit_reason)
    return {*table.pending_choices.values(), *gone, *(name for name, holds in there.items() if holds)}


RARE: Final = (
    *("named", "last turns", "passed", "some have chosen", "tunnel", "stations", "passengers"),
    *("gone: left", "gone: removed", "gone: out of time"),
)
KINDS: Final = (
    *(*RARE, "setup", "strict", "clocks", "from a position", "refused"),
    *("action", "second card", "tickets", "mix"),
)


# -- what a viewer sees ----------------------------------------------------------------------


def view(log: Sequence[bytes], viewer: Seat | None) -> tuple[GameState, ViewerKnowledge]:
    """The table as the viewer folds it, and what it can place there."""
    table, known = GameState(), ViewerKnowledge(viewer)
    for data in log:
        entry = unpack_entry(data)
        shown = seen(viewer, entry.events)
        fold_events(table, entry.at, shown)
        for event in shown:
            known.apply(event)
    return table, known


def visible(log: Sequence[bytes], viewer: Seat | None) -> dict[str, Any]:
    """All of the table that concerns play. Of others' hands: how many cards, and which are known."""
    table, known = view(log, viewer)
    told = everything(table)
    for name in OWN:
        told.pop(name, None)
    told["tickets of the board"] = table.board.tickets
    told["known"] = {seat: dict(+hand) for seat, hand in known.hands.items() if +hand}
    for seat, place in enumerate(told["seats"]):
        for name in ("name", "age", "seat_secret", "is_seated", "kind", "contribution"):
            place.pop(name, None)
        place["deadline_ms"] = _left(table, seat)
        place["hand"] = table.seats[seat].cards
        place["min_keep"] = table.seats[seat].offer and table.seats[seat].min_keep  # else it means nothing
    told["open_routes"] = {fare: set(routes) for fare, routes in told["open_routes"].items()}
    return told


def _left(table: GameState, seat: Seat) -> int | None:
    until = table.seats[seat].deadline_ms if seat in table.pending_choices else None
    return None if until is None else until - table.at_ms


def cards(table: GameState) -> Counter[str]:
    """Every card that is in the game, wherever it lies."""
    tunnel = table.tunnel.revealed if table.tunnel else ()
    rows: list[Any] = [table.deck, [card for card in table.market if card], tunnel, table.discards]
    total: Counter[str] = Counter()
    for row in (*rows, *(place.hand for place in table.seats)):
        total.update(row)
    return +total


def tickets(table: GameState) -> Counter[str]:
    """Every ticket that is in the game."""
    held = (row for place in table.seats for row in (place.tickets, place.offer))
    return Counter(str(ticket) for row in (*held, *table.ticket_decks.values()) for ticket in row)
