"""Given a table, when a seat commands, then this comes of it: tests that read like the rulebook."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from schemas.commands import Command, CreateGame, KeepTickets, Letter, SeatPlan, StartGame
from schemas.events import CommandRefused, Event
from schemas.refusals import ALL
from schemas.words import Seat
from services.referee.rules import Table, advance, evolve, judge, legal
from services.referee.rules.table import Place

SEED = "5e" * 32
CREATED = 1_700_000_000_000
MARKET = ("red", "blue", "green", "yellow", "white")
NEW_YORK, TORONTO = "montreal-new-york-a", "montreal-toronto-a"


class Scene:
    """A table, and what came of the last command."""

    def __init__(self, table: Table) -> None:
        self.table, self.now = table, CREATED + table.at
        self.before = everything(table)
        self.events: tuple[Event, ...] = ()

    def when(self, seat: Seat | None, *commands: Command) -> Scene:
        """The seat (None is the house) says these, one after the other."""
        for command in commands:
            self.before = everything(self.table)
            letter = Letter("test", "scene", seat, command)
            self.events = judge(self.table, letter, self.now, SEED)
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
        assert rule in ALL
        assert no.why.strip()
        after = everything(self.table)
        recorded = after.pop("refusals")
        told = {**self.before, "at": self.table.at}
        for place in (*after["places"], *told["places"]):
            del place["clock_ms"]
        expected = dict(told.pop("refusals"))
        expected[no.seat] = expected.get(no.seat, 0) + 1
        assert recorded == expected
        assert after == told
        return self

    def place(self, seat: Seat) -> Place:
        return self.table.places[seat]

    def legal(self, seat: Seat) -> list[Command]:
        return legal(self.table, seat)


def given(
    seats: int = 2,
    *,
    hands: Sequence[Mapping[str, int]] = (),
    market: Sequence[str | None] = MARKET,
    deck: Sequence[str] | None = None,
    discards: Mapping[str, int] | None = None,
    cars: Sequence[int] = (),
    owners: Mapping[str, Seat] | None = None,
    tickets: Sequence[Iterable[str]] = (),
    ticket_deck: Sequence[str] | None = None,
    turn: Seat = 0,
    options: Mapping[str, Any] | None = None,
) -> Scene:
    """A game that has started, everything else than what is named being as dealt.

    Decks are given top first; hands and tickets from seat 0 on. The market lies quiet
    and the discard pile is empty unless they are given."""
    table = created(seats, options).table
    advance(table, None, StartGame())
    for seat in range(seats):
        advance(table, seat, KeepTickets((0, 1)))
    table.market, table.turn, table.awaits = list(market), turn, {turn: "action"}
    if deck is not None:
        table.deck = list(reversed(deck))
    table.discards = dict.fromkeys(table.discards, 0)
    table.discards.update((discards or {}).items())
    if ticket_deck is not None:
        table.ticket_decks["regular"] = list(reversed(ticket_deck))
    for place, hand in zip(table.places, hands, strict=False):
        place.hand = dict.fromkeys(place.hand, 0)
        place.hand.update(hand.items())
    for place, count in zip(table.places, cars, strict=False):
        place.cars = count
    for place, names in zip(table.places, tickets, strict=False):
        place.tickets = list(names)
    for route, seat in (owners or {}).items():
        own(table, route, seat)
    return Scene(table)


def own(table: Table, name: str, seat: Seat) -> None:
    """The route is the seat's, who paid for it long ago."""
    place, route = table.places[seat], table.board.routes[name]
    place.routes.append(name)
    place.points += table.figures.route_points[route.length - 1] or 0
    place.barred.update(route.twins)
    table.owners[name] = seat
    closed = (name, *route.twins) if table.closing else (name,)
    for closing in closed:
        table.open[table.board.routes[closing].fare].pop(closing, None)


def created(seats: int = 2, options: Mapping[str, Any] | None = None) -> Scene:
    """A game whose seats are taken, before it starts."""
    return asked_for(CreateGame(tuple(SeatPlan("bot", "random") for _ in range(seats)), options=options))


def asked_for(command: CreateGame) -> Scene:
    """What comes of the wish for a game."""
    scene = Scene(Table())
    scene.now = CREATED
    return scene.when(None, command)


def started(seats: int = 2, options: Mapping[str, Any] | None = None) -> Scene:
    """A game just dealt, all seats choosing their starting tickets."""
    return created(seats, options).when(None, StartGame())


def replayed(scene: Scene, table: Table) -> Table:
    """Another table that the same facts were told to."""
    for event in scene.events:
        evolve(table, event)
    return table


def everything(table: Table) -> dict[str, Any]:
    """All there is on a table, to be compared with another."""
    told = {name: getattr(table, name, None) for name in Table.__slots__}
    told["board"] = table.board.digest if table.game else None
    told["places"] = [_laid(place) for place in table.places]
    for name, held in told.items():
        told[name] = _copied(held)
    told["open"] = {fare: list(routes) for fare, routes in table.open.items()}
    return told


def _laid(place: Place) -> dict[str, Any]:
    return {name: _copied(getattr(place, name)) for name in Place.__slots__}


def _copied(held: Any) -> Any:
    if isinstance(held, dict):
        return {key: _copied(value) for key, value in held.items()}
    return held.copy() if isinstance(held, list | set) else held
