"""A tunnel that a seat has begun, and where the cards are then."""

from __future__ import annotations

from typing import Any

from schemas.trains.commands import ClaimRoute
from tests.rules.given import Scene, given

LOCO = "locomotive"
PAMPLONA = "barcelona-pamplona-a"  # gray, two spaces
SOCHI = "erzurum-sochi-a"  # red, three spaces
EXAMPLE = ("red", LOCO, "blue")  # of the worked example
Payment = dict[str, int]


def begin_tunnel(
    hand: Payment, payment: Payment, deck: tuple[str, ...] = EXAMPLE, route: str = PAMPLONA, **more: Any
) -> Scene:
    """A tunnel that seat 0 has begun."""
    hands = [hand, {"green": 4, LOCO: 1}]
    scene = given(rules="europe", hands=hands, deck=deck, **more)
    return scene.when(0, ClaimRoute(route, payment))


def discards(scene: Scene) -> Payment:
    return {str(card): n for card, n in scene.state.own.discards.items() if n}


def hand(scene: Scene, seat: int = 0) -> Payment:
    return {str(card): n for card, n in scene.seat_state(seat).own.hand.items() if n}
