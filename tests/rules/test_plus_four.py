"""ROUTE-7, and what else "+4" locomotives and passenger cards change: CARD-2, CARD-3, MARKET-2, ROUTE-2."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import product
from typing import Any

import pytest

from schemas.events import DeckShuffled, TurnStarted
from schemas.refusals import CommandRefusedError
from schemas.trains.commands import ClaimRoute, DrawBlind, DrawMarket
from schemas.trains.events import CardDrawn, MarketCardTaken, MarketFilled, MarketFlushed, RouteClaimed
from schemas.trains.field_types import CARDS, COLORS, LOCOMOTIVE, PASSENGER, PLUS_FOUR
from services.referee.games import decide
from tests.rules.given import Scene, given

Payment = dict[str, int]
PLENTY = {**dict.fromkeys(COLORS, 11), LOCOMOTIVE: 14, PLUS_FOUR: 6, PASSENGER: 10}
BLUE_THREE, BLUE_FOUR, GRAY_FOUR, GRAY_TWO = (
    "bremen-emden-a", "frankfurt-kassel-b", "frankfurt-koln-a", "frankfurt-mannheim-a",
)  # fmt: skip
QUIET = ("red", "blue", "green", "yellow", "white")
MIXED_HAND = {"blue": 3, "red": 2, LOCOMOTIVE: 2, PLUS_FOUR: 3, PASSENGER: 4}
NEXT = ["black", "white", "orange", "purple", "green"] * 3


def marklin(seats: int = 4, **fields: Any) -> Scene:
    return given(seats, rules="marklin", **fields)


def every_payment(cards: int) -> Iterator[Payment]:
    """Every way to choose so many cards of two colours and the three other kinds."""
    kinds = ("blue", "red", LOCOMOTIVE, PLUS_FOUR, PASSENGER)
    for counts in product(range(cards + 1), repeat=len(kinds)):
        if sum(counts) == cards:
            yield {kind: n for kind, n in zip(kinds, counts, strict=True) if n}


def accepted(scene: Scene, claim: ClaimRoute) -> bool:
    try:
        return bool(decide(scene.state, 0, claim))
    except CommandRefusedError:
        return False


def offered(scene: Scene, route: str) -> list[Payment]:
    claims = (choice for choice in scene.legal(0) if isinstance(choice, ClaimRoute))
    return [dict(claim.cards) for claim in claims if claim.route == route and claim.passenger is None]


def rows(payments: Any) -> list[list[tuple[str, int]]]:
    return sorted(sorted(payment.items()) for payment in payments)


# -- paying ------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "payment",
    [
        {"blue": 3, PLUS_FOUR: 1},
        {"blue": 1, PLUS_FOUR: 3},
        {"blue": 1, LOCOMOTIVE: 2, PLUS_FOUR: 1},
        {LOCOMOTIVE: 2, PLUS_FOUR: 2},
        {PLUS_FOUR: 4},
        {"blue": 4},
        {LOCOMOTIVE: 4},
    ],
)
@pytest.mark.parametrize("route", [BLUE_FOUR, GRAY_FOUR])
def test_ROUTE_7_a_plus_four_is_wild_on_four_spaces_or_more(route: str, payment: Payment) -> None:
    scene = marklin(hands=[PLENTY]).when(0, ClaimRoute(route, payment))
    scene.then(RouteClaimed(0, route, payment, 7), TurnStarted(1))
    assert {card: n for card, n in scene.state.own.discards.items() if n} == payment


@pytest.mark.parametrize(
    "payment", [{"blue": 2, PLUS_FOUR: 1}, {PLUS_FOUR: 3}, {LOCOMOTIVE: 2, PLUS_FOUR: 1}]
)
def test_ROUTE_7_a_plus_four_pays_for_no_route_of_three(payment: Payment) -> None:
    scene = marklin(hands=[PLENTY])
    assert rows(offered(scene, BLUE_THREE)) == rows(
        [{"blue": 3}, {"blue": 2, LOCOMOTIVE: 1}, {"blue": 1, LOCOMOTIVE: 2}, {LOCOMOTIVE: 3}]
    )
    scene.when(0, ClaimRoute(BLUE_THREE, payment)).refused("ROUTE-7")


def test_ROUTE_7_nor_on_two_or_one() -> None:
    for route, length in ((GRAY_TWO, 2), ("dortmund-dusseldorf-a", 1)):
        scene = marklin(hands=[PLENTY]).when(0, ClaimRoute(route, {PLUS_FOUR: length})).refused("ROUTE-7")
        assert len(offered(scene, route)) == 8 * length + 1
        assert not any(PLUS_FOUR in payment for payment in offered(scene, route))


def test_ROUTE_7_the_least_length_is_a_rule_option() -> None:
    scene = marklin(hands=[PLENTY], options={"plus_four_least": 5})
    scene.when(0, ClaimRoute(GRAY_FOUR, {PLUS_FOUR: 4})).refused("ROUTE-7")
    scene.when(0, ClaimRoute("munchen-nurnberg-a", {PLUS_FOUR: 5})).then_types(RouteClaimed, TurnStarted)


@pytest.mark.parametrize("route", [BLUE_THREE, GRAY_TWO, BLUE_FOUR, GRAY_FOUR, "berlin-hamburg-a"])
def test_ROUTE_7_a_passenger_card_never_pays(route: str) -> None:
    scene = marklin(hands=[PLENTY])
    length = scene.state.own.board.routes[route].length
    for payment in ({PASSENGER: length}, {LOCOMOTIVE: length - 1, PASSENGER: 1}):
        scene.when(0, ClaimRoute(route, payment)).refused("ROUTE-7")
    assert not any(PASSENGER in payment for payment in offered(scene, route))


@pytest.mark.parametrize(
    "hand", [PLENTY, MIXED_HAND, {PLUS_FOUR: 5, "blue": 1}, {LOCOMOTIVE: 4, PASSENGER: 4}]
)
@pytest.mark.parametrize("route", [BLUE_THREE, BLUE_FOUR, GRAY_FOUR, GRAY_TWO, "munchen-nurnberg-a"])
def test_ROUTE_7_the_offered_payments_are_the_accepted_ones(route: str, hand: Payment) -> None:
    scene = marklin(hands=[hand])
    shown = [payment for payment in offered(scene, route) if set(payment) <= {"blue", "red", *CARDS[8:]}]
    for cards in range(1, 7):
        fits = [p for p in every_payment(cards) if accepted(scene, ClaimRoute(route, p))]
        assert rows(fits) == rows(p for p in shown if sum(p.values()) == cards)
    assert all(accepted(scene, ClaimRoute(route, payment)) for payment in offered(scene, route))
    assert len(rows(offered(scene, route))) == len({str(row) for row in rows(offered(scene, route))})


@pytest.mark.parametrize("route", [BLUE_THREE, GRAY_TWO, "dortmund-munster-a"])
def test_ROUTE_7_every_offered_placing_is_accepted_and_every_accepted_one_offered(route: str) -> None:
    scene = marklin(hands=[MIXED_HAND], passengers={"emden": 1, "mannheim": 0})
    shown = [c for c in scene.legal(0) if isinstance(c, ClaimRoute) and c.route == route]
    length = scene.state.own.board.routes[route].length
    tried = [
        ClaimRoute(route, payment, city)
        for payment in every_payment(length)
        for city in (None, *scene.state.own.board.cities)
    ]
    fits = [claim for claim in tried if accepted(scene, claim)]
    assert sorted(map(str, fits)) == sorted(map(str, shown))


def test_ROUTE_2_wild_cards_alone_pay_for_a_long_route_of_any_colour() -> None:
    for payment in ({PLUS_FOUR: 6, LOCOMOTIVE: 1}, {PLUS_FOUR: 1, LOCOMOTIVE: 6}, {LOCOMOTIVE: 7}):
        scene = marklin(hands=[PLENTY])
        assert payment in offered(scene, "berlin-hamburg-a")
        scene.when(0, ClaimRoute("berlin-hamburg-a", payment))
        scene.then(RouteClaimed(0, "berlin-hamburg-a", payment, 18), TurnStarted(1))


@pytest.mark.parametrize(
    "payment",
    [
        {"blue": 2, "red": 1, PLUS_FOUR: 1},
        {"red": 3, PLUS_FOUR: 1},
        {"blue": 4, PLUS_FOUR: 1},
        {"blue": 2, PLUS_FOUR: 1},
    ],
)
def test_ROUTE_2_one_colour_and_as_many_as_spaces_with_a_plus_four_too(payment: Payment) -> None:
    marklin(hands=[PLENTY]).when(0, ClaimRoute(BLUE_FOUR, payment)).refused("ROUTE-2")


def test_ROUTE_3_a_plus_four_that_the_seat_does_not_hold_pays_nothing() -> None:
    scene = marklin(hands=[{"blue": 3, LOCOMOTIVE: 5}])
    assert not any(PLUS_FOUR in payment for payment in offered(scene, BLUE_FOUR))
    scene.when(0, ClaimRoute(BLUE_FOUR, {"blue": 3, PLUS_FOUR: 1})).refused("ROUTE-3")


# -- drawing -----------------------------------------------------------------------------


@pytest.mark.parametrize("kind", [PLUS_FOUR, PASSENGER])
def test_CARD_3_two_of_them_may_be_taken_face_up(kind: str) -> None:
    scene = marklin(market=(kind, kind, *QUIET[2:]), deck=NEXT)
    scene.when(0, DrawMarket(0)).then(MarketCardTaken(0, 0, kind), MarketFilled((0,), ("black",)))
    assert DrawMarket(1) in scene.legal(0)
    scene.when(0, DrawMarket(color=kind)).then_types(MarketCardTaken, MarketFilled, TurnStarted)
    assert scene.events[0] == MarketCardTaken(0, 1, kind)


@pytest.mark.parametrize("kind", [PLUS_FOUR, PASSENGER])
def test_CARD_3_one_is_a_second_card_also_after_a_blind_one(kind: str) -> None:
    scene = marklin(market=(kind, *QUIET[1:]), deck=NEXT)
    scene.when(0, DrawBlind()).then_types(CardDrawn)
    scene.when(0, DrawMarket(0)).then_types(MarketCardTaken, MarketFilled, TurnStarted)


@pytest.mark.parametrize("kind", [PLUS_FOUR, PASSENGER])
def test_CARD_3_with_the_deck_empty_a_turn_goes_on_for_one_that_lies_open(kind: str) -> None:
    scene = marklin(market=("red", LOCOMOTIVE, kind, None, None), deck=(), hands=[{}])
    scene.when(0, DrawMarket(0)).then_types(MarketCardTaken)
    assert scene.legal(0) == [DrawMarket(2)]


def test_CARD_2_a_face_up_locomotive_is_both_cards_beside_them_too() -> None:
    market = (LOCOMOTIVE, PLUS_FOUR, PASSENGER, "red", "blue")
    marklin(market=market, deck=NEXT).when(0, DrawMarket(0)).then_types(
        MarketCardTaken, MarketFilled, TurnStarted
    )
    scene = marklin(market=market, deck=NEXT).when(0, DrawMarket(1))
    assert DrawMarket(0) not in scene.legal(0)
    scene.when(0, DrawMarket(0)).refused("CARD-2")


# -- the market ----------------------------------------------------------------------------


@pytest.mark.parametrize("kind", [LOCOMOTIVE, PASSENGER])
def test_MARKET_2_three_of_a_kind_flush_the_market(kind: str) -> None:
    scene = marklin(market=(kind, kind, "red", "blue", "green"), deck=[kind, *NEXT], discards={"red": 1})
    scene.when(0, DrawMarket(2)).then(
        MarketCardTaken(0, 2, "red"),
        MarketFilled((2,), (kind,)),
        MarketFlushed(),
        MarketFilled((0, 1, 2, 3, 4), tuple(NEXT[:5])),
    )
    assert {card: n for card, n in scene.state.own.discards.items() if n} == {
        kind: 3, "blue": 1, "green": 1, "red": 1,
    }  # fmt: skip


@pytest.mark.parametrize(
    "lying",
    [
        (PLUS_FOUR,) * 4,
        (PLUS_FOUR, PLUS_FOUR, LOCOMOTIVE, LOCOMOTIVE),
        (LOCOMOTIVE, LOCOMOTIVE, PASSENGER, PASSENGER),
    ],
)
def test_MARKET_2_a_plus_four_is_no_locomotive_and_kinds_do_not_add_up(lying: tuple[str, ...]) -> None:
    scene = marklin(market=(*lying, "red"), deck=[PLUS_FOUR, *NEXT])
    scene.when(0, DrawMarket(4)).then_types(MarketCardTaken, MarketFilled)
    assert scene.state.own.market == [*lying, PLUS_FOUR]


@pytest.mark.parametrize("kind", [LOCOMOTIVE, PASSENGER])
def test_MARKET_2_five_reshuffles_in_a_row_and_then_it_stays(kind: str) -> None:
    scene = marklin(market=(kind, kind, kind, kind, "red"), deck=[kind] * 3)
    scene.when(0, DrawMarket(4))
    assert len(scene.events_of(DeckShuffled)) == len(scene.events_of(MarketFlushed)) == 5
    assert scene.state.own.market == [kind] * 5
    scene.when(0, DrawBlind())
    assert not scene.events_of(MarketFlushed)
