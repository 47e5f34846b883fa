"""The shortest paths of a seat's tickets, over its own routes and those that it can still claim."""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Mapping, Sequence, Set
from functools import lru_cache
from heapq import heappop, heappush
from itertools import chain
from typing import Final, NamedTuple, TypeAlias

from schemas.field_types import Seat
from services.referee.games.trains.board import Board, Ticket
from services.referee.games.trains.train_state import TrainGame

UNREACHABLE: Final = 1_000_000  # the length where there is no path
MAX_KNOWN_PATHS: Final = 1_024  # about one for each seat that a worker serves at once; 2 KiB each
# By city: the city at the other end of each of its routes, and the route.
Exits: TypeAlias = Mapping[str, Sequence[tuple[str, str]]]


class TicketPath(NamedTuple):
    """The fewest cars that would join a ticket's cities, and the free routes to claim."""

    cars: int
    routes: Sequence[str]


class KnownPaths(NamedTuple):
    """The paths of a seat's tickets, and the open routes over which they were found."""

    open_routes: frozenset[str]
    paths: list[TicketPath]

    def holds_over(self, open_routes: frozenset[str]) -> bool:
        """Whether a search over these routes would find the same paths: none was added, and no path has lost one."""
        return open_routes <= self.open_routes and all(
            open_routes.issuperset(path.routes) for path in self.paths
        )


NO_PATH: Final = TicketPath(UNREACHABLE, ())
_known_paths: Final[OrderedDict[tuple[object, ...], KnownPaths]] = OrderedDict()


def ticket_paths(state: TrainGame, seat: Seat) -> list[TicketPath]:
    """The shortest path of each of the seat's tickets. The last ones are kept: most turns of others change nothing in them."""
    seat_state = state.seats[seat].own
    table = state.own
    key = (
        table.board.digest,
        tuple(seat_state.tickets),
        tuple(seat_state.routes),
        frozenset(seat_state.blocked_parallels),
    )
    open_routes, known = frozenset[str]().union(*table.open_routes.values()), _known_paths.pop(key, None)
    if known is None or not known.holds_over(open_routes):
        tickets = [table.board.tickets[str(name)] for name in seat_state.tickets]
        known = KnownPaths(open_routes, shortest_paths(state, seat, tickets))
    _known_paths[key] = known
    if len(_known_paths) > MAX_KNOWN_PATHS:
        _known_paths.popitem(last=False)
    return known.paths


def shortest_paths(state: TrainGame, seat: Seat, tickets: Sequence[Ticket]) -> list[TicketPath]:
    """The shortest path of each of these tickets for this seat."""
    table = state.own
    board, exits, cars = table.board, _exits_of(table.board), _usable_routes(state, seat)
    ends: dict[str, set[str]] = {}
    for ticket in tickets:
        ends.setdefault(ticket.a, set()).add(ticket.b)
    paths = {start: _paths_from(start, ends[start], board, exits, cars) for start in ends}
    return [paths[ticket.a].get(ticket.b, NO_PATH) for ticket in tickets]


@lru_cache(maxsize=64)
def _exits_of(board: Board) -> Exits:
    """The exits by city. Of two parallels of one length the first, of the lower fare, is taken."""
    exits: dict[str, list[tuple[str, str]]] = {city: [] for city in board.cities}
    for name in chain.from_iterable(board.fares.values()):
        route = board.routes[name]
        exits[route.a].append((route.b, name))
        exits[route.b].append((route.a, name))
    return exits


def _usable_routes(state: TrainGame, seat: Seat) -> dict[str, int]:
    """The routes that are the seat's or still can be, and the cars that each takes: none for its own."""
    table = state.own
    seat_state, routes = state.seats[seat].own, table.board.routes
    blocked = seat_state.blocked_parallels
    cars = {
        name: routes[name].length
        for name in chain.from_iterable(table.open_routes.values())
        if name not in blocked
    }
    cars.update(dict.fromkeys(seat_state.routes, 0))
    return cars


def _paths_from(
    start: str, ends: Set[str], board: Board, exits: Exits, cars: Mapping[str, int]
) -> dict[str, TicketPath]:
    """The shortest paths from a city to those of these cities that can be reached."""
    countries, remaining = board.countries, {*ends}
    paths: dict[str, TicketPath] = {}
    best = {start: 0}
    predecessors: dict[str, tuple[str, str]] = {}
    frontier = [(0, start)]
    while frontier and remaining:
        length, city = heappop(frontier)
        if city in remaining:
            remaining.remove(city)
            paths[city] = TicketPath(length, _free_routes(predecessors, cars, start, city))
        if length > best[city] or (city in countries and city != start):
            continue  # a country is an end only
        for other, name in exits[city]:
            if (spaces := cars.get(name)) is not None and length + spaces < best.get(other, UNREACHABLE):
                best[other] = length + spaces
                predecessors[other] = city, name
                heappush(frontier, (length + spaces, other))
    return paths


def _free_routes(
    predecessors: Mapping[str, tuple[str, str]], cars: Mapping[str, int], start: str, city: str
) -> list[str]:
    """The routes still to claim on the way back from a city to the start of a path."""
    routes = list[str]()
    while city != start:
        city, name = predecessors[city]
        if cars[name]:
            routes.append(name)
    return routes
