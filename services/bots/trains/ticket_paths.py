"""The shortest paths of a seat's tickets, over its own routes and those that it can still claim."""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Mapping, Sequence, Set
from functools import lru_cache
from heapq import heappop, heappush
from itertools import chain, compress
from operator import is_not
from typing import Final, NamedTuple

from schemas.field_types import Seat
from services.referee.games.trains.board import Board, Ticket
from services.referee.games.trains.train_state import OpenRoutes, TrainGame

UNREACHABLE: Final = 1_000_000  # the length where there is no path
MAX_KNOWN_PATHS: Final = 1_024  # about one for each seat that a worker serves at once; 2 KiB each


class TicketPath(NamedTuple):
    """The fewest cars that would join a ticket's cities, and the free routes to claim, the last first."""

    cars: int
    routes: Sequence[str]


class KnownPaths(NamedTuple):
    """The paths of a seat's tickets, with all their routes, and the open routes by fare over which they were found."""

    open_routes: Sequence[tuple[str, ...]]
    paths: list[TicketPath]
    needed: frozenset[str]
    needed_by_fare: OpenRoutes  # in the order of a list of claims
    longest_needed: Mapping[str, int]  # by colour

    def holds_over(self, open_routes: Sequence[tuple[str, ...]]) -> bool:
        """Whether a search over these routes would find the same paths: none was added, and no path has lost one."""
        if self.open_routes == open_routes:
            return True
        pairs = zip(self.open_routes, open_routes, strict=True)
        for before, now in compress(pairs, map(is_not, self.open_routes, open_routes)):
            if before == now:
                continue
            if not {*before}.issuperset(now) or not self.needed.isdisjoint({*before}.difference(now)):
                return False
        return True


NO_PATH: Final = TicketPath(UNREACHABLE, ())
_known_paths: Final[OrderedDict[tuple[object, ...], KnownPaths]] = OrderedDict()


def ticket_paths(state: TrainGame, seat: Seat) -> KnownPaths:
    """The shortest path of each of the seat's tickets that its cars suffice for, else NO_PATH. The last ones are kept: most
    turns of others change nothing in them, and a ticket that its own routes have made stays so."""
    seat_state = state.seats[seat].own
    table = state.own
    tickets, routes, cars = tuple(seat_state.tickets), tuple(seat_state.routes), seat_state.cars
    game = table.board.digest, state.rule_options.parallel_owned, tickets
    key, open_routes = (*game, cars, routes), [*table.open_routes.values()]
    known = _known_paths.pop(key, None)
    if known is not None and known.holds_over(open_routes):
        known = KnownPaths(open_routes, *known[1:])
    else:
        before = known
        if known is None and routes:
            cars_before = cars + table.board.routes[routes[-1]].length
            before = _known_paths.pop((*game, cars_before, routes[:-1]), None)
        known = _find_paths(state, seat, open_routes, before)
    _known_paths[key] = known
    if len(_known_paths) > MAX_KNOWN_PATHS:
        _known_paths.popitem(last=False)
    return known


def _find_paths(
    state: TrainGame, seat: Seat, open_routes: Sequence[tuple[str, ...]], before: KnownPaths | None
) -> KnownPaths:
    """Search for those that weren't made by the seat's own routes `before`."""
    board, seat_state = state.own.board, state.seats[seat].own
    tickets = [board.tickets[str(name)] for name in seat_state.tickets]
    paths_before = [NO_PATH] * len(tickets) if before is None else before.paths
    missing = [ticket for ticket, path in zip(tickets, paths_before, strict=True) if path.cars]
    found = iter(shortest_paths(state, seat, missing, seat_state.cars) if missing else ())
    paths = [next(found) if path.cars else path for path in paths_before]
    needed = frozenset(chain.from_iterable(path.routes for path in paths))
    by_fare: OpenRoutes = {}
    longest = dict[str, int]()
    for name in sorted(needed, key=_roads_of(board).routes.__getitem__):  # shortest first
        route = board.routes[name]
        by_fare[route.fare] = (*by_fare.get(route.fare, ()), name)
        longest[route.color] = route.length
    return KnownPaths(open_routes, paths, needed, by_fare, longest)


def shortest_paths(
    state: TrainGame, seat: Seat, tickets: Sequence[Ticket], most_cars: int = UNREACHABLE - 1
) -> list[TicketPath]:
    """The shortest path of each of these tickets for this seat; NO_PATH if it takes more cars."""
    roads = _roads_of(state.own.board)
    spaces = _spaces_for(state, seat, roads)
    ends: dict[int, set[int]] = {}
    for ticket in tickets:
        ends.setdefault(roads.cities[ticket.a], set()).add(roads.cities[ticket.b])
    paths = {start: _paths_from(start, ends[start], roads, spaces, most_cars) for start in ends}
    return [paths[roads.cities[ticket.a]].get(roads.cities[ticket.b], NO_PATH) for ticket in tickets]


class Roads(NamedTuple):
    """A board by numbers: cities in the order of their ids, routes in the order of their fares."""

    cities: Mapping[str, int]
    routes: Mapping[str, int]
    names: Sequence[str]  # of the routes
    exits: list[list[tuple[int, int]]]  # by city the other end of each route, and the route
    countries: Set[int]


@lru_cache(maxsize=64)
def _roads_of(board: Board) -> Roads:
    """Of two parallels of one length the first, of the lower fare, is taken: it is the first exit."""
    cities = {city: number for number, city in enumerate(sorted(board.cities))}
    names = [*chain.from_iterable(board.fares.values())]
    exits: list[list[tuple[int, int]]] = [[] for _ in cities]
    for number, name in enumerate(names):
        a, b = cities[board.routes[name].a], cities[board.routes[name].b]
        exits[a].append((b, number))
        exits[b].append((a, number))
    return Roads(
        cities,
        {name: number for number, name in enumerate(names)},
        names,
        exits,
        {cities[country] for country in board.countries},
    )


def _spaces_for(state: TrainGame, seat: Seat, roads: Roads) -> list[int]:
    """By route the cars that it takes: none of the seat's own, UNREACHABLE where it can't be claimed any more."""
    seat_state, numbers = state.seats[seat].own, roads.routes
    spaces = [UNREACHABLE] * len(roads.names)
    for (length, _, _), names in state.own.open_routes.items():
        for name in names:
            spaces[numbers[name]] = length
    for name in seat_state.blocked_parallels:
        spaces[numbers[name]] = UNREACHABLE
    for name in seat_state.routes:
        spaces[numbers[name]] = 0
    return spaces


def _paths_from(
    start: int, ends: Set[int], roads: Roads, spaces: list[int], most_cars: int
) -> dict[int, TicketPath]:
    """The shortest paths from a city to those of these cities that can be reached with so many cars."""
    exits, countries, size, remaining = roads.exits, roads.countries, len(roads.exits), {*ends}
    paths: dict[int, TicketPath] = {}
    best = [most_cars + 1] * size
    best[start] = 0
    cities_before, routes_before = [start] * size, [0] * size
    frontier = [start]  # a length and a city as one number
    while frontier and remaining:
        step = heappop(frontier)
        length, city = step // size, step % size
        if length > best[city]:
            continue
        if city in remaining:
            remaining.remove(city)
            routes, back = list[str](), city
            while back != start:
                if spaces[routes_before[back]]:
                    routes.append(roads.names[routes_before[back]])
                back = cities_before[back]
            paths[city] = TicketPath(length, routes)
        if city in countries and city != start:
            continue  # a country is an end only
        for other, route in exits[city]:
            total = length + spaces[route]
            if total < best[other]:
                best[other] = total
                cities_before[other], routes_before[other] = city, route
                heappush(frontier, total * size + other)
    return paths
