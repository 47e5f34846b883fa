"""What pays for routes and stations: one colour, locomotives wild (ROUTE-2, ROUTE-7, FERRY-1)."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import cache, lru_cache
from typing import Final

from schemas.commands import ClaimRoute
from schemas.field_types import COLORS, LOCOMOTIVE, PASSENGER, PLUS_FOUR
from schemas.refusals import Refused, require
from schemas.rule_options import Parameters
from services.referee.rules.board import GRAY, Route
from services.referee.rules.ruleset import Cards, Hand, OpenRoutes, Payable
from services.referee.rules.table import Place

WILD: Final = (LOCOMOTIVE,)
WILD_TOO: Final = (LOCOMOTIVE, PLUS_FOUR)  # where "+4" locomotives are in the rules


# -- checks, each a part of a ruleset --------------------------------------------------


def one_colour(cards: Cards, route: Route, figures: Parameters) -> None:
    """As many cards as spaces, of one colour that suits the route, locomotives apart."""
    require_colour(cards, route, WILD, figures)


def one_colour_two_wilds(cards: Cards, route: Route, figures: Parameters) -> None:
    """The same, "+4" locomotives apart too."""
    require_colour(cards, route, WILD_TOO, figures)


def require_colour(cards: Cards, route: Route, wild: Sequence[str], figures: Parameters) -> None:
    """The cards pay for the route (ROUTE-2)."""
    if not fits(cards, route.length, route.color, wild):
        raise Refused("ROUTE-2", f"{spelled(cards)} doesn't pay: {asked(route, figures)}")


def fits(cards: Cards, count: int, color: str, wild: Sequence[str]) -> bool:
    """Whether these are so many cards of this one colour (gray: of any one), wild cards apart."""
    played, colours = 0, 0
    for card, number in cards.items():
        played += number
        if card not in wild:
            colours += 1
            if card not in COLORS or color not in (GRAY, card):
                return False
    return colours <= 1 and played == count


def ferries_take_locomotives(cards: Cards, route: Route, figures: Parameters) -> None:
    shown = cards.get(LOCOMOTIVE, 0)
    if shown < route.locomotives:
        raise Refused("FERRY-1", f"{route.id} takes at least {route.locomotives} locomotives, not {shown}")


def plus_four_on_long_routes(cards: Cards, route: Route, figures: Parameters) -> None:
    require(PASSENGER not in cards, "ROUTE-7", "a passenger card doesn't pay for a route")
    least = figures.plus_four_least
    why = f'a "+4" locomotive is wild on {least} spaces or more only; {route.id} has {route.length}'
    require(PLUS_FOUR not in cards or route.length >= least, "ROUTE-7", why)


def require_held(place: Place, cards: Cards, besides: Cards | None = None) -> None:
    """The seat holds these, besides what it has laid down already (ROUTE-3)."""
    for card, count in cards.items():
        if place.hand.get(card, 0) - (besides or {}).get(card, 0) < count:
            raise Refused("ROUTE-3", f"you don't hold {spelled(cards)}")


def spelled(cards: Cards) -> str:
    """Cards as a person writes them: "2 red and 1 locomotive"."""
    return " and ".join(f"{count} {card}" for card, count in cards.items()) or "nothing"


def asked(route: Route, figures: Parameters) -> str:
    """What a route takes, in words."""
    colour = "one colour" if route.color == GRAY else route.color
    wild = ", locomotives wild" if figures.cards.get(LOCOMOTIVE) else ""
    return f"it takes {route.length} of {colour}{wild}"


# -- what a hand can pay ---------------------------------------------------------------


class Claims(dict[str, ClaimRoute]):
    """The claims that are paid with these cards, by route. Each is made once: offers are
    listed at every turn, and making them anew was the most of what a list costs."""

    def __init__(self, cards: Cards) -> None:
        self.cards = cards

    def __missing__(self, route: str) -> ClaimRoute:
        claim = self[route] = ClaimRoute(route, self.cards)
        return claim


def one_colour_payable(hand: Hand, open_routes: OpenRoutes, cars: int, figures: Parameters) -> Payable:
    """The open routes that a hand can pay for, by fare, with every way to pay each."""
    wild = hand[LOCOMOTIVE]
    most = min(cars, max(hand.values()) + wild)  # spaces; the fares are in order of length
    for (length, colour, least), routes in open_routes.items():
        if length > most:
            return
        if not routes or least > wild:
            continue
        if colour == GRAY:
            yield routes, gray_ways(hand, length, least)
        elif hand[colour] + wild >= length:
            yield routes, _ways(colour, length, hand[colour], wild, least)


def gray_ways(hand: Hand, length: int, least: int = 0) -> Sequence[Claims]:
    """Every way to pay so many cards of any one colour, at least so many of them locomotives."""
    wild = hand[LOCOMOTIVE]
    ways = [
        way
        for colour in COLORS
        if (have := hand[colour]) and have + wild >= length
        for way in coloured_ways(colour, length, have, wild, least)
    ]
    return [*ways, _wild_way(length)] if wild >= length else ways


@lru_cache(maxsize=100_000)
def _ways(colour: str, length: int, have: int, wild: int, least: int) -> Sequence[Claims]:
    ways = coloured_ways(colour, length, have, wild, least)
    return (*ways, _wild_way(length)) if wild >= length else ways


@lru_cache(maxsize=100_000)
def coloured_ways(colour: str, length: int, have: int, wild: int, least: int) -> Sequence[Claims]:
    """The payments with at least one card of the colour."""
    fewest, most = max(least, length - have), min(wild, length - 1)
    return tuple(_coloured_way(colour, length - wilds, wilds) for wilds in range(fewest, most + 1))


@cache
def _coloured_way(colour: str, coloured: int, wilds: int) -> Claims:
    return Claims({colour: coloured, LOCOMOTIVE: wilds} if wilds else {colour: coloured})


@cache
def _wild_way(length: int) -> Claims:
    return Claims({LOCOMOTIVE: length})


# -- with "+4" locomotives ---------------------------------------------------------------


def two_wilds_payable(hand: Hand, open_routes: OpenRoutes, cars: int, figures: Parameters) -> Payable:
    """The same where "+4" locomotives are wild too, on long routes (ROUTE-7)."""
    short = {**hand, PASSENGER: 0, PLUS_FOUR: 0}
    more = hand.get(PLUS_FOUR, 0)
    for (length, colour, least), routes in open_routes.items():
        if length > cars or not routes:
            continue
        plus = more if length >= figures.plus_four_least else 0
        if ways := _mixed_ways(_held(short, colour), length, short[LOCOMOTIVE], plus, least):
            yield routes, ways


def _held(hand: Mapping[str | None, int], colour: str) -> tuple[tuple[str, int], ...]:
    return tuple((c, hand[c]) for c in (COLORS if colour == GRAY else (colour,)) if hand[c])


@lru_cache(maxsize=100_000)
def _mixed_ways(
    held: tuple[tuple[str, int], ...], length: int, wild: int, plus: int, least: int
) -> Sequence[Claims]:
    """Every payment of one of the colours held, or of none, with either kind of wild card."""
    ways = []
    for fours in range(min(plus, length) + 1):
        for wilds in range(least, min(wild, length - fours) + 1):
            rest = length - fours - wilds
            paid = [(colour, rest) for colour, have in held if have >= rest] if rest else [("", 0)]
            ways += [_mixed_way(colour, count, wilds, fours) for colour, count in paid]
    return tuple(ways)


@cache
def _mixed_way(colour: str, coloured: int, wilds: int, fours: int) -> Claims:
    cards = {colour: coloured, LOCOMOTIVE: wilds, PLUS_FOUR: fours}
    return Claims({card: count for card, count in cards.items() if count})
