"""Random whole games of every ruleset: seats of several habits, now and then an illegal command,
a leave, a lapse."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from random import Random
from typing import Any

from hypothesis import strategies as st

from schemas.codec import build_view_entry, pack_entry, pack_private_part, pack_public, unpack_entry
from schemas.commands import (
    BuildStation,
    CallTime,
    ClaimRoute,
    Command,
    CommandEnvelope,
    CreateGame,
    DeclineTunnel,
    DrawBlind,
    DrawMarket,
    DrawTickets,
    KeepTickets,
    Leave,
    MovePassenger,
    PayTunnel,
    PlayOff,
    RequestCards,
    SeatPlan,
    StartGame,
)
from schemas.entries import Entry, ViewEntry
from schemas.events import Event, PassengerMoved, SeatCleared, TicketsReturned
from schemas.field_types import Seat
from schemas.positions import Position, StationGiven, TicketGiven
from services.referee.rules import (
    RULESETS,
    GameState,
    UnloggedRejectionError,
    decide_envelope,
    fold_events,
    legal,
    redact_for,
    split_by_visibility,
)
from services.referee.rules import board as boards
from services.referee.rules.seat_state import SeatState
from services.referee.rules.state import ACTION
from tests.rules.given import CREATED, SEED
from tests.rules.random_commands import pool

STEPS_MOST = 3000
HABITS: Mapping[str, tuple[type[Command], ...]] = {
    "anything": (),
    "claims": (ClaimRoute, PayTunnel),
    "hoards": (DrawBlind, DrawMarket, DrawTickets, KeepTickets, RequestCards),
    "travels": (DrawTickets, MovePassenger),
    "builds": (BuildStation, DeclineTunnel),
}
BOARDS = {
    rules: [n for n in boards.board_names() if boards.load_board(n).default_ruleset == rules]
    for rules in RULESETS
}


@dataclass
class Play:
    """A whole game under one die: its log, and every viewer's own fold of what it was sent."""

    dice: Random
    board: str
    seats: int
    habit: str = "anything"  # of choosing among legal moves
    mischief: float = 0  # how often a command is anything at all
    leaving: float = 0  # how often a seat leaves
    options: dict[str, Any] = field(default_factory=dict)
    wish_for: dict[str, Any] = field(default_factory=dict, repr=False)  # more of CreateGame
    table: GameState = field(default_factory=GameState, repr=False)
    log: list[bytes] = field(default_factory=list, repr=False)
    views: dict[Seat | None, GameState] = field(default_factory=dict, repr=False)
    parts: dict[Seat, int] = field(default_factory=dict, repr=False)
    out: Counter[str] = field(default_factory=Counter, repr=False)  # cards of removed seats
    lost: Counter[str] = field(default_factory=Counter, repr=False)  # tickets out of the game
    spent: int = 0  # points of tokens of removed seats
    travelled: Counter[Seat] = field(default_factory=Counter, repr=False)  # passengers that left
    now: int = CREATED

    def __post_init__(self) -> None:
        self.views = {viewer: GameState() for viewer in (None, *range(self.seats))}
        plans = tuple(
            SeatPlan("bot", "random", f"Bot {seat}", self.dice.choice([None, *range(20, 60)]))
            for seat in range(self.seats)
        )
        seed = str(self.dice.random())
        wish = CreateGame(plans, board=self.board, seed=seed, options=self.options, **self.wish_for)
        self.say(None, wish)
        self.say(None, StartGame())

    def steps(self) -> Iterator[int]:
        """Go on to the end, one command at a time."""
        for number in range(STEPS_MOST):
            if self.table.result:
                return
            self.now += self.dice.randrange(2000)
            self.say(*self.wish())
            yield number
        raise AssertionError("the game doesn't end")

    def wish(self) -> tuple[Seat | None, Command]:
        """What somebody asks for next."""
        dice, table = self.dice, self.table
        deadline = table.next_deadline()
        if deadline and CREATED + deadline[0] <= self.now:
            return None, CallTime(deadline[1])
        if dice.random() < self.leaving:
            return dice.randrange(self.seats), Leave()
        if dice.random() < self.mischief:
            return dice.randrange(self.seats), dice.choice(pool(dice, table))
        seat = dice.choice(sorted(table.pending_choices))
        return seat, self.choice(legal(table, seat))

    def choice(self, commands: list[Command]) -> Command:
        """One of the kinds that the habit prefers, or of any kind: each kind as often."""
        wanted = HABITS[self.habit]
        chosen = [command for command in commands if isinstance(command, wanted)] or commands
        kind = self.dice.choice(sorted({command.type for command in chosen}))
        return self.dice.choice([command for command in chosen if command.type == kind])

    def say(self, seat: Seat | None, command: Command) -> None:
        """The referee's verdict on it, put down in the log and sent to every viewer."""
        before = [place.copy() for place in self.table.seats]
        letter = CommandEnvelope(f"c{len(self.log)}", "random", seat, command)
        try:
            events = decide_envelope(self.table, letter, self.now, SEED)
        except UnloggedRejectionError:
            assert self.log, "the game was created"
            return
        self.account(before, events)
        self.write(letter, events)

    def account(self, before: list[SeatState], events: tuple[Event, ...]) -> None:
        """Keep count of what left the game, and of how."""
        returned = {t for event in events if isinstance(event, TicketsReturned) for t in event.tickets}
        for event in events:
            if isinstance(event, SeatCleared):
                gone = before[event.seat]
                self.out.update({str(card): n for card, n in gone.hand.items()})
                self.lost.update(str(t) for t in (*gone.tickets, *gone.offer) if t not in returned)
                self.spent += gone.merchandise
                del self.travelled[event.seat]
            elif isinstance(event, TicketsReturned) and event.to == "out":
                self.lost.update(str(ticket) for ticket in event.tickets)
            elif isinstance(event, PassengerMoved):
                self.travelled[event.seat] += 1

    def write(self, letter: CommandEnvelope, events: tuple[Event, ...]) -> None:
        at, turned = self.table.at_ms, split_by_visibility(events)
        entry = Entry(at, letter.id, letter.seat, letter.command, events)
        self.log.append(pack_entry(entry, turned))
        if len(self.log) % 8 < 3:
            assert unpack_entry(self.log[-1]) == entry
        number, public = len(self.log), pack_public(at, turned)
        for viewer, view in self.views.items():
            part = None
            answers = letter.id if viewer is not None and viewer == letter.seat else None
            if viewer is not None and (viewer in turned.private or answers):
                part = pack_private_part(self.parts.get(viewer, 0), answers, turned.private.get(viewer, {}))
                self.parts[viewer] = number
            got = build_view_entry(number, public, part)
            assert got == ViewEntry(number, at, answers, seen(viewer, events))
            fold_events(view, got.at, got.events)


def seen(viewer: Seat | None, events: tuple[Event, ...]) -> tuple[Event, ...]:
    shown = (redact_for(viewer, event) for event in events)
    return tuple(event for event in shown if event is not None)


# -- which games ---------------------------------------------------------------------------


def seats_of(board: str) -> range:
    """How many may play on this board."""
    loaded = boards.load_board(board)
    figures = RULESETS[loaded.default_ruleset].rule_options
    most = loaded.rule_options.get("seats_most", figures.seats_most)
    assert isinstance(most, int)
    return range(figures.seats_least, most + 1)


def small_deck(rules: str) -> dict[str, int]:
    """So few cards that they are soon in hands altogether."""
    return {card: max(1, count // 3) for card, count in RULESETS[rules].rule_options.cards.items()}


def a_game(draw: st.DrawFn, rules: str) -> Play:
    """A game of these rules on any of their boards."""
    figures = RULESETS[rules].rule_options
    board = draw(st.sampled_from(BOARDS[rules]))
    seats = draw(st.sampled_from(seats_of(board)))
    strict = draw(st.sampled_from([figures.strict, figures.strict, not figures.strict]))
    options: dict[str, Any] = {"strict": strict}
    options["clock_ms"] = draw(st.sampled_from([None, None, 20_000, 200_000]))
    options["move_ms"] = draw(st.sampled_from([None, None, 4_000, 259_200_000]))
    if draw(st.sampled_from([False, False, True])):
        options["cards"] = small_deck(rules)
    wish: dict[str, Any] = {}
    if figures.play_off and draw(st.booleans()):
        wish["play_off"] = PlayOff("before", draw(st.integers(1, 5)), tuple(range(seats)), (0,) * seats)
    dice = Random(draw(st.integers(0, 2**32)))
    if not wish and draw(st.sampled_from([False, False, True])):
        wish["position"] = a_position(dice, board, seats)
    return Play(
        dice=dice,
        board=board,
        seats=seats,
        habit=draw(st.sampled_from([*HABITS])),
        mischief=draw(st.sampled_from([0, 0.01 if strict else 0.1])),
        leaving=draw(st.sampled_from([0, 0, 0.01])),
        options=options,
        wish_for=wish,
    )


games = {rules: st.composite(a_game)(rules) for rules in RULESETS}


# -- positions -----------------------------------------------------------------------------


def a_position(dice: Random, board: str, seats: int) -> Position:
    """A position from the midst of a random game, when a turn has just begun."""
    play = Play(Random(dice.random()), board, seats, options={"strict": False, "clock_ms": None})
    steps, position = dice.randrange(150), None
    for number in play.steps():
        if position is not None and number >= steps:
            break
        if ACTION in play.table.pending_choices.values():
            position = cut(play.table)
    assert position is not None
    return position


def cut(table: GameState) -> Position:
    """The position of a table at the start of a turn, written out in full."""
    assert table.turn is not None
    return Position(
        turn=table.turn,
        hands=tuple({str(c): n for c, n in place.hand.items() if n} for place in table.seats),
        market=tuple(table.market),
        deck=tuple(str(card) for card in reversed(table.deck)),
        discard={str(card): n for card, n in table.discards.items() if n},
        routes=dict(table.route_owners),
        cars=tuple(place.cars for place in table.seats),
        tickets=tuple(_given(table, place.tickets) for place in table.seats),
        ticket_decks={name: _given(table, row[::-1]) for name, row in table.ticket_decks.items()},
        stations={
            city: StationGiven(seat, table.seats[seat].stations[city])
            for city, seat in table.station_owners.items()
        },
        passengers=dict(table.passenger_owners),
        tokens=dict(table.tokens),
        merchandise=tuple(place.merchandise for place in table.seats),
        points=tuple(place.points for place in table.seats),
    )


def _given(table: GameState, row: list[str | None]) -> tuple[TicketGiven, ...]:
    tickets = (table.board.tickets[str(name)] for name in row)
    return tuple(TicketGiven((ticket.a, ticket.b), ticket.points) for ticket in tickets)
