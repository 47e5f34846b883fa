"""Commands of every kind, most of them illegal, and legal ones that no policy chooses."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from random import Random
from typing import TypeVar

from schemas.commands import Command, Pass, StartGame, TakeSeat
from schemas.field_types import Seat
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
from schemas.trains.field_types import CARDS
from services.referee.games import GameState
from services.referee.games.trains.train_state import TrainState
from tests.rules.random_commands import mixed_offers

T = TypeVar("T")


def any_command(rng: Random, state: GameState, seat: Seat) -> Command:
    """A well-formed command of any kind that ignores the rules."""
    if not isinstance(state.own, TrainState):
        return rng.choice([*mixed_offers(rng, state), StartGame(), TakeSeat("Nobody")])
    board = state.own.board
    cities, routes = list(board.cities), list(board.routes)
    route = board.routes[rng.choice(routes)]
    return rng.choice(
        (
            DrawBlind(),
            DrawMarket(rng.randrange(10)),
            DrawMarket(color=rng.choice(CARDS)),
            DrawTickets(),
            DrawTickets({deck: rng.randrange(5) for deck in (*state.own.ticket_decks, "none")}),
            KeepTickets(tuple(rng.choices(range(4), k=rng.randrange(4)))),
            ClaimRoute(route.id, _cards(rng, state, seat, route.length)),
            ClaimRoute(route.id, _cards(rng, state, seat, route.length), rng.choice((route.a, route.b))),
            PayTunnel(_cards(rng, state, seat, 1)),
            DeclineTunnel(),
            BuildStation(rng.choice(cities), _cards(rng, state, seat, 1), rng.choice((None, *cities))),
            MovePassenger(
                rng.choice([*state.own.passenger_owners, *cities[:2]]), tuple(rng.sample(routes, 2))
            ),
            RequestCards(),
            Pass(),
            StartGame(),
            TakeSeat("Nobody"),
        )
    )


def respelled(rng: Random, state: GameState, command: Command) -> Command:
    """The same command in another form: a card by its kind, a station with its neighbour."""
    match command:
        case DrawMarket(slot=int(slot)) if rng.random() < 0.3:
            return DrawMarket(color=state.own.market[slot])
        case BuildStation(city=city) if rng.random() < 0.6:
            routes = [route for route in state.own.board.routes.values() if city in (route.a, route.b)]
            route = _any(rng, [r for r in routes if r.id in state.own.route_owners]) or rng.choice(routes)
            return replace(command, neighbour=route.b if city == route.a else route.a)
    return command


def _cards(rng: Random, state: GameState, seat: Seat, count: int) -> dict[str, int]:
    """About so many cards, of a kind that the seat usually holds."""
    held = [card for card, number in state.seats[seat].own.hand.items() if card and number]
    return {_any(rng, held) or "red": max(1, count + rng.choice((-1, 0, 0, 0, 1)))}


def _any(rng: Random, choices: Sequence[T]) -> T | None:
    return rng.choice(choices) if choices else None
