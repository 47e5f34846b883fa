"""Payments for routes and stations: one colour, locomotives wild (ROUTE-2, ROUTE-7, FERRY-1)."""

from __future__ import annotations

from collections.abc import Sequence
from functools import cache, lru_cache
from typing import Final

from schemas.refusals import CommandRefusedError, require
from schemas.trains.commands import ClaimRoute
from schemas.trains.field_types import COLORS, LOCOMOTIVE, PASSENGER, PLUS_FOUR
from schemas.trains.rule_options import RuleOptions
from services.referee.games.state import SeatState
from services.referee.games.trains.board import GRAY, Route
from services.referee.games.trains.train_state import Cards, Hand, OpenRoutes, PayableRoutes

WILD_CARDS: Final = (LOCOMOTIVE,)
WILD_CARDS_WITH_PLUS_FOUR: Final = (LOCOMOTIVE, PLUS_FOUR)  # in rules with "+4" locomotives


# -- checks, each a part of a ruleset --------------------------------------------------


def require_one_colour(cards: Cards, route: Route, rule_options: RuleOptions) -> None:
    """Require as many cards as spaces, all but locomotives of one colour that suits the route (ROUTE-2)."""
    require_route_colour(cards, route, WILD_CARDS, rule_options)


def require_one_colour_with_plus_four(cards: Cards, route: Route, rule_options: RuleOptions) -> None:
    """Require one colour, with locomotives and "+4" locomotives wild (ROUTE-2, ROUTE-7)."""
    require_route_colour(cards, route, WILD_CARDS_WITH_PLUS_FOUR, rule_options)


def require_route_colour(cards: Cards, route: Route, wild: Sequence[str], rule_options: RuleOptions) -> None:
    """Refuses with ROUTE-2 unless the cards pay for the route."""
    if not is_one_colour_payment(cards, route.length, route.color, wild):
        colour = "one colour" if route.color == GRAY else route.color
        wilds = ", locomotives wild" if rule_options.cards.get(LOCOMOTIVE) else ""
        reason = f"{format_cards(cards)} doesn't pay: it takes {route.length} of {colour}{wilds}"
        raise CommandRefusedError("ROUTE-2", reason)


def is_one_colour_payment(cards: Cards, count: int, color: str, wild: Sequence[str]) -> bool:
    """Whether these are `count` cards, all but the wild ones of this colour (gray: of any one colour)."""
    played_count, colour_count = 0, 0
    for card, number in cards.items():
        played_count += number
        if card not in wild:
            colour_count += 1
            if card not in COLORS or color not in (GRAY, card):
                return False
    return colour_count <= 1 and played_count == count


def require_ferry_locomotives(cards: Cards, route: Route, rule_options: RuleOptions) -> None:
    """Refuses with FERRY-1 a payment with too few locomotives for the ferry."""
    locomotives = cards.get(LOCOMOTIVE, 0)
    if locomotives < route.locomotives:
        raise CommandRefusedError(
            "FERRY-1", f"{route.id} takes at least {route.locomotives} locomotives, not {locomotives}"
        )


def require_long_route_for_plus_four(cards: Cards, route: Route, rule_options: RuleOptions) -> None:
    """Refuses with ROUTE-7 passenger cards, and "+4" locomotives on short routes."""
    require(PASSENGER not in cards, "ROUTE-7", "a passenger card doesn't pay for a route")
    min_length = rule_options.plus_four_least
    reason = f'a "+4" locomotive is wild on {min_length} spaces or more only; {route.id} has {route.length}'
    require(PLUS_FOUR not in cards or route.length >= min_length, "ROUTE-7", reason)


def require_held(seat_state: SeatState, cards: Cards, reserved: Cards | None = None) -> None:
    """Refuses with ROUTE-3 unless the seat holds these cards in addition to the `reserved` ones."""
    for card, count in cards.items():
        free_count = seat_state.own.hand.get(card, 0) - (reserved.get(card, 0) if reserved else 0)
        if free_count < count:
            raise CommandRefusedError("ROUTE-3", f"you don't hold {format_cards(cards)}")


def format_cards(cards: Cards) -> str:
    """Cards in words: "2 red and 1 locomotive"."""
    return " and ".join(f"{count} {card}" for card, count in cards.items()) or "nothing"


# -- what a hand can pay ---------------------------------------------------------------


class ClaimsByRoute(dict[str, ClaimRoute]):
    """The claims that are paid with these cards, by route. Each object is made once: offers are listed in
    every turn, and making them anew was most of the cost of a list."""

    def __init__(self, cards: Cards) -> None:
        self.cards = cards

    def __missing__(self, route: str) -> ClaimRoute:
        claim = self[route] = ClaimRoute(route, self.cards)
        return claim


def one_colour_payable(
    hand: Hand, open_routes: OpenRoutes, cars: int, rule_options: RuleOptions
) -> PayableRoutes:
    """The open routes that a hand can pay for, by fare, with every way to pay each."""
    locomotives = hand[LOCOMOTIVE]
    held_colours: list[tuple[str, int]] = []  # what it has, looked up once for all gray routes
    most_held = 0
    for colour in COLORS:
        if held := hand[colour]:
            held_colours.append((colour, held))
            if held > most_held:  # noqa: PLR1730 - a call costs more than all else in this loop
                most_held = held
    max_length = min(cars, most_held + locomotives)  # the fares are in order of length
    payable: PayableRoutes = []
    for (length, colour, min_locomotives), routes in open_routes.items():
        if length > max_length:
            break
        if not routes or min_locomotives > locomotives:
            continue
        if colour == GRAY:
            payable.append((routes, gray_ways(held_colours, length, locomotives, min_locomotives)))
        elif (held := hand[colour]) + locomotives >= length:
            ways = _one_colour_ways(colour, length, held, locomotives, min_locomotives)
            payable.append((routes, ways))
    return payable


def gray_ways(
    held_colours: list[tuple[str, int]], length: int, locomotives: int, min_locomotives: int = 0
) -> list[ClaimsByRoute]:
    """Every way to pay `length` cards of any one of these colours, at least `min_locomotives` of them locomotives."""
    ways: list[ClaimsByRoute] = []
    for colour, held in held_colours:
        if held + locomotives >= length:
            ways += coloured_ways(colour, length, held, locomotives, min_locomotives)
    if locomotives >= length:
        ways.append(_way("", 0, length))
    return ways


@lru_cache(maxsize=100_000)
def _one_colour_ways(
    colour: str, length: int, held: int, locomotives: int, min_locomotives: int
) -> list[ClaimsByRoute]:
    ways = coloured_ways(colour, length, held, locomotives, min_locomotives)
    return [*ways, _way("", 0, length)] if locomotives >= length else ways


@lru_cache(maxsize=100_000)
def coloured_ways(
    colour: str, length: int, held: int, locomotives: int, min_locomotives: int
) -> list[ClaimsByRoute]:
    """The payments with at least one card of the colour."""
    min_wilds, max_wilds = max(min_locomotives, length - held), min(locomotives, length - 1)
    return [_way(colour, length - wilds, wilds) for wilds in range(min_wilds, max_wilds + 1)]


# -- with "+4" locomotives ---------------------------------------------------------------


def one_colour_with_plus_four_payable(
    hand: Hand, open_routes: OpenRoutes, cars: int, rule_options: RuleOptions
) -> PayableRoutes:
    """The payable routes where "+4" locomotives are wild on long ones (ROUTE-7)."""
    locomotives, plus_fours = hand[LOCOMOTIVE], hand.get(PLUS_FOUR, 0)
    held_colours = {colour: held for colour in COLORS if (held := hand[colour]) > 0}
    most_held = max(held_colours.values(), default=0)
    payable: PayableRoutes = []
    for (length, colour, min_locomotives), routes in open_routes.items():
        if length > cars:
            break  # the fares are in order of length
        usable_plus_fours = plus_fours if length >= rule_options.plus_four_least else 0
        held = most_held if colour == GRAY else held_colours.get(colour, 0)
        if not routes or held + locomotives + usable_plus_fours < length:
            continue
        payers = tuple(held_colours.items()) if colour == GRAY else ((colour, held),)
        if ways := _mixed_ways(payers, length, locomotives, usable_plus_fours, min_locomotives):
            payable.append((routes, ways))
    return payable


@lru_cache(maxsize=100_000)
def _mixed_ways(
    held_colours: tuple[tuple[str, int], ...],
    length: int,
    locomotives: int,
    plus_fours: int,
    min_locomotives: int,
) -> list[ClaimsByRoute]:
    """Every payment with cards of one of the held colours, or of none, and either kind of wild card."""
    ways = []
    for plus_four_count in range(min(plus_fours, length) + 1):
        for locomotive_count in range(min_locomotives, min(locomotives, length - plus_four_count) + 1):
            rest = length - plus_four_count - locomotive_count
            coloured_payments = (
                [(colour, rest) for colour, held_count in held_colours if held_count >= rest]
                if rest
                else [("", 0)]
            )
            ways += [
                _way(colour, count, locomotive_count, plus_four_count) for colour, count in coloured_payments
            ]
    return ways


@cache
def _way(colour: str, coloured: int, locomotives: int, plus_fours: int = 0) -> ClaimsByRoute:
    cards = {colour: coloured, LOCOMOTIVE: locomotives, PLUS_FOUR: plus_fours}
    return ClaimsByRoute({card: count for card, count in cards.items() if count})
