"""Given a game, when a seat sends a command, then these events follow: tests that read like the rulebook."""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import fields, is_dataclass, replace
from functools import cache
from typing import Any

from schemas.commands import Command, CommandEnvelope, CreateGame, SeatPlan, StartGame
from schemas.events import CommandRefused, DeckShuffled, Event, TurnStarted
from schemas.field_types import Seat
from schemas.refusals import EVERY_RULE
from schemas.trains.commands import DrawTickets, KeepTickets
from schemas.trains.events import DeckRecreated, TicketsShuffled
from services.referee.games import GameState, decide_and_apply, decide_envelope, evolve, legal
from services.referee.games.state import SEAT_FIELDS, STATE_FIELDS, SeatState
from services.referee.games.trains.appliers import assign_route
from services.referee.games.trains.board import points_for_route
from services.referee.games.trains.train_state import MIX, TrainState
from services.text.sentences import event_sentence

SEED = "5e" * 32
SHUFFLES = (DeckShuffled, DeckRecreated, TicketsShuffled)
CREATED_AT_MS = 1_700_000_000_000
MARKET = ("red", "blue", "green", "yellow", "white")
ATOMS = frozenset((int, str, type(None)))
NEW_YORK, TORONTO = "montreal-new-york-a", "montreal-toronto-a"


class Scene:
    """A game state, and the events of the last command."""

    def __init__(self, state: GameState) -> None:
        self.state, self.now_ms = state, CREATED_AT_MS + state.at_ms
        self.state_before = state.copy()
        self.events: tuple[Event, ...] = ()

    def when(self, seat: Seat | None, *commands: Command) -> Scene:
        """The seat (None: the server) sends these commands, one after the other."""
        for command in commands:
            self.state_before = self.state.copy()
            envelope = CommandEnvelope("test", "scene", seat, command)
            self.events = decide_envelope(self.state, envelope, self.now_ms, SEED)
        return self

    def after_ms(self, passed: int) -> Scene:
        """The next command is sent so much later."""
        self.now_ms += passed
        return self

    def then(self, *events: Event) -> Scene:
        """Exactly these events, in this order."""
        assert self.events == events, f"it should be {events}, but {self.in_words()}"
        return self

    def then_types(self, *kinds: type[Event]) -> Scene:
        """Events of exactly these types, in this order."""
        wanted = ", ".join(kind.__name__ for kind in kinds)
        assert [type(event) for event in self.events] == list(kinds), (
            f"it should be {wanted}, but {self.in_words()}"
        )
        return self

    def exactly(self, count: int) -> tuple[Any, ...]:
        """The events of the last command, which are so many."""
        assert len(self.events) == count, f"{count} events should follow, but {self.in_words()}"
        return self.events

    def in_words(self) -> str:
        """What followed from the last command, in the words of the game, with the sentence of the rule that refused it."""
        sentences = [event_sentence(self.state, event) or type(event).__name__ for event in self.events]
        rules = [EVERY_RULE.get(event.rule, event.rule) for event in self.events_of(CommandRefused)]
        return " ".join(["this happened:", *sentences, *rules]) if sentences else "nothing happened"

    def events_of(self, *kinds: type[Event]) -> tuple[Any, ...]:
        """The events of these types among those of the last command."""
        return tuple(event for event in self.events if isinstance(event, kinds))

    def only(self, *kinds: type[Event]) -> Any:
        """The one event of these types among those of the last command."""
        found = self.events_of(*kinds)
        assert len(found) == 1, (
            f"one {kinds[0].__name__} should follow, not {len(found)}, but {self.in_words()}"
        )
        return found[0]

    def refused(self, rule: str) -> Scene:
        """The command was refused by this rule, with a reason; nothing changed but the refusal count and the time."""
        refusal = self.events[0]
        should = f"{rule} should refuse this ({EVERY_RULE.get(rule)})"
        assert isinstance(refusal, CommandRefused), f"{should}, but {self.in_words()}"
        assert refusal.rule == rule, f"{should}, but {self.in_words()}"
        assert len(self.events) == 1, f"a refusal is all that should follow, but {self.in_words()}"
        assert rule in EVERY_RULE
        assert refusal.why.strip()
        after = full_state(self.state)
        recorded = after.pop("refusal_counts")
        before = {**full_state(self.state_before), "at_ms": self.state.at_ms}
        for seat_state in (*after["seats"], *before["seats"]):
            del seat_state["clock_ms"]
        expected = dict(before.pop("refusal_counts"))
        expected[refusal.seat] = expected.get(refusal.seat, 0) + 1
        assert recorded == expected
        assert after == before
        return self

    def seat_state(self, seat: Seat) -> SeatState:
        return self.state.seats[seat]

    def legal(self, seat: Seat) -> list[Command]:
        return legal(self.state, seat)


def given(
    seats: int = 2,
    *,
    rules: str = "usa",
    board: str | Mapping[str, Any] | None = None,
    hands: Sequence[Mapping[str, int]] = (),
    market: Sequence[str | None] | None = None,
    deck: Sequence[str] | None = None,
    discards: Mapping[str, int] | None = None,
    cars: Sequence[int] = (),
    owners: Mapping[str, Seat] | None = None,
    tickets: Sequence[Iterable[str]] = (),
    ticket_deck: Sequence[str] | None = None,
    ticket_decks: Mapping[str, Sequence[str]] | None = None,
    stations: Mapping[str, tuple[Seat, str | None]] | None = None,
    passengers: Mapping[str, Seat] | None = None,
    tokens: Mapping[str, Sequence[int]] | None = None,
    merchandise: Sequence[int] = (),
    turn: Seat = 0,
    options: Mapping[str, Any] | None = None,
    ages: Sequence[int] = (),
) -> Scene:
    """A started game of any rules. Whatever isn't named is as it was dealt.

    Decks are given top first; hands, tickets, cars and merchandise from seat 0 on; tokens by city (a city
    that isn't named keeps its stack); `ticket_deck` is the deck "regular". Unless they are given, the
    market is MARKET, which isn't flushed, and the discard pile is empty."""
    state = _opened(seats, rules, json.dumps(board), json.dumps(options), tuple(ages)).copy()
    set_market_and_decks(state, market, deck, discards)
    regular = {} if ticket_deck is None else {"regular": ticket_deck}
    for name, row in {**regular, **(ticket_decks or {})}.items():
        state.own.ticket_decks[name] = list(reversed(row))
    evolve(state, TurnStarted(turn))
    set_seat_states(state, hands, cars, tickets, merchandise)
    for route, seat in (owners or {}).items():
        give_route(state, route, seat)
    for city, (seat, neighbour) in (stations or {}).items():
        state.own.station_owners[city] = seat
        state.seats[seat].own.stations[city] = neighbour
    for city, seat in (passengers or {}).items():
        state.own.passenger_owners[city] = seat
        state.seats[seat].own.passengers_left -= 1
    state.own.tokens.update((city, tuple(stack)) for city, stack in (tokens or {}).items())
    return Scene(state)


@cache
def _opened(seats: int, rules: str, board: str, options: str, ages: tuple[int, ...]) -> GameState:
    """A game after its setup, which is the same for every test: board and options as JSON, so that they hash."""
    state = created(seats, json.loads(options), rules=rules, board=json.loads(board), ages=ages).state
    decide_and_apply(state, None, StartGame())
    make_start_choices(state)
    return state


def make_start_choices(state: GameState) -> None:
    """Every seat makes its choices of the setup: it keeps the first offered tickets, as few as it may; a
    mix has the same number of each deck."""
    while state.turn is None:
        seat, choice = next(iter(state.pending_choices.items()))
        if choice == MIX:
            decks = state.rule_options.start_tickets
            command: Command = DrawTickets(dict.fromkeys(decks, state.rule_options.start_named // len(decks)))
        else:
            command = KeepTickets(tuple(range(state.seats[seat].own.min_keep)))
        decide_and_apply(state, seat, command)


def set_market_and_decks(
    state: GameState,
    market: Sequence[str | None] | None,
    deck: Sequence[str] | None,
    discards: Mapping[str, int] | None,
) -> None:
    state.own.market = list(MARKET[: state.rule_options.market] if market is None else market)
    if deck is not None:
        state.own.deck = list(reversed(deck))
    state.own.discards = dict.fromkeys(state.own.discards, 0)
    state.own.discards.update((discards or {}).items())


def set_seat_states(
    state: GameState,
    hands: Sequence[Mapping[str, int]],
    cars: Sequence[int],
    tickets: Sequence[Iterable[str]],
    merchandise: Sequence[int],
) -> None:
    for seat_state, hand in zip(state.seats, hands, strict=False):
        seat_state.own.hand = dict.fromkeys(seat_state.own.hand, 0)
        seat_state.own.hand.update(hand.items())
    for seat_state, count in zip(state.seats, cars, strict=False):
        seat_state.own.cars = count
    for seat_state, names in zip(state.seats, tickets, strict=False):
        seat_state.own.tickets = list(names)
    for seat_state, points in zip(state.seats, merchandise, strict=False):
        seat_state.own.merchandise = points


def give_route(state: GameState, name: str, seat: Seat) -> None:
    """The seat owns the route, as if it had been paid for earlier."""
    if state.rule_options.points_at_once:
        state.seats[seat].own.points += points_for_route(state.rule_options, state.own.board.routes[name])
    assign_route(state, name, seat)


def created(
    seats: int = 2,
    options: Mapping[str, Any] | None = None,
    *,
    rules: str = "usa",
    board: str | Mapping[str, Any] | None = None,
    ages: Sequence[int] = (),
) -> Scene:
    """A game whose seats are taken, before it starts; ages from seat 0 on."""
    aged = [*ages, *(None,) * (seats - len(ages))]
    plans = tuple(SeatPlan("bot", "random", age=age) for age in aged)
    return create_from(CreateGame(plans, rules, board, options=options))


def create_from(command: CreateGame) -> Scene:
    """The game that the command creates."""
    scene = Scene(GameState())
    scene.now_ms = CREATED_AT_MS
    return scene.when(None, command)


def started(
    seats: int = 2,
    options: Mapping[str, Any] | None = None,
    *,
    rules: str = "usa",
    board: str | Mapping[str, Any] | None = None,
    ages: Sequence[int] = (),
) -> Scene:
    """A game just dealt, its seats choosing their starting tickets."""
    return created(seats, options, rules=rules, board=board, ages=ages).when(None, StartGame())


def replay_onto(scene: Scene, state: GameState) -> GameState:
    """Another state that the same events were applied to."""
    for event in scene.events:
        evolve(state, event)
    return state


def without_root(event: Event) -> Event:
    """A root is over salted leaves, so it reveals no card; but each seed gives a different one."""
    return replace(event, root="") if isinstance(event, SHUFFLES) else event


def parts(state: GameState) -> Iterator[tuple[object, Sequence[str]]]:
    """The objects that a state is made of, each with the names of its fields."""
    yield state, [name for name in STATE_FIELDS if name not in {"own", "seats"}]
    yield state.own, own_names(state.own)
    for seat_state in state.seats:
        yield seat_state, [name for name in SEAT_FIELDS if name != "own"]
        yield seat_state.own, own_names(seat_state.own)


def own_names(own: Any) -> Sequence[str]:
    """The fields of a game's own part of a state."""
    if is_dataclass(own):
        return [each.name for each in fields(own)]
    slots: Sequence[str] = own.__mypyc_attrs__ if hasattr(own, "__mypyc_attrs__") else own.__slots__
    return slots  # a compiled class has no `__slots__`


def vars_of(own: object) -> dict[str, Any]:
    return {name: getattr(own, name) for name in own_names(own)}


def owns_of(state: GameState) -> list[Any]:
    """The game's own part of the table, and of each seat."""
    return [state.own, *(seat_state.own for seat_state in state.seats)]


def values_in(value: object) -> Iterator[object]:
    """Every word and number of a value."""
    if isinstance(value, dict):
        value = [*value.items()]
    if isinstance(value, list | tuple):
        for part in value:
            yield from values_in(part)
    elif value is not None:
        yield value


def full_state(state: GameState) -> dict[str, Any]:
    """Every field of a state in comparable values."""
    values = {name: getattr(state, name, None) for name in STATE_FIELDS if name != "own"}
    if state.game:
        values |= {name: getattr(state.own, name) for name in own_names(state.own)}
        if isinstance(state.own, TrainState):
            values["board"] = state.own.board.digest
    values["seats"] = [_seat_fields(seat_state) for seat_state in state.seats]
    values["undo"] = state.undo and (state.undo.seat, full_state(state.undo.before), state.undo.waiting)
    return {name: _copy_value(value) for name, value in values.items()}


def _seat_fields(seat_state: SeatState) -> dict[str, Any]:
    values = {name: getattr(seat_state, name) for name in SEAT_FIELDS if name != "own"}
    values |= {name: getattr(seat_state.own, name) for name in own_names(seat_state.own)}
    return {name: _copy_value(value) for name, value in values.items()}


def _copy_value(value: Any) -> Any:
    if isinstance(value, dict):
        return {key: held if type(held) in ATOMS else _copy_value(held) for key, held in value.items()}
    return value.copy() if isinstance(value, list | set) else value
