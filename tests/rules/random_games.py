"""Random whole games of every ruleset: seats with several habits, now and then an illegal command,
a leave, a lapse."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from random import Random
from typing import Any

from hypothesis import strategies as st

from schemas.commands import (
    CallTime,
    Command,
    CommandEnvelope,
    CreateGame,
    Leave,
    PlayOff,
    SeatPlan,
    StartGame,
)
from schemas.events import Event, SeatCleared
from schemas.field_types import Seat
from schemas.stored.codec import (
    Proofs,
    build_view_entry,
    pack_entry,
    pack_private_part,
    pack_public,
    unpack_entry,
)
from schemas.stored.entries import Entry, ViewEntry
from schemas.trains.commands import (
    BuildStation,
    ClaimRoute,
    DeclineTunnel,
    DrawBlind,
    DrawMarket,
    DrawTickets,
    KeepTickets,
    MovePassenger,
    PayTunnel,
    RequestCards,
)
from schemas.trains.events import PassengerMoved, TicketsReturned
from schemas.trains.positions import Position, StationGiven, TicketGiven
from services.referee.games import (
    RULESETS,
    GameState,
    UnloggedRejectionError,
    decide_envelope,
    fold_events,
    legal,
    redact_for,
    split_by_visibility,
)
from services.referee.games.state import ACTION, SeatState
from services.referee.games.trains import board as boards
from services.referee.games.trains.rulesets import TRAIN_RULESETS
from services.referee.games.trains.train_state import TrainState
from tests.rules.given import CREATED_AT_MS, SEED
from tests.rules.random_commands import command_pool

MAX_STEPS = 3000
HABITS: Mapping[str, tuple[type[Command], ...]] = {
    "anything": (),
    "claims": (ClaimRoute, PayTunnel),
    "hoards": (DrawBlind, DrawMarket, DrawTickets, KeepTickets, RequestCards),
    "travels": (DrawTickets, MovePassenger),
    "builds": (BuildStation, DeclineTunnel),
}
BOARDS_BY_RULESET: Mapping[str, list[str | None]] = defaultdict(
    lambda: [None],  # of a game that is played on no board
    {
        rules: [n for n in boards.board_names() if boards.load_board(n).default_ruleset == rules]
        for rules in TRAIN_RULESETS
    },
)


@dataclass
class RandomGame:
    """A whole game under one random source: its log, and every viewer's own fold of what it was sent."""

    rng: Random
    board: str | None
    seats: int
    habit: str = "anything"  # of choosing among legal moves
    illegal_share: float = 0  # how often a command is anything at all
    leave_share: float = 0  # how often a seat leaves
    options: dict[str, Any] = field(default_factory=dict)
    create_fields: dict[str, Any] = field(default_factory=dict, repr=False)  # further fields of CreateGame
    state: GameState = field(default_factory=GameState, repr=False)
    log: list[bytes] = field(default_factory=list, repr=False)
    views: dict[Seat | None, GameState] = field(default_factory=dict, repr=False)
    last_private_sequences: dict[Seat, int] = field(default_factory=dict, repr=False)
    removed_cards: Counter[str] = field(default_factory=Counter, repr=False)  # cards of removed seats
    removed_tickets: Counter[str] = field(default_factory=Counter, repr=False)  # tickets out of the game
    removed_token_points: int = 0  # points of tokens of removed seats
    journeys_made: Counter[Seat] = field(default_factory=Counter, repr=False)  # passengers that left
    now_ms: int = CREATED_AT_MS

    def __post_init__(self) -> None:
        self.views = {viewer: GameState() for viewer in (None, *range(self.seats))}
        plans = tuple(
            SeatPlan("bot", "random", f"Bot {seat}", self.rng.choice([None, *range(20, 60)]))
            for seat in range(self.seats)
        )
        seed = str(self.rng.random())
        command = CreateGame(plans, board=self.board, seed=seed, options=self.options, **self.create_fields)
        self.process(None, command)
        self.process(None, StartGame())

    def steps(self) -> Iterator[int]:
        """Play to the end, one command at a time; yields after each."""
        for number in range(MAX_STEPS):
            if self.state.result:
                return
            self.now_ms += self.rng.randrange(2000)
            self.process(*self.next_command())
            yield number
        raise AssertionError("the game doesn't end")

    def next_command(self) -> tuple[Seat | None, Command]:
        """The next command, and its sender (None: the server)."""
        rng, state = self.rng, self.state
        deadline = state.next_deadline()
        if deadline and CREATED_AT_MS + deadline[0] <= self.now_ms:
            return None, CallTime(deadline[1])
        if rng.random() < self.leave_share:
            return rng.randrange(self.seats), Leave()
        if rng.random() < self.illegal_share:
            return rng.randrange(self.seats), rng.choice(command_pool(rng, state))
        seat = rng.choice(sorted(state.pending_choices))
        return seat, self.choice(legal(state, seat))

    def choice(self, commands: list[Command]) -> Command:
        """A command of a kind that the habit prefers, or of any kind; all kinds are equally likely."""
        wanted = HABITS[self.habit]
        chosen = [command for command in commands if isinstance(command, wanted)] or commands
        kind = self.rng.choice(sorted({command.type for command in chosen}))
        return self.rng.choice([command for command in chosen if command.type == kind])

    def process(self, seat: Seat | None, command: Command) -> None:
        """Decide the command; append the entry to the log and to every view."""
        before = [seat_state.copy() for seat_state in self.state.seats]
        envelope = CommandEnvelope(f"c{len(self.log)}", "random", seat, command)
        try:
            events = decide_envelope(self.state, envelope, self.now_ms, SEED)
        except UnloggedRejectionError:
            assert self.log, "the game was created"
            return
        if isinstance(self.state.own, TrainState):
            self.count_removed(before, events)
        self.append(envelope, events)

    def count_removed(self, before: list[SeatState], events: tuple[Event, ...]) -> None:
        """Count the cards, tickets and tokens that left the game."""
        returned = {t for event in events if isinstance(event, TicketsReturned) for t in event.tickets}
        for event in events:
            if isinstance(event, SeatCleared):
                removed = before[event.seat]
                self.removed_cards.update({str(card): n for card, n in removed.own.hand.items()})
                self.removed_tickets.update(
                    str(t) for t in (*removed.own.tickets, *removed.own.offer) if t not in returned
                )
                self.removed_token_points += removed.own.merchandise
                del self.journeys_made[event.seat]
            elif isinstance(event, TicketsReturned) and event.to == "out":
                self.removed_tickets.update(str(ticket) for ticket in event.tickets)
            elif isinstance(event, PassengerMoved):
                self.journeys_made[event.seat] += 1

    def append(self, envelope: CommandEnvelope, events: tuple[Event, ...]) -> None:
        at, split = self.state.at_ms, split_by_visibility(events)
        entry = Entry(at, envelope.id, envelope.seat, envelope.command, events)
        self.log.append(pack_entry(entry, split)[0])
        if len(self.log) % 8 < 3:
            assert unpack_entry(self.log[-1]) == entry
        number, public = len(self.log), pack_public(at, split, Proofs(b""))
        for viewer, view in self.views.items():
            part = None
            answers = envelope.id if viewer is not None and viewer == envelope.seat else None
            if viewer is not None and (viewer in split.private or answers):
                part = pack_private_part(
                    self.last_private_sequences.get(viewer, 0), answers, split.private.get(viewer, {})
                )
                self.last_private_sequences[viewer] = number
            view_entry = build_view_entry(number, public, part)
            assert view_entry == ViewEntry(number, at, answers, redact_all(viewer, events))
            fold_events(view, view_entry.at, view_entry.events)


def redact_all(viewer: Seat | None, events: tuple[Event, ...]) -> tuple[Event, ...]:
    shown = (redact_for(viewer, event) for event in events)
    return tuple(event for event in shown if event is not None)


# -- which games ---------------------------------------------------------------------------


def seat_counts(board: str | None, rules: str = "") -> range:
    """How many may play on this board, or by these rules without one."""
    loaded = None if board is None else boards.load_board(board)
    rule_options = RULESETS[loaded.default_ruleset if loaded else rules].rule_options
    most = rule_options.seats_most
    if loaded:
        most = loaded.rule_options.get("seats_most", most)
    assert isinstance(most, int)
    return range(rule_options.seats_least, most + 1)


def random_board(rng: Random, rules: str) -> tuple[str | None, int, dict[str, Any]]:
    """A board of these rules, if they have any, a number of seats, and the fields of the creation that name them."""
    board = rng.choice(BOARDS_BY_RULESET[rules])
    return board, rng.choice(seat_counts(board, rules)), {} if board else {"ruleset": rules}


def small_deck(rules: str) -> dict[str, int]:
    """So few cards that the hands soon hold all of them."""
    return {card: max(1, count // 3) for card, count in TRAIN_RULESETS[rules].rule_options.cards.items()}


def draw_game(draw: st.DrawFn, rules: str) -> RandomGame:
    """A game of these rules on any of their boards."""
    rule_options = RULESETS[rules].rule_options
    board = draw(st.sampled_from(BOARDS_BY_RULESET[rules]))
    seats = draw(st.sampled_from(seat_counts(board, rules)))
    strict = draw(st.sampled_from([rule_options.strict, rule_options.strict, not rule_options.strict]))
    options: dict[str, Any] = {"strict": strict}
    options["clock_ms"] = draw(st.sampled_from([None, None, 20_000, 200_000]))
    options["move_ms"] = draw(st.sampled_from([None, None, 4_000, 259_200_000]))
    if rules in TRAIN_RULESETS and draw(st.sampled_from([False, False, True])):
        options["cards"] = small_deck(rules)
    create_fields: dict[str, Any] = {} if board else {"ruleset": rules}
    if rule_options.play_off and draw(st.booleans()):
        create_fields["play_off"] = PlayOff(
            "before", draw(st.integers(1, 5)), tuple(range(seats)), (0,) * seats
        )
    rng = Random(draw(st.integers(0, 2**32)))
    if board and not create_fields and draw(st.sampled_from([False, False, True])):
        create_fields["position"] = random_position(rng, board, seats)
    return RandomGame(
        rng=rng,
        board=board,
        seats=seats,
        habit=draw(st.sampled_from([*HABITS])),
        illegal_share=draw(st.sampled_from([0, 0.01 if strict else 0.1])),
        leave_share=draw(st.sampled_from([0, 0, 0.01])),
        options=options,
        create_fields=create_fields,
    )


RANDOM_GAMES = {rules: st.composite(draw_game)(rules) for rules in RULESETS}


# -- positions -----------------------------------------------------------------------------


def random_position(rng: Random, board: str | None, seats: int) -> Position:
    """A position from the middle of a random game, when a turn has just begun."""
    play = RandomGame(Random(rng.random()), board, seats, options={"strict": False, "clock_ms": None})
    steps, position = rng.randrange(150), None
    for number in play.steps():
        if position is not None and number >= steps:
            break
        if ACTION in play.state.pending_choices.values():
            position = position_of(play.state)
    assert position is not None
    return position


def position_of(state: GameState) -> Position:
    """The state at the start of a turn as a position, with every field."""
    assert state.turn is not None
    return Position(
        turn=state.turn,
        hands=tuple({str(c): n for c, n in seat_state.own.hand.items() if n} for seat_state in state.seats),
        market=tuple(state.own.market),
        deck=tuple(str(card) for card in reversed(state.own.deck)),
        discard={str(card): n for card, n in state.own.discards.items() if n},
        routes=dict(state.own.route_owners),
        cars=tuple(seat_state.own.cars for seat_state in state.seats),
        tickets=tuple(_given_tickets(state, seat_state.own.tickets) for seat_state in state.seats),
        ticket_decks={name: _given_tickets(state, row[::-1]) for name, row in state.own.ticket_decks.items()},
        stations={
            city: StationGiven(seat, state.seats[seat].own.stations[city])
            for city, seat in state.own.station_owners.items()
        },
        passengers=dict(state.own.passenger_owners),
        tokens=dict(state.own.tokens),
        merchandise=tuple(seat_state.own.merchandise for seat_state in state.seats),
        points=tuple(seat_state.own.points for seat_state in state.seats),
    )


def _given_tickets(state: GameState, row: list[str | None]) -> tuple[TicketGiven, ...]:
    tickets = (state.own.board.tickets[str(name)] for name in row)
    return tuple(TicketGiven((ticket.a, ticket.b), ticket.points) for ticket in tickets)
