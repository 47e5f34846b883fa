"""Given a table, when a seat commands, then this comes of it: tests that read like the rulebook."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from typing import Any

from schemas.commands import (
    Command,
    CommandEnvelope,
    CreateGame,
    DrawTickets,
    KeepTickets,
    SeatPlan,
    StartGame,
)
from schemas.events import CommandRefused, DeckShuffled, Event, TicketsShuffled, TurnStarted
from schemas.field_types import Seat
from schemas.refusals import ALL_RULES
from services.referee.rules import GameState, decide_and_apply, decide_envelope, evolve, legal
from services.referee.rules.appliers.playing import assign_route
from services.referee.rules.board import points_for_route
from services.referee.rules.seat_state import SeatState
from services.referee.rules.state import MIX

SEED = "5e" * 32
CREATED = 1_700_000_000_000
MARKET = ("red", "blue", "green", "yellow", "white")
NEW_YORK, TORONTO = "montreal-new-york-a", "montreal-toronto-a"


class Scene:
    """A table, and what came of the last command."""

    def __init__(self, table: GameState) -> None:
        self.table, self.now = table, CREATED + table.at_ms
        self.before = everything(table)
        self.events: tuple[Event, ...] = ()

    def when(self, seat: Seat | None, *commands: Command) -> Scene:
        """The seat (None is the house) says these, one after the other."""
        for command in commands:
            self.before = everything(self.table)
            letter = CommandEnvelope("test", "scene", seat, command)
            self.events = decide_envelope(self.table, letter, self.now, SEED)
        return self

    def after_ms(self, passed: int) -> Scene:
        """The next command comes so much later."""
        self.now += passed
        return self

    def then(self, *events: Event) -> Scene:
        """Exactly these facts, in this order."""
        assert self.events == events
        return self

    def then_came(self, *kinds: type[Event]) -> Scene:
        """Facts of exactly these kinds, in this order."""
        assert [type(event) for event in self.events] == list(kinds)
        return self

    def told(self, *kinds: type[Event]) -> tuple[Any, ...]:
        """The facts of these kinds among what came."""
        return tuple(event for event in self.events if isinstance(event, kinds))

    def refused(self, rule: str) -> Scene:
        """The rule said no, in words; nothing changed but that this is recorded, and the time."""
        (no,) = self.events
        assert isinstance(no, CommandRefused), no
        assert no.rule == rule, no
        assert rule in ALL_RULES
        assert no.why.strip()
        after = everything(self.table)
        recorded = after.pop("refusal_counts")
        told = {**self.before, "at_ms": self.table.at_ms}
        for place in (*after["seats"], *told["seats"]):
            del place["clock_ms"]
        expected = dict(told.pop("refusal_counts"))
        expected[no.seat] = expected.get(no.seat, 0) + 1
        assert recorded == expected
        assert after == told
        return self

    def place(self, seat: Seat) -> SeatState:
        return self.table.seats[seat]

    def legal(self, seat: Seat) -> list[Command]:
        return legal(self.table, seat)


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
    """A game of any rules that has started, everything else than what is named being as dealt.

    Decks are given top first; hands, tickets, cars and merchandise from seat 0 on; tokens
    by city, what isn't named keeps its stack; `ticket_deck` is the deck "regular". The
    market lies quiet and the discard pile is empty unless they are given."""
    table = created(seats, options, rules=rules, board=board, ages=ages).table
    decide_and_apply(table, None, StartGame())
    choose_at_first(table)
    lay_market_and_decks(table, market, deck, discards)
    regular = {} if ticket_deck is None else {"regular": ticket_deck}
    for name, row in {**regular, **(ticket_decks or {})}.items():
        table.ticket_decks[name] = list(reversed(row))
    evolve(table, TurnStarted(turn))
    lay_places(table, hands, cars, tickets, merchandise)
    for route, seat in (owners or {}).items():
        own(table, route, seat)
    for city, (seat, neighbour) in (stations or {}).items():
        table.station_owners[city] = seat
        table.seats[seat].stations[city] = neighbour
    for city, seat in (passengers or {}).items():
        table.passenger_owners[city] = seat
        table.seats[seat].passengers_left -= 1
    table.tokens.update((city, tuple(stack)) for city, stack in (tokens or {}).items())
    return Scene(table)


def choose_at_first(table: GameState) -> None:
    """Every seat makes its choices of the setup in the plainest way, the first offered tickets
    being kept; a mix is two of each deck."""
    while table.turn is None:
        seat, choice = next(iter(table.pending_choices.items()))
        if choice == MIX:
            decks = table.rule_options.start_tickets
            command: Command = DrawTickets(dict.fromkeys(decks, table.rule_options.start_named // len(decks)))
        else:
            command = KeepTickets(tuple(range(table.seats[seat].min_keep)))
        decide_and_apply(table, seat, command)


def lay_market_and_decks(
    table: GameState,
    market: Sequence[str | None] | None,
    deck: Sequence[str] | None,
    discards: Mapping[str, int] | None,
) -> None:
    table.market = list(MARKET[: table.rule_options.market] if market is None else market)
    if deck is not None:
        table.deck = list(reversed(deck))
    table.discards = dict.fromkeys(table.discards, 0)
    table.discards.update((discards or {}).items())


def lay_places(
    table: GameState,
    hands: Sequence[Mapping[str, int]],
    cars: Sequence[int],
    tickets: Sequence[Iterable[str]],
    merchandise: Sequence[int],
) -> None:
    for place, hand in zip(table.seats, hands, strict=False):
        place.hand = dict.fromkeys(place.hand, 0)
        place.hand.update(hand.items())
    for place, count in zip(table.seats, cars, strict=False):
        place.cars = count
    for place, names in zip(table.seats, tickets, strict=False):
        place.tickets = list(names)
    for place, points in zip(table.seats, merchandise, strict=False):
        place.merchandise = points


def own(table: GameState, name: str, seat: Seat) -> None:
    """The route is the seat's, who paid for it long ago."""
    if table.rule_options.points_at_once:
        table.seats[seat].points += points_for_route(table.rule_options, table.board.routes[name])
    assign_route(table, name, seat)


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
    return asked_for(CreateGame(plans, rules, board, options=options))


def asked_for(command: CreateGame) -> Scene:
    """What comes of the wish for a game."""
    scene = Scene(GameState())
    scene.now = CREATED
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


def replayed(scene: Scene, table: GameState) -> GameState:
    """Another table that the same facts were told to."""
    for event in scene.events:
        evolve(table, event)
    return table


def rootless(event: Event) -> Event:
    """A root is of salted cards, so it tells nothing of them; but another seed gives another one."""
    return replace(event, root=None) if isinstance(event, DeckShuffled | TicketsShuffled) else event


def everything(table: GameState) -> dict[str, Any]:
    """All there is on a table, to be compared with another."""
    told = {name: getattr(table, name, None) for name in GameState.__slots__}
    told["board"] = table.board.digest if table.game else None
    told["seats"] = [_laid(place) for place in table.seats]
    for name, held in told.items():
        told[name] = _copied(held)
    told["open_routes"] = {fare: list(routes) for fare, routes in table.open_routes.items()}
    return told


def _laid(place: SeatState) -> dict[str, Any]:
    return {name: _copied(getattr(place, name)) for name in SeatState.__slots__}


def _copied(held: Any) -> Any:
    if isinstance(held, dict):
        return {key: _copied(value) for key, value in held.items()}
    return held.copy() if isinstance(held, list | set) else held
