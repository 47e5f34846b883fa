"""Forks on the pure core: a game that goes on from the log of another one."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from functools import cache
from random import Random
from typing import Any, Final

from schemas.commands import Command, CommandEnvelope, CreateGame, ForkGame, StartGame, TakeSeat
from schemas.events import Event, PlayOffCalled, PlayOffEnded
from schemas.field_types import Seat
from schemas.stored.codec import pack_entry, unpack_entry
from schemas.stored.entries import Entry
from services.referee.games import GameState, decide_envelope, fold, fold_events, split_by_visibility
from services.referee.games.trains.determinization import ViewerKnowledge
from services.referee.games.trains.setup.fork import fork_command
from tests.rules.given import SHUFFLES, full_state
from tests.rules.random_games import (
    BOARDS_BY_RULESET,
    HABITS,
    RandomGame,
    random_position,
    redact_all,
    seat_counts,
)

SOURCE_GAME = "random"  # what a random game is called
SEED = "f0" * 32
OPENED_AT_MS = 7_000_000
CHANCES = range(12)  # of each ruleset
SHORT_CHANCES = range(3)
PLAY_OFF_EVENTS = (PlayOffCalled, PlayOffEnded)
# the fields in which a fork differs from its source game
OWN_FIELDS = (
    "game", "at_ms", "opened_at_ms", "created_at_ms", "play_off", "seed", "commitment", "epoch", "refusal_counts",
    "fork_origin", "position_starter", "fork_turn_state", "result", "next_play_off", "board", "shuffle_key",
    "seed_was_named", "untaken",
)  # fmt: skip


@dataclass
class ForkedGame:
    """A fork of a log after entry `at`, with every seat taken, started."""

    origin: Sequence[bytes]
    at: int
    asker: Seat | None = None
    state: GameState = field(default_factory=GameState)
    log: list[bytes] = field(default_factory=list)

    def __post_init__(self) -> None:
        self.process(None, self.create_command())
        for seat, seat_state in enumerate(self.state.seats):
            if not seat_state.is_seated:
                self.process(None, TakeSeat(f"Person {seat}", seat))
        self.process(None, StartGame())
        self.begun = len(self.log)

    def create_command(self) -> CreateGame:
        return fork_command(self.origin, ForkGame(SOURCE_GAME, self.at, self.asker), SEED)

    def process(self, seat: Seat | None, command: Command, now: int = OPENED_AT_MS) -> tuple[Event, ...]:
        envelope = CommandEnvelope(f"c{len(self.log)}", "forked", seat, command)
        events = decide_envelope(self.state, envelope, now, SEED)
        entry = Entry(self.state.at_ms, envelope.id, seat, command, events)
        self.log.append(pack_entry(entry, split_by_visibility(events))[0])
        assert unpack_entry(self.log[-1]) == entry
        return events

    def with_shuffles_of(self, other: GameState) -> ForkedGame:
        """From here on its shuffles are those of the source game."""
        for name in ("seed", "epoch", "shuffle_key"):
            if hasattr(other, name):
                setattr(self.state, name, getattr(other, name))
        return self

    def assert_same_results(self, rest: Sequence[bytes]) -> None:
        """Each further command of the source game, after the same time, has the same verdict here."""
        began, now = fold(self.origin[: self.at]).at_ms, OPENED_AT_MS + self.state.at_ms
        for data in rest:
            entry = unpack_entry(data)
            events = self.process(entry.seat, entry.command, now + entry.at - began)
            assert comparable(events) == comparable(entry.events), entry


def comparable(events: Sequence[Event]) -> list[Event]:
    """Without play-off events: a fork belongs to no play-off. And without the roots of shuffles, which
    are made of the game's id too."""
    kept = (event for event in events if not isinstance(event, PLAY_OFF_EVENTS))
    return [replace(event, root="") if isinstance(event, SHUFFLES) else event for event in kept]


@cache
def whole_game(rules: str, chance: int, **more: Any) -> RandomGame:
    """A whole random game, the same for every test."""
    rng = Random(f"{rules} {chance}")
    board = rng.choice(BOARDS_BY_RULESET[rules])
    seats = rng.choice(seat_counts(board))
    options = {
        "strict": rng.random() < 0.4,
        "clock_ms": rng.choice([None, 60_000, 200_000]),
        "move_ms": rng.choice([None, 4_000, 259_200_000]),
    }
    create_fields = {"position": random_position(rng, board, seats)} if rng.random() < 0.15 else {}
    habit, leave_share = rng.choice([*HABITS]), rng.choice([0, 0, 0.01])
    illegal_share = 0.01 if options["strict"] else 0.05
    play = RandomGame(
        rng, board, seats, habit, illegal_share, leave_share, {**options, **more}, create_fields
    )
    for _ in play.steps():
        pass
    return play


def start_entry(log: Sequence[bytes]) -> int:
    """The entry that starts the game."""
    return next(n for n, data in enumerate(log, 1) if fold(log[:n]).started)


def viewers(play: RandomGame) -> list[Seat | None]:
    return [None, *range(play.seats)]


def asker_at(play: RandomGame, at: int) -> Seat | None:
    """The viewer who asks for the fork at this entry."""
    return Random(at).choice(viewers(play))


# -- entries to fork -------------------------------------------------------------------


def fork_entries(play: RandomGame, most: int) -> list[int]:
    """Entries after which the game went on: the first of them, one of a rare kind, and some others."""
    first, last = start_entry(play.log), len(play.log) - 1
    if last < first:
        return []
    rng = Random(len(play.log))
    rare = [at for at in _first_of_rare_kinds(play) if at != first]
    others = [at for at in range(first + 1, last + 1) if at not in rare[:1]]
    chosen = [*rng.sample(rare, min(1, len(rare))), *rng.sample(others, min(most, len(others)))]
    return [first, *chosen[:most]]


def _first_of_rare_kinds(play: RandomGame) -> list[int]:
    """The first entry of each kind that few games are of."""
    found: dict[str, int] = {}
    state = GameState()
    for at, data in enumerate(play.log, 1):
        state = fold([data], state)
        for kind in _kinds_of(state) if state.started and not state.result else ():
            found.setdefault(kind, at)
    return [found[kind] for kind in RARE_KINDS if kind in found]


def kinds_at(log: Sequence[bytes], at: int) -> set[str]:
    """The kinds of situations (see KINDS) that the game is in after this entry."""
    refused = {"refused"} if unpack_entry(log[at - 1]).refusal is not None else set()
    return _kinds_of(fold(log[:at])) | refused


def _kinds_of(state: GameState) -> set[str]:
    seat_states = state.seats
    conditions = {
        "setup": state.turn is None,
        "last turns": state.own.in_last_turns,
        "passed": state.own.seats_passed,
        "named": any(seat_state.own.requested_mix for seat_state in seat_states),
        "some have chosen": len({seat_state.own.start_tickets_chosen for seat_state in seat_states}) == 2,
        "strict": state.rule_options.strict,
        "clocks": state.rule_options.clock_ms,
        "stations": state.own.station_owners,
        "passengers": state.own.passenger_owners,
        "from a position": state.own.position_starter is not None,
    }
    gone = (f"gone: {seat_state.exit_reason}" for seat_state in seat_states if seat_state.exit_reason)
    return {*state.pending_choices.values(), *gone, *(name for name, holds in conditions.items() if holds)}


RARE_KINDS: Final = (
    *("named", "last turns", "passed", "some have chosen", "tunnel", "stations", "passengers"),
    *("gone: left", "gone: removed", "gone: out of time"),
)
KINDS: Final = (
    *(*RARE_KINDS, "setup", "strict", "clocks", "from a position", "refused"),
    *("action", "second card", "tickets", "mix"),
)


# -- what a viewer sees ----------------------------------------------------------------------


def viewer_state(log: Sequence[bytes], viewer: Seat | None) -> tuple[GameState, ViewerKnowledge]:
    """The viewer's own state, and what it knows of the hidden cards."""
    state, known = GameState(), ViewerKnowledge(viewer)
    for data in log:
        entry = unpack_entry(data)
        shown = redact_all(viewer, entry.events)
        fold_events(state, entry.at, shown)
        for event in shown:
            known.apply(event)
    return state, known


def visible_state(log: Sequence[bytes], viewer: Seat | None) -> dict[str, Any]:
    """All of the viewer's state that concerns play. Of others' hands: how many cards, and which are known."""
    state, known = viewer_state(log, viewer)
    fields = full_state(state)
    for name in OWN_FIELDS:
        fields.pop(name, None)
    fields["tickets of the board"] = state.own.board.tickets
    fields["known"] = {seat: dict(+hand) for seat, hand in known.hands.items() if +hand}
    for seat, seat_state in enumerate(fields["seats"]):
        for name in ("name", "age", "seat_secret", "is_seated", "kind", "contribution"):
            seat_state.pop(name, None)
        seat_state["deadline_ms"] = _remaining_ms(state, seat)
        seat_state["hand"] = state.seats[seat].own.cards
        seat_state["min_keep"] = (
            state.seats[seat].own.offer and state.seats[seat].own.min_keep
        )  # else it means nothing
    fields["open_routes"] = {fare: set(routes) for fare, routes in fields["open_routes"].items()}
    return fields


def _remaining_ms(state: GameState, seat: Seat) -> int | None:
    until = state.seats[seat].deadline_ms if seat in state.pending_choices else None
    return None if until is None else until - state.at_ms


def all_cards(state: GameState) -> Counter[str]:
    """Every card that is in the game, wherever it is."""
    tunnel = state.own.tunnel.revealed if state.own.tunnel else ()
    rows: list[Any] = [
        state.own.deck,
        [card for card in state.own.market if card],
        tunnel,
        state.own.discards,
    ]
    total: Counter[str] = Counter()
    for row in (*rows, *(seat_state.own.hand for seat_state in state.seats)):
        total.update(row)
    return +total


def all_tickets(state: GameState) -> Counter[str]:
    """Every ticket that is in the game."""
    held = (row for seat_state in state.seats for row in (seat_state.own.tickets, seat_state.own.offer))
    return Counter(str(ticket) for row in (*held, *state.own.ticket_decks.values()) for ticket in row)
