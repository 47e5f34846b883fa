"""Passengers: placed with a claim, then sent to collect merchandise (PASSENGER-*)."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from functools import lru_cache

from schemas.field_types import Seat
from schemas.refusals import CommandRefusedError, require
from schemas.trains.commands import ClaimRoute, MovePassenger
from schemas.trains.events import PassengerMoved
from schemas.trains.field_types import PASSENGER
from services.referee.games.state import EventStream, Move
from services.referee.games.trains.board import Board, Route
from services.referee.games.trains.moves.turns import end_turn
from services.referee.games.trains.search.passenger_journeys import Journey, JourneyEdge, best_journeys
from services.referee.games.trains.train_state import TrainGame


def placement_offers(state: TrainGame, seat: Seat, claims: Iterable[ClaimRoute]) -> Sequence[ClaimRoute]:
    """These claims with a passenger in either city that can take one."""
    offers = []
    table = state.own
    for claim in claims:
        route = table.board.routes[claim.route]
        for city in (route.a, route.b):
            if city not in table.passenger_owners and city not in table.board.countries:
                offers.append(ClaimRoute(claim.route, claim.cards, city))
    return offers


def require_placeable(state: TrainGame, seat: Seat, route: Route, city: str) -> None:
    """The seat may place a passenger in this city with its claim. Refuses with PASSENGER-1."""
    require(state.seats[seat].own.passengers_left, "PASSENGER-1", "you have no passenger left to place")
    require(city in (route.a, route.b), "PASSENGER-1", f"{city} isn't a city of {route.id}")
    require(city not in state.own.board.countries, "PASSENGER-1", f"{city} is a country")
    require(city not in state.own.passenger_owners, "PASSENGER-1", f"a passenger stands in {city} already")


def move_offers(state: TrainGame, seat: Seat) -> Sequence[MovePassenger]:
    """For each of the seat's passengers the best journey for every number of passenger cards that scores
    more than a smaller number does: a few of the very many legal moves."""
    table = state.own
    own_cities = [city for city, owner in table.passenger_owners.items() if owner == seat]
    if not own_cities:
        return ()
    ways = ways_by_route(table.board)
    claimed_ways = [
        ways[route_id][owner != seat] for route_id, owner in table.route_owners.items() if route_id in ways
    ]
    passenger_cards = max(0, state.seats[seat].own.hand.get(PASSENGER, 0))
    return [
        MovePassenger(city, journey.path)
        for city in own_cities
        for journey in journeys_from(city, claimed_ways, table.tokens, passenger_cards, len(own_cities))
    ]


@lru_cache(maxsize=64)
def ways_by_route(board: Board) -> Mapping[str, tuple[JourneyEdge, JourneyEdge]]:
    """By route: its edge for its owner, and for another seat. Routes into countries have none."""
    return {
        route.id: (JourneyEdge(route.id, route.a, route.b, 0), JourneyEdge(route.id, route.a, route.b, 1))
        for route in board.routes.values()
        if board.countries.isdisjoint((route.a, route.b))
    }


def journeys_from(
    city: str,
    ways: Sequence[JourneyEdge],
    tokens: Mapping[str, Sequence[int]],
    cards: int,
    passengers: int = 1,
) -> Sequence[Journey]:
    """The best journeys from this city, for a seat with so many passengers. They are cached by what can be reached
    from it, which is the same in most turns."""
    reachable = tuple(reachable_ways(city, ways, cards))
    top_tokens = tuple(stack[0] if (stack := tokens.get(end)) else 0 for end in _end_cities(reachable))
    return _journeys(city, reachable, top_tokens, min(cards, sum(way.toll for way in reachable)), passengers)


def reachable_ways(city: str, ways: Sequence[JourneyEdge], cards: int) -> list[JourneyEdge]:
    """The ways that a journey from this city can take if it pays at most `cards` cards."""
    ways_by_city: dict[str, list[JourneyEdge]] = defaultdict(list)
    for way in ways:
        ways_by_city[way.a].append(way)
        ways_by_city[way.b].append(way)
    lowest_price, queue = {city: 0}, [city]  # the fewest cards known to be enough for a city
    for current in queue:
        for _, a, b, toll in ways_by_city[current]:
            neighbour, price = (b if current == a else a), lowest_price[current] + toll
            if price < lowest_price.get(neighbour, cards + 1):
                lowest_price[neighbour] = price
                queue.append(neighbour)
    unreachable = cards + 1
    return [
        way
        for way in ways
        if min(lowest_price.get(way.a, unreachable), lowest_price.get(way.b, unreachable)) + way.toll <= cards
    ]


@lru_cache(maxsize=10_000)  # of about 1.4 kB each
def _journeys(
    city: str, ways: tuple[JourneyEdge, ...], top_tokens: tuple[int, ...], cards: int, passengers: int
) -> Sequence[Journey]:
    tokens = dict(zip(_end_cities(ways), top_tokens, strict=True))
    return best_journeys(city, ways, tokens, cards, passengers)


def _end_cities(ways: Iterable[JourneyEdge]) -> Iterable[str]:
    """The cities at the ends of these ways, each once."""
    return dict.fromkeys(end for way in ways for end in (way.a, way.b))


def move_passenger(state: TrainGame, seat: Seat, command: MovePassenger) -> EventStream:
    """One journey of a passenger, which then leaves the game. Refuses with PASSENGER-2."""
    start, path = command.city, command.path
    require(path, "PASSENGER-2", "a move goes along one route at least")
    table = state.own
    is_standing = table.passenger_owners.get(start) == seat
    require(is_standing, "PASSENGER-2", f"no passenger of yours stands in {start}")
    entered = cities_entered(state, start, path)
    tolls = sum(table.route_owners[route_id] != seat for route_id in path)
    passenger_cards = state.seats[seat].own.hand.get(PASSENGER, 0)
    reason = f"{tolls} routes of others on the way, and you hold {passenger_cards} passenger cards"
    require(tolls <= passenger_cards, "PASSENGER-2", reason)
    token_cities = tuple(city for city in dict.fromkeys(entered) if city != start and table.tokens.get(city))
    points = sum(table.tokens[city][0] for city in token_cities)
    yield PassengerMoved(seat, start, path, tolls, token_cities, points)
    yield from end_turn(state, seat)


def points_collected(state: TrainGame, command: MovePassenger) -> int:
    """The points of a legal move."""
    start = command.city
    cities = {city for city in cities_entered(state, start, command.path) if city != start}
    return sum(sum(state.own.tokens.get(city, ())[:1]) for city in cities)


def cities_entered(state: TrainGame, start: str, path: Sequence[str]) -> list[str]:
    """The cities along a path of claimed routes, in order.

    Raises CommandRefusedError (PASSENGER-2) unless every route is claimed, used once and leads on."""
    entered, current = [], start
    require(len(set(path)) == len(path), "PASSENGER-2", "a route is used once in a move at most")
    table = state.own
    for route_id in path:
        route = table.board.routes.get(route_id)
        if route is None:
            raise CommandRefusedError("PASSENGER-2", f"there is no route {route_id}")
        require(route_id in table.route_owners, "PASSENGER-2", f"nobody has claimed {route_id}")
        require(current in (route.a, route.b), "PASSENGER-2", f"{route_id} doesn't start in {current}")
        current = route.b if current == route.a else route.a
        require(current not in table.board.countries, "PASSENGER-2", f"{current} is a country")
        entered.append(current)
    return entered


MOVE_PASSENGER = Move(MovePassenger, move_offers, move_passenger, lists_best=True)
