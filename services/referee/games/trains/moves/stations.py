"""Building stations (STATION-1, STATION-2); what they lend is decided at the end (scoring.py)."""

from __future__ import annotations

from collections.abc import Sequence
from functools import lru_cache

from schemas.field_types import Seat
from schemas.refusals import require
from schemas.trains.commands import BuildStation
from schemas.trains.events import StationBuilt
from schemas.trains.field_types import COLORS, LOCOMOTIVE
from services.referee.games.seat_state import SeatState
from services.referee.games.state import EventStream, Move
from services.referee.games.trains.board import GRAY, neighbours
from services.referee.games.trains.moves.payment import (
    WILD_CARDS,
    format_cards,
    gray_ways,
    is_one_colour_payment,
    require_held,
)
from services.referee.games.trains.moves.turns import end_turn
from services.referee.games.trains.train_state import Cards, TrainGame


def build_offers(state: TrainGame, seat: Seat) -> Sequence[BuildStation]:
    """Every city without a station, with every way to pay, and no neighbour named."""
    cost = next_station_cost(state, state.seats[seat])
    if cost is None:
        return ()
    table = state.own
    free_cities = [city for city in table.board.cities if city not in table.station_owners]
    hand = state.seats[seat].own.hand
    held_colours = [(colour, hand[colour]) for colour in COLORS if hand[colour]]
    return [
        station
        for way in gray_ways(held_colours, cost, hand[LOCOMOTIVE])
        for station in _build_commands(tuple(way.cards.items()), tuple(free_cities))
    ]


def build_station(state: TrainGame, seat: Seat, command: BuildStation) -> EventStream:
    """A station in a city, and the neighbour named for it. Refuses with STATION-*, or ROUTE-3 for cards not held."""
    seat_state, city, cards = state.seats[seat], command.city, command.cards
    table = state.own
    require(city in table.board.cities, "STATION-1", f"there is no city {city}")
    owner = table.station_owners.get(city)
    require(owner is None, "STATION-1", f"seat {owner} has a station in {city}")
    cost = next_station_cost(state, seat_state)
    require(
        cost is not None, "STATION-1", f"you have built all {len(seat_state.own.stations)} of your stations"
    )
    require_station_payment(cards, cost or 0)
    require_held(seat_state, cards)
    if command.neighbour is not None:
        is_neighbour = command.neighbour in neighbours(table.board, city)
        require(is_neighbour, "STATION-3", f"no route joins {city} to {command.neighbour}")
    yield StationBuilt(seat, city, cards, command.neighbour)
    yield from end_turn(state, seat)


def next_station_cost(state: TrainGame, seat_state: SeatState) -> int | None:
    """Count the cards that the seat's next station costs; None if it has built all."""
    costs, built_count = state.rule_options.station_costs, len(seat_state.own.stations)
    return costs[built_count] if built_count < len(costs) else None


def require_station_payment(cards: Cards, cost: int) -> None:
    """Refuses with STATION-2 unless the cards are `cost` of one colour, locomotives wild."""
    is_paid = is_one_colour_payment(cards, cost, GRAY, WILD_CARDS)
    require(
        is_paid,
        "STATION-2",
        f"{format_cards(cards)} doesn't pay: it takes {cost} of one colour, locomotives wild",
    )


@lru_cache(maxsize=1000)
def _build_commands(
    card_counts: tuple[tuple[str, int], ...], cities: tuple[str, ...]
) -> Sequence[BuildStation]:
    cards = dict(card_counts)
    return tuple(BuildStation(city, cards) for city in cities)


BUILD_STATION = Move(BuildStation, build_offers, build_station, is_optional=True)
