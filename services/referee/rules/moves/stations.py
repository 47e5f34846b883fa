"""Building stations (STATION-1, STATION-2); what they lend is counted at the end."""

from __future__ import annotations

from collections.abc import Sequence
from functools import lru_cache

from schemas.commands import BuildStation
from schemas.events import StationBuilt
from schemas.field_types import Seat
from schemas.refusals import require
from services.referee.rules.board import GRAY, neighbours
from services.referee.rules.moves.payment import WILD, fits, gray_ways, require_held, spelled
from services.referee.rules.moves.turns import end_turn
from services.referee.rules.ruleset import Cards, Facts, Move
from services.referee.rules.table import Place, Table


def build_offers(table: Table, seat: Seat) -> Sequence[BuildStation]:
    """Every city without a station, every way to pay; the neighbour is left to the end."""
    cost = next_cost(table, table.places[seat])
    if cost is None:
        return ()
    free = [city for city in table.board.cities if city not in table.stations]
    return [
        station
        for way in gray_ways(table.places[seat].hand, cost)
        for station in _stations(tuple(way.cards.items()), tuple(free))
    ]


def build_station(table: Table, seat: Seat, command: BuildStation) -> Facts:
    place, city, cards = table.places[seat], command.city, command.cards
    require(city in table.board.cities, "STATION-1", f"there is no city {city}")
    holder = table.stations.get(city)
    require(holder is None, "STATION-1", f"seat {holder} has a station in {city}")
    cost = next_cost(table, place)
    require(cost is not None, "STATION-1", f"you have built all {len(place.stations)} of your stations")
    require_one_colour(cards, cost or 0)
    require_held(place, cards)
    if command.neighbour is not None:
        known = command.neighbour in neighbours(table.board, city)
        require(known, "STATION-3", f"no route joins {city} to {command.neighbour}")
    yield StationBuilt(seat, city, cards, command.neighbour)
    yield from end_turn(table, seat)


def next_cost(table: Table, place: Place) -> int | None:
    """How many cards the seat's next station takes; None if it has built all."""
    costs, built = table.figures.station_costs, len(place.stations)
    return costs[built] if built < len(costs) else None


def require_one_colour(cards: Cards, cost: int) -> None:
    right = fits(cards, cost, GRAY, WILD)
    require(
        right, "STATION-2", f"{spelled(cards)} doesn't pay: it takes {cost} of one colour, locomotives wild"
    )


@lru_cache(maxsize=1000)
def _stations(paid: tuple[tuple[str, int], ...], cities: tuple[str, ...]) -> Sequence[BuildStation]:
    cards = dict(paid)
    return tuple(BuildStation(city, cards) for city in cities)


BUILD_STATION = Move(BuildStation, build_offers, build_station)
