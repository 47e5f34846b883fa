"""ROUTE-*, DOUBLE-* and SCORE-1, SCORE-2: the sentences that usa, europe and marklin share, in each of them."""

from __future__ import annotations

from itertools import combinations_with_replacement

import pytest

from schemas.events import TurnStarted
from schemas.trains.commands import ClaimRoute, DrawBlind
from schemas.trains.events import RouteClaimed
from schemas.trains.field_types import COLORS
from services.referee.games.trains.scoring import score
from tests.rules.given import given
from tests.rules.texts.market_games import IN_EVERY_MARKET_GAME, MarketGame

LOCO = "locomotive"
PLENTY = {**dict.fromkeys(COLORS, 11), LOCO: 14}
BLUE, RED = {"blue": 3}, {"red": 3}
Payment = dict[str, int]


def accepted_payments(game: MarketGame, route: str, cards: int) -> list[Payment]:
    """Every payment of so many colour cards and locomotives that a seat with plenty of each may pay with."""
    rows = combinations_with_replacement((*COLORS, LOCO), cards)
    payments = [{card: row.count(card) for card in row} for row in rows]
    return [payment for payment in payments if pays(game, route, payment)]


def pays(game: MarketGame, route: str, payment: Payment) -> bool:
    scene = given(4, rules=game.rules, hands=[PLENTY]).when(0, ClaimRoute(route, payment))
    if scene.events_of(RouteClaimed):
        return True
    scene.refused("ROUTE-2")
    return False


@IN_EVERY_MARKET_GAME
def test_ROUTE_1_an_open_route_of_the_board_is_claimed_and_no_other(game: MarketGame) -> None:
    scene = given(rules=game.rules, hands=[PLENTY, PLENTY]).when(0, ClaimRoute(game.blue, BLUE))
    assert scene.state.own.route_owners == {game.blue: 0}
    scene.when(1, ClaimRoute(game.blue, BLUE)).refused("ROUTE-1")
    scene.when(1, ClaimRoute("atlantis-eldorado-a", BLUE)).refused("ROUTE-1")


@IN_EVERY_MARKET_GAME
def test_ROUTE_2_a_blue_route_of_three_has_four_payments(game: MarketGame) -> None:
    expected: list[Payment] = [BLUE, {"blue": 2, LOCO: 1}, {"blue": 1, LOCO: 2}, {LOCO: 3}]
    assert accepted_payments(game, game.blue, 3) == expected
    assert accepted_payments(game, game.blue, 2) == []


@IN_EVERY_MARKET_GAME
def test_ROUTE_2_a_gray_route_of_two_takes_any_one_colour_with_locomotives_or_these_alone(
    game: MarketGame,
) -> None:
    fits = accepted_payments(game, game.gray, 2)
    assert all(example in fits for example in ({"red": 2}, {"yellow": 1, LOCO: 1}, {LOCO: 2}))
    assert len(fits) == 2 * len(COLORS) + 1


@IN_EVERY_MARKET_GAME
def test_ROUTE_3_one_pays_with_cards_that_one_holds(game: MarketGame) -> None:
    scene = given(rules=game.rules, hands=[{"blue": 2, "red": 9}])
    scene.when(0, ClaimRoute(game.blue, BLUE)).refused("ROUTE-3")
    scene.when(0, ClaimRoute(game.blue, {"blue": 2, LOCO: 1})).refused("ROUTE-3")


@IN_EVERY_MARKET_GAME
def test_ROUTE_4_a_car_for_every_space_and_the_cars_stay_on_the_board(game: MarketGame) -> None:
    given(rules=game.rules, hands=[PLENTY], cars=[2]).when(0, ClaimRoute(game.blue, BLUE)).refused("ROUTE-4")
    scene = given(2, rules=game.rules, hands=[PLENTY], cars=[20]).when(0, ClaimRoute(game.blue, BLUE))
    scene.when(1, DrawBlind(), DrawBlind()).when(0, ClaimRoute(game.far, RED))
    assert scene.seat_state(0).own.cars == 20 - 3 - 3


@IN_EVERY_MARKET_GAME
def test_ROUTE_5_one_route_a_turn_that_need_not_touch_the_others(game: MarketGame) -> None:
    scene = given(2, rules=game.rules, hands=[PLENTY]).when(0, ClaimRoute(game.blue, BLUE))
    scene.when(0, ClaimRoute(game.far, RED)).refused("TURN-1")
    scene.when(1, DrawBlind(), DrawBlind())
    scene.when(0, ClaimRoute(game.far, RED)).then_types(RouteClaimed, TurnStarted)


@IN_EVERY_MARKET_GAME
def test_ROUTE_6_the_cards_go_to_the_discard_pile_and_the_points_come_at_once(game: MarketGame) -> None:
    scene = given(rules=game.rules, hands=[PLENTY]).when(0, ClaimRoute(game.blue, {"blue": 2, LOCO: 1}))
    assert {card: n for card, n in scene.state.own.discards.items() if n} == {"blue": 2, LOCO: 1}
    assert (scene.seat_state(0).own.points, scene.seat_state(0).own.cards) == (4, sum(PLENTY.values()) - 3)


@IN_EVERY_MARKET_GAME
@pytest.mark.parametrize("seats", [2, 5])
def test_DOUBLE_1_nobody_owns_two_parallel_routes(game: MarketGame, seats: int) -> None:
    one, other = game.doubles
    scene = given(seats, rules=game.rules, hands=[PLENTY], owners={one: 0})
    scene.when(0, ClaimRoute(other, {game.double_colors[1]: 2})).refused("DOUBLE-1")


@IN_EVERY_MARKET_GAME
@pytest.mark.parametrize("seats", [2, 3, 4, 5])
def test_DOUBLE_2_with_two_or_three_seats_the_parallel_route_is_closed_and_with_more_it_is_open(
    game: MarketGame, seats: int
) -> None:
    one, other = game.doubles
    scene = given(seats, rules=game.rules, hands=[PLENTY] * seats)
    scene.when(0, ClaimRoute(one, {game.double_colors[0]: 2}))
    scene.when(1, ClaimRoute(other, {game.double_colors[1]: 2}))
    if seats <= 3:
        scene.refused("DOUBLE-2")
    else:
        assert scene.state.own.route_owners == {one: 0, other: 1}


@IN_EVERY_MARKET_GAME
def test_SCORE_1_points_are_counted_again_from_the_board(game: MarketGame) -> None:
    scene = given(rules=game.rules, hands=[PLENTY], tickets=[[], []]).when(0, ClaimRoute(game.blue, BLUE))
    assert score(scene.state)[0].routes == scene.seat_state(0).own.points == 4
    scene.seat_state(0).own.points = 5
    with pytest.raises(AssertionError):
        score(scene.state)


WAYS = {
    "usa": ("atlanta:new-york", 6, ("atlanta-raleigh-a", "raleigh-washington-a", "new-york-washington-a")),
    "europe": ("paris:wien", 8, ("frankfurt-paris-a", "frankfurt-munchen-a", "munchen-wien-a")),
    "marklin": ("hannover:leipzig", 6, ("hannover-magdeburg-a", "leipzig-magdeburg-a")),
}


@IN_EVERY_MARKET_GAME
def test_SCORE_2_a_ticket_that_ones_own_routes_join_is_worth_its_value_and_any_other_costs_it(
    game: MarketGame,
) -> None:
    ticket, value, way = WAYS[game.rules]
    whole = given(rules=game.rules, tickets=[[ticket], [ticket]], owners=dict.fromkeys(way, 0))
    assert [seat.tickets for seat in score(whole.state)] == [value, -value]
    broken = given(rules=game.rules, tickets=[[ticket], []], owners={**dict.fromkeys(way, 0), way[0]: 1})
    assert score(broken.state)[0].tickets == -value
