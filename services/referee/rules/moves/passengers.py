"""Passengers: placed with a claim, then sent to collect merchandise (PASSENGER-*)."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from functools import lru_cache

from schemas.commands import ClaimRoute, MovePassenger
from schemas.events import PassengerMoved
from schemas.field_types import PASSENGER, Seat
from schemas.refusals import Refused, require
from services.referee.rules.board import Board, Route
from services.referee.rules.moves.turns import end_turn
from services.referee.rules.ruleset import Facts, Move
from services.referee.rules.search.passenger_journeys import Journey, Way, best_journeys
from services.referee.rules.table import Table


def placing_offers(table: Table, seat: Seat, claims: Iterable[ClaimRoute]) -> Sequence[ClaimRoute]:
    """These claims with a passenger in either city that can take one."""
    if not table.places[seat].passengers:
        return ()
    offers = []
    for claim in claims:
        route = table.board.routes[claim.route]
        for city in (route.a, route.b):
            if city not in table.passengers and city not in table.board.countries:
                offers.append(ClaimRoute(claim.route, claim.cards, city))
    return offers


def require_placeable(table: Table, seat: Seat, route: Route, city: str) -> None:
    """The seat may put a passenger down there with this claim (PASSENGER-1)."""
    require(table.places[seat].passengers, "PASSENGER-1", "you have no passenger left to place")
    require(city in (route.a, route.b), "PASSENGER-1", f"{city} isn't a city of {route.id}")
    require(city not in table.board.countries, "PASSENGER-1", f"{city} is a country")
    require(city not in table.passengers, "PASSENGER-1", f"a passenger stands in {city} already")


def move_offers(table: Table, seat: Seat) -> Sequence[MovePassenger]:
    """For each of the seat's passengers the best journey for every number of passenger cards
    that brings more than a smaller one: a few moves, out of very many that are legal."""
    standing = [city for city, owner in table.passengers.items() if owner == seat]
    if not standing:
        return ()
    ways = ways_of(table.board)
    claimed = [ways[name][owner != seat] for name, owner in table.owners.items() if name in ways]
    cards = max(0, table.places[seat].hand.get(PASSENGER, 0))
    return [
        MovePassenger(city, journey.path)
        for city in standing
        for journey in journeys_from(city, claimed, table.tokens, cards)
    ]


@lru_cache(maxsize=64)
def ways_of(board: Board) -> Mapping[str, tuple[Way, Way]]:
    """By route, what it is to its owner and what to another seat; not those into countries."""
    return {
        route.id: (Way(route.id, route.a, route.b, 0), Way(route.id, route.a, route.b, 1))
        for route in board.routes.values()
        if board.countries.isdisjoint((route.a, route.b))
    }


def journeys_from(
    city: str, ways: Sequence[Way], tokens: Mapping[str, Sequence[int]], cards: int
) -> Sequence[Journey]:
    """The best journeys from this city. They are kept: what can't be reached plays no part in
    them, so most turns ask again what an earlier one asked."""
    near = tuple(within_reach(city, ways, cards))
    tops = tuple(stack[0] if (stack := tokens.get(end)) else 0 for end in _ends(near))
    return _journeys(city, near, tops, min(cards, sum(way.toll for way in near)))


def within_reach(city: str, ways: Sequence[Way], cards: int) -> list[Way]:
    """The ways that a journey from this city can take if it pays so many cards at most."""
    onward: dict[str, list[Way]] = defaultdict(list)
    for way in ways:
        onward[way.a].append(way)
        onward[way.b].append(way)
    paid, waiting = {city: 0}, [city]  # the fewest cards that are known to lead to a city
    for here in waiting:
        for _, a, b, toll in onward[here]:
            there, price = (b if here == a else a), paid[here] + toll
            if price < paid.get(there, cards + 1):
                paid[there] = price
                waiting.append(there)
    out = cards + 1
    return [way for way in ways if min(paid.get(way.a, out), paid.get(way.b, out)) + way.toll <= cards]


@lru_cache(maxsize=10_000)  # of 1.4 kB or so
def _journeys(city: str, ways: tuple[Way, ...], tops: tuple[int, ...], cards: int) -> Sequence[Journey]:
    return best_journeys(city, ways, dict(zip(_ends(ways), tops, strict=True)), cards)


def _ends(ways: Iterable[Way]) -> Iterable[str]:
    """The cities that these ways lead to, each once."""
    return dict.fromkeys(end for way in ways for end in (way.a, way.b))


def move_passenger(table: Table, seat: Seat, command: MovePassenger) -> Facts:
    start, path = command.city, command.path
    require(path, "PASSENGER-2", "a move goes along one route at least")
    stands = table.passengers.get(start) == seat
    require(stands, "PASSENGER-2", f"no passenger of yours stands in {start}")
    entered = cities_entered(table, start, path)
    tolls = sum(table.owners[name] != seat for name in path)
    held = table.places[seat].hand.get(PASSENGER, 0)
    why = f"{tolls} routes of others on the way, and you hold {held} passenger cards"
    require(tolls <= held, "PASSENGER-2", why)
    taken = tuple(city for city in dict.fromkeys(entered) if city != start and table.tokens.get(city))
    points = sum(table.tokens[city][0] for city in taken)
    yield PassengerMoved(seat, start, path, tolls, taken, points)
    yield from end_turn(table, seat)


def collected(table: Table, command: MovePassenger) -> int:
    """What a move that is legal brings."""
    start = command.city
    cities = {city for city in cities_entered(table, start, command.path) if city != start}
    return sum(sum(table.tokens.get(city, ())[:1]) for city in cities)


def cities_entered(table: Table, start: str, path: Sequence[str]) -> list[str]:
    """The cities along a path of claimed routes, each used once. Raises Refused (PASSENGER-2)."""
    entered, here = [], start
    require(len(set(path)) == len(path), "PASSENGER-2", "a route is used once in a move at most")
    for name in path:
        route = table.board.routes.get(name)
        if route is None:
            raise Refused("PASSENGER-2", f"there is no route {name}")
        require(name in table.owners, "PASSENGER-2", f"nobody has claimed {name}")
        require(here in (route.a, route.b), "PASSENGER-2", f"{name} doesn't start in {here}")
        here = route.b if here == route.a else route.a
        require(here not in table.board.countries, "PASSENGER-2", f"{here} is a country")
        entered.append(here)
    return entered


MOVE_PASSENGER = Move(MovePassenger, move_offers, move_passenger)
