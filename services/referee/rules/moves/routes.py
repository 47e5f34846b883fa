"""Claiming routes (ROUTE-*, DOUBLE-*) and what pays for them."""

from __future__ import annotations

from collections.abc import Sequence
from functools import cache, lru_cache

from schemas.commands import ClaimRoute
from schemas.events import RouteClaimed
from schemas.refusals import Refused
from schemas.words import COLORS, LOCOMOTIVE, Seat
from services.referee.rules.board import GRAY, Fare, Route
from services.referee.rules.moves.turns import end_turn
from services.referee.rules.ruleset import Cards, Facts, Hand, Move, OpenRoutes, Payable
from services.referee.rules.table import Place, Table


def claim_offers(table: Table, seat: Seat) -> Sequence[ClaimRoute]:
    """Every claim that the seat can pay for, every way to pay it."""
    place = table.places[seat]
    barred = place.barred
    return [
        claims[route]
        for routes, ways in table.rules.payable(place.hand, table.open, place.cars)
        for route in routes
        if route not in barred
        for claims in ways
    ]


def claim_route(table: Table, seat: Seat, command: ClaimRoute) -> Facts:
    place, cards = table.places[seat], command.cards
    route = table.board.routes.get(command.route)
    if route is None:
        raise Refused("ROUTE-1", f"there is no route {command.route}")
    require_open(table, place, route)
    if not table.rules.pays(cards, route.fare):
        raise Refused("ROUTE-2", f"{spelled(cards)} doesn't pay: {asked(route)}")
    for card, count in cards.items():
        if place.hand.get(card, 0) < count:
            raise Refused("ROUTE-3", f"you don't hold {spelled(cards)}")
    if place.cars < route.length:
        raise Refused("ROUTE-4", f"{route.length} spaces, and you have {place.cars} cars left")
    points = table.figures.route_points[route.length - 1]
    assert points is not None, "a board whose routes score nothing isn't played on"
    yield RouteClaimed(seat, route.id, cards, points)
    yield from end_turn(table, seat)


def require_open(table: Table, place: Place, route: Route) -> None:
    """The route can be claimed by this seat, whatever it would pay with."""
    if route.id in table.owners:
        raise Refused("ROUTE-1", f"{route.id} belongs to seat {table.owners[route.id]}")
    if route.id in place.barred:
        raise Refused("DOUBLE-1", f"you own a route parallel to {route.id}")
    if route.id not in table.open[route.fare]:
        seats = len(table.places)
        raise Refused("DOUBLE-2", f"{route.id} is closed: its parallel is taken, and {seats} play")


class Claims(dict[str, ClaimRoute]):
    """The claims that are paid with these cards, by route. Each is made once: offers are
    listed at every turn, and making them anew was the most of what a list costs."""

    def __init__(self, cards: Cards) -> None:
        self.cards = cards

    def __missing__(self, route: str) -> ClaimRoute:
        claim = self[route] = ClaimRoute(route, self.cards)
        return claim


# -- paying with one colour, locomotives wild (ROUTE-2) ------------------------------


def one_colour_pays(cards: Cards, fare: Fare) -> bool:
    spaces, colours = 0, 0
    for card, count in cards.items():
        spaces += count
        if card != LOCOMOTIVE:
            colours += 1
            if card not in COLORS or fare.color not in (GRAY, card):
                return False
    return colours <= 1 and spaces == fare.length


def one_colour_payable(hand: Hand, open_routes: OpenRoutes, cars: int) -> Payable:
    """The open routes that a hand can pay for, by fare, with every way to pay each."""
    wild = hand[LOCOMOTIVE]
    most = min(cars, max(hand.values()) + wild)  # spaces; the fares are in order of length
    for (length, colour), routes in open_routes.items():
        if length > most:
            return
        if not routes:
            continue
        if colour == GRAY:
            yield routes, _gray_ways(hand, length, wild)
        elif hand[colour] + wild >= length:
            yield routes, _ways(colour, length, hand[colour], wild)


def _gray_ways(hand: Hand, length: int, wild: int) -> Sequence[Claims]:
    ways = [
        way
        for colour in COLORS
        if (have := hand[colour]) and have + wild >= length
        for way in _coloured_ways(colour, length, have, wild)
    ]
    return [*ways, _wild_way(length)] if wild >= length else ways


@lru_cache(maxsize=100_000)
def _ways(colour: str, length: int, have: int, wild: int) -> Sequence[Claims]:
    ways = _coloured_ways(colour, length, have, wild)
    return (*ways, _wild_way(length)) if wild >= length else ways


@lru_cache(maxsize=100_000)
def _coloured_ways(colour: str, length: int, have: int, wild: int) -> Sequence[Claims]:
    """The payments with at least one card of the colour."""
    fewest, most = max(0, length - have), min(wild, length - 1)
    return tuple(_coloured_way(colour, length - wilds, wilds) for wilds in range(fewest, most + 1))


@cache
def _coloured_way(colour: str, coloured: int, wilds: int) -> Claims:
    return Claims({colour: coloured, LOCOMOTIVE: wilds} if wilds else {colour: coloured})


@cache
def _wild_way(length: int) -> Claims:
    return Claims({LOCOMOTIVE: length})


def spelled(cards: Cards) -> str:
    """Cards as a person writes them: "2 red and 1 locomotive"."""
    return " and ".join(f"{count} {card}" for card, count in cards.items()) or "nothing"


def asked(route: Route) -> str:
    colour = "one colour" if route.color == GRAY else route.color
    return f"it takes {route.length} of {colour}, locomotives wild"


CLAIM_ROUTE = Move(ClaimRoute, claim_offers, claim_route)
