"""Which cards the wanted routes still need, and what a card is worth for them."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Final

from schemas.field_types import COLORS, LOCOMOTIVE, PASSENGER, PLUS_FOUR, Seat
from services.bots.planning.seat_situation import SeatSituation
from services.referee.rules import GameState
from services.referee.rules.board import GRAY

IDLE_VALUE: Final = 0.15  # of a card that no wanted route misses,
IDLE_GROWTH: Final = 0.03  # and more for each that is held of its colour
GRAY_VALUE: Final = 0.1  # of any colour, for each gray route that isn't paid for yet
FERRY_VALUE: Final = 0.5  # of a locomotive that a ferry still needs
PLUS_FOUR_VALUE: Final = 0.9  # of a "+4" locomotive, as a share of the most that a route misses
PASSENGER_VALUE: Final = 0.25


@dataclass(slots=True)
class RouteNeed:
    """One route that is wanted: the colour that it is collected in, and what is missing."""

    colour: str
    missing: int  # cards of the colour, or wild ones
    weight: float


@dataclass(slots=True)
class CardNeeds:
    """The needs by route, and the hand by colour: what is reserved for these routes, and what is spare."""

    needs: dict[int, RouteNeed]
    reserved: dict[str, int]
    spare: dict[str, int]


def find_needs(situation: SeatSituation, wanted: Mapping[int, float]) -> CardNeeds:
    """Assign the hand to the wanted routes, the most important first: those of a colour before the gray ones,
    each of which takes the colour that is left most of."""
    routes = situation.graph.routes
    reserved: dict[str, int] = {}
    needs: dict[int, RouteNeed] = {}
    spare = {card: count for card, count in situation.hand.items() if card != PASSENGER}
    for is_gray in (False, True):
        for route, weight in wanted.items():
            if (routes[route].color == GRAY) is is_gray:
                length = routes[route].length - routes[route].locomotives
                most = max(spare, key=spare.__getitem__, default=COLORS[0])
                colour = most if is_gray else routes[route].color
                used = min(length, spare.get(colour, 0))
                if used:
                    spare[colour] -= used
                    reserved[colour] = reserved.get(colour, 0) + used
                needs[route] = RouteNeed(colour, length - used, weight)
    return CardNeeds(needs, reserved, spare)


def card_values(situation: SeatSituation, needs: CardNeeds) -> dict[str, float]:
    """By kind of card what one more is worth: about 1 where a route of the network misses it."""
    values = {colour: IDLE_VALUE + IDLE_GROWTH * situation.hand.get(colour, 0) for colour in COLORS}
    most, locomotives_needed = 0.3, 0
    for route, need in needs.needs.items():
        locomotives_needed += situation.graph.routes[route].locomotives
        if need.missing:
            value = need.weight * (1 + 0.5 / need.missing)
            values[need.colour] = max(values[need.colour], value)
            most = max(most, value)
            if situation.graph.routes[route].color == GRAY:
                for colour in COLORS:
                    values[colour] += GRAY_VALUE * need.weight
    values[LOCOMOTIVE] = most * 1.15 + (FERRY_VALUE if locomotives_needed > situation.locomotives else 0.0)
    values[PLUS_FOUR] = most * PLUS_FOUR_VALUE
    values[PASSENGER] = PASSENGER_VALUE
    return values


def blind_value(state: GameState, seat: Seat, values: Mapping[str, float]) -> float:
    """What a card from the deck is worth on average, of those that the seat hasn't seen."""
    hand, count, worth = state.seats[seat].hand, 0, 0.0
    discards = state.discards if state.deck else {}  # an empty deck is made of them again
    for card, total in state.rule_options.cards.items():
        left = total - hand.get(card, 0) - state.market.count(card) - discards.get(card, 0)
        if left > 0:
            count += left
            worth += left * values.get(card, 0.0)
    return worth / count if count else 0.0
