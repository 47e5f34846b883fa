"""A player of a known strategy: it decides from what the protocol says, without the rules' help."""

from __future__ import annotations

from typing import Final

from schemas.boards.form import BoardForm
from schemas.errors import InvalidInputError
from services.bots.policies.trains_strategies import (
    BUY_NOW,
    HOLD_10,
    Connection,
    Destination,
    Strategy,
    choose_connection,
    choose_destinations,
)
from services.trains.player_state import PlayerState, parse_connection
from services.trains_server.call_answers import GIVEN_BACK_COUNT, MORE_CARDS
from services.trains_server.server_calls import Setup

STRATEGIES: Final = {"hold-10": HOLD_10, "buy-now": BUY_NOW}


class StrategyPlayer:
    """Plays by a strategy; of a game it keeps the map's connections alone."""

    def __init__(self, strategy: Strategy) -> None:
        self._strategy = strategy
        self._connections: tuple[Connection, ...] = ()

    def begin(self, setup: Setup) -> None:
        """A game begins."""
        self._connections = all_connections(setup.form)

    def give_back(self, offered: list[Destination]) -> list[Destination]:
        """The destinations that it doesn't keep."""
        kept = choose_destinations(self._strategy, offered, len(offered) - GIVEN_BACK_COUNT)
        return [destination for index, destination in enumerate(offered) if index not in kept]

    def act(self, player_state: PlayerState) -> str | list[str | int]:
        """Its turn, as the answer to `play`. Raises InvalidInputError: no game has begun."""
        if not self._connections:
            raise InvalidInputError("play", "comes before any setup with a map")
        own = player_state.this
        taken = {parse_connection(wanted) for row in (own.acquired, *player_state.acquired) for wanted in row}
        possible = (
            each
            for each in self._connections
            if each.length <= own.rails and each.length <= own.cards.get(each.color, 0) and each not in taken  # type: ignore[call-overload]  # the colours of both are the map's
        )
        wanted = choose_connection(self._strategy, sum(own.cards.values()), possible)
        return MORE_CARDS if wanted is None else [wanted.a, wanted.b, wanted.color, wanted.length]


def all_connections(form: BoardForm) -> tuple[Connection, ...]:
    """The connections of a map, in the order of the strategies."""
    names = {city.id: city.name for city in form.cities}
    ends = (sorted(names[city] for city in route.between) for route in form.routes)
    return tuple(
        sorted(
            Connection(a, b, route.length, route.color)
            for (a, b), route in zip(ends, form.routes, strict=True)
        )
    )
