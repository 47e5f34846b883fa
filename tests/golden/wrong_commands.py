"""Commands of every kind, most of them wrong; and right ones that no policy thinks of."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from random import Random
from typing import TypeVar

from schemas.commands import (
    BuildStation,
    ClaimRoute,
    Command,
    DeclineTunnel,
    DrawBlind,
    DrawMarket,
    DrawTickets,
    KeepTickets,
    MovePassenger,
    Pass,
    PayTunnel,
    RequestCards,
    StartGame,
    TakeSeat,
)  # fmt: skip
from schemas.field_types import CARDS, Seat
from services.referee.rules import GameState

T = TypeVar("T")


def anything(rng: Random, table: GameState, seat: Seat) -> Command:
    """A command as somebody sends it who knows the words and not the rules."""
    board = table.board
    cities, routes = list(board.cities), list(board.routes)
    route = board.routes[rng.choice(routes)]
    return rng.choice(
        (
            DrawBlind(),
            DrawMarket(rng.randrange(10)),
            DrawMarket(color=rng.choice(CARDS)),
            DrawTickets(),
            DrawTickets({deck: rng.randrange(5) for deck in (*table.ticket_decks, "none")}),
            KeepTickets(tuple(rng.choices(range(4), k=rng.randrange(4)))),
            ClaimRoute(route.id, _cards(rng, table, seat, route.length)),
            ClaimRoute(route.id, _cards(rng, table, seat, route.length), rng.choice((route.a, route.b))),
            PayTunnel(_cards(rng, table, seat, 1)),
            DeclineTunnel(),
            BuildStation(rng.choice(cities), _cards(rng, table, seat, 1), rng.choice((None, *cities))),
            MovePassenger(rng.choice([*table.passenger_owners, *cities[:2]]), tuple(rng.sample(routes, 2))),
            RequestCards(),
            Pass(),
            StartGame(),
            TakeSeat("Nobody"),
        )
    )


def otherwise(rng: Random, table: GameState, command: Command) -> Command:
    """The same command as others would spell it: a card by its kind, a station with its neighbour."""
    match command:
        case DrawMarket(slot=int(slot)) if rng.random() < 0.3:
            return DrawMarket(color=table.market[slot])
        case BuildStation(city=city) if rng.random() < 0.6:
            routes = [route for route in table.board.routes.values() if city in (route.a, route.b)]
            route = _any(rng, [r for r in routes if r.id in table.route_owners]) or rng.choice(routes)
            return replace(command, neighbour=route.b if city == route.a else route.a)
    return command


def _cards(rng: Random, table: GameState, seat: Seat, count: int) -> dict[str, int]:
    """So many cards, more or less, of a kind that the seat holds, more or less."""
    held = [card for card, number in table.seats[seat].hand.items() if card and number]
    return {_any(rng, held) or "red": max(1, count + rng.choice((-1, 0, 0, 0, 1)))}


def _any(rng: Random, choices: Sequence[T]) -> T | None:
    return rng.choice(choices) if choices else None
