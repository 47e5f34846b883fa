"""CARD-1, 2, 4, 5 and MARKET-1, 2: drawing, the deck and the market."""

from __future__ import annotations

import pytest

from schemas.commands import CreateGame, Leave, SeatPlan, StartGame
from schemas.events import DeckShuffled, GameStarted, HandDealt, SeatGone, TurnStarted
from schemas.trains.commands import ClaimRoute, DrawBlind, DrawMarket
from schemas.trains.events import (
    CardDrawn,
    DeckRecreated,
    MarketCardTaken,
    MarketFilled,
    MarketFlushed,
    RouteClaimed,
)
from schemas.trains.field_types import COLORS
from schemas.trains.positions import Position
from services.referee.games import redact_for
from tests.rules.given import MARKET, create_from, given, started

LOCO = "locomotive"


def test_CARD_1_two_blind_cards_are_a_draw() -> None:
    scene = given(deck=["red", "blue", "green"])
    scene.when(0, DrawBlind()).then(CardDrawn(0, "red"))
    scene.when(0, DrawBlind()).then(CardDrawn(0, "blue"), TurnStarted(1))


def test_CARD_1_the_gap_is_filled_before_the_second_card_which_may_be_that_one() -> None:
    scene = given(deck=["black", "orange", "red"], hands=[{}])
    scene.when(0, DrawMarket(1)).then(MarketCardTaken(0, 1, "blue"), MarketFilled((1,), ("black",)))
    scene.when(0, DrawMarket(1)).then(
        MarketCardTaken(0, 1, "black"), MarketFilled((1,), ("orange",)), TurnStarted(1)
    )
    assert (scene.seat_state(0).own.hand["blue"], scene.seat_state(0).own.hand["black"]) == (1, 1)


def test_CARD_1_one_face_up_and_one_blind_in_either_order() -> None:
    given().when(0, DrawBlind(), DrawMarket(0)).then_types(MarketCardTaken, MarketFilled, TurnStarted)
    given().when(0, DrawMarket(0), DrawBlind()).then_types(CardDrawn, TurnStarted)


def test_CARD_1_a_market_card_may_be_named_by_its_kind() -> None:
    given(deck=["red"]).when(0, DrawMarket(color="green")).then(
        MarketCardTaken(0, 2, "green"), MarketFilled((2,), ("red",))
    )


@pytest.mark.parametrize("draw", [DrawMarket(color="black"), DrawMarket(5), DrawMarket(9)])
def test_CARD_1_a_card_that_is_not_in_the_market_is_not_drawn(draw: DrawMarket) -> None:
    given().when(0, draw).refused("CARD-1")


def test_CARD_1_a_gap_is_no_card() -> None:
    given(market=("red", None, None, None, None), deck=[]).when(0, DrawMarket(1)).refused("CARD-1")


def test_CARD_2_a_face_up_locomotive_is_the_whole_draw() -> None:
    scene = given(market=(LOCO, "red", "red", "red", "red"), deck=["blue"])
    scene.when(0, DrawMarket(0)).then(
        MarketCardTaken(0, 0, "locomotive"), MarketFilled((0,), ("blue",)), TurnStarted(1)
    )


@pytest.mark.parametrize("draw", [DrawMarket(0), DrawMarket(color="locomotive")])
def test_CARD_2_a_face_up_locomotive_is_no_second_card(draw: DrawMarket) -> None:
    scene = given(market=(LOCO, "red", "red", "red", "red")).when(0, DrawBlind())
    assert DrawMarket(0) not in scene.legal(0)
    scene.when(0, draw).refused("CARD-2")


def test_CARD_2_nor_is_one_that_was_turned_up_after_the_first_card() -> None:
    scene = given(deck=[LOCO, "red"]).when(0, DrawMarket(0))
    scene.when(0, DrawMarket(0)).refused("CARD-2")


def test_CARD_2_a_blind_locomotive_is_one_card() -> None:
    scene = given(deck=[LOCO, LOCO, "red"])
    scene.when(0, DrawBlind()).then(CardDrawn(0, "locomotive"))
    scene.when(0, DrawBlind()).then(CardDrawn(0, "locomotive"), TurnStarted(1))


def test_CARD_4_an_empty_deck_is_rebuilt_from_the_discards_when_a_card_is_wanted() -> None:
    scene = given(deck=[], discards={"red": 7, "blue": 2})
    scene.when(0, DrawBlind()).then_types(DeckShuffled, CardDrawn)
    shuffled, drawn = scene.only(DeckShuffled), scene.only(CardDrawn)
    assert sorted(shuffled.order) == ["blue"] * 2 + ["red"] * 7
    assert shuffled.order[0] == drawn.card
    assert len(scene.state.own.deck) == 8
    assert not any(scene.state.own.discards.values())


def test_CARD_4_the_deck_is_rebuilt_to_fill_a_gap() -> None:
    scene = given(deck=[], discards={"red": 3})
    scene.when(0, DrawMarket(0)).then_types(MarketCardTaken, DeckShuffled, MarketFilled)
    assert None not in scene.state.own.market


def test_CARD_4_the_last_card_is_drawn_without_a_shuffle() -> None:
    given(deck=["red"], discards={"blue": 3}).when(0, DrawBlind()).then_types(CardDrawn)


def test_CARD_4_with_both_empty_blind_draws_are_illegal_and_gaps_stay_open() -> None:
    scene = given(deck=[])
    assert DrawBlind() not in scene.legal(0)
    scene.when(0, DrawBlind()).refused("CARD-4")
    scene.when(0, DrawMarket(0)).then(MarketCardTaken(0, 0, "red"))
    assert scene.state.own.market == [None, *MARKET[1:]]
    scene.when(0, DrawBlind()).refused("CARD-4")
    scene.when(0, DrawMarket(1)).then(MarketCardTaken(0, 1, "blue"), TurnStarted(1))


@pytest.mark.parametrize("rest", [None, LOCO])
def test_CARD_4_the_turn_ends_after_the_first_card_if_no_second_can_be_drawn(rest: str | None) -> None:
    scene = given(deck=[], market=("red", rest, None, None, None))
    scene.when(0, DrawMarket(0)).then(MarketCardTaken(0, 0, "red"), TurnStarted(1))


def test_CARD_4_a_blind_first_card_may_be_the_last_of_all() -> None:
    given(deck=["red"], market=(None,) * 5).when(0, DrawBlind()).then(CardDrawn(0, "red"), TurnStarted(1))


def test_CARD_4_gaps_are_filled_as_soon_as_there_are_cards_again() -> None:
    scene = given(deck=[], market=(None, "red", None, "red", "red"), hands=[{"blue": 3}])
    scene.when(0, ClaimRoute("montreal-new-york-a", {"blue": 3}))
    scene.then_types(RouteClaimed, DeckShuffled, MarketFilled, TurnStarted)
    assert scene.state.own.market == ["blue", "red", "blue", "red", "red"]
    assert scene.state.own.deck == ["blue"]


def test_CARD_5_there_is_no_limit_to_a_hand() -> None:
    scene = given(2, hands=[{"red": 12, "blue": 12, "green": 12, "locomotive": 14}])
    scene.when(0, DrawBlind(), DrawBlind())
    assert scene.seat_state(0).own.cards == 52


def test_MARKET_1_market_cards_are_seen_by_all() -> None:
    scene = given().when(0, DrawMarket(0))
    for viewer in (None, 0, 1):
        assert tuple(redact_for(viewer, event) for event in scene.events) == scene.events


def test_MARKET_1_a_blind_card_is_known_to_its_seat_alone() -> None:
    scene = given(deck=["red", "blue"]).when(0, DrawBlind())
    (drawn,) = scene.exactly(1)
    assert redact_for(0, drawn) == CardDrawn(0, "red")
    for viewer in (None, 1):
        assert redact_for(viewer, drawn) == CardDrawn(0, None)


def test_MARKET_1_dealt_hands_are_known_to_their_seats_alone_and_the_deck_to_nobody() -> None:
    scene = started(2)
    (shuffled,), (first, _) = scene.events_of(DeckShuffled), scene.events_of(HandDealt)
    assert redact_for(0, first) == first
    assert redact_for(1, first) == HandDealt(0, (None,) * 4)
    for viewer in (None, 0, 1):
        assert redact_for(viewer, shuffled) == DeckShuffled((None,) * 110, shuffled.root)


def test_MARKET_2_three_locomotives_flush_all_five() -> None:
    scene = given(
        market=(LOCO, LOCO, "red", "red", "red"),
        deck=[LOCO, "blue", "blue", "green", "green", "white", "black"],
    )
    scene.when(0, DrawMarket(2)).then(
        MarketCardTaken(0, 2, "red"),
        MarketFilled((2,), ("locomotive",)),
        MarketFlushed(),
        MarketFilled((0, 1, 2, 3, 4), ("blue", "blue", "green", "green", "white")),
    )
    assert {k: n for k, n in scene.state.own.discards.items() if n} == {"red": 2, "locomotive": 3}


def test_MARKET_2_two_locomotives_do_not() -> None:
    scene = given(market=(LOCO, "red", "red", "red", "red"), deck=[LOCO, "blue"])
    scene.when(0, DrawMarket(1)).then_types(MarketCardTaken, MarketFilled)


def test_MARKET_2_the_count_is_a_rule_option() -> None:
    scene = given(
        market=("red", "red", "red", "red", "blue"),
        deck=["red", *COLORS],
        options={"flush": {"red": 5}},
    )
    scene.when(0, DrawMarket(4)).then_types(MarketCardTaken, MarketFilled, MarketFlushed, MarketFilled)


def test_MARKET_2_if_the_deck_cannot_give_five_the_discards_go_under_it_first() -> None:
    scene = given(
        market=(LOCO, LOCO, "red", "red", "red"), deck=[LOCO, "blue", "green"], discards={"white": 40}
    )
    scene.when(0, DrawMarket(2))
    scene.then_types(MarketCardTaken, MarketFilled, MarketFlushed, DeckShuffled, MarketFilled)
    assert scene.state.own.market[:2] == ["blue", "green"]
    shuffled = scene.only(DeckShuffled)
    assert sorted(shuffled.order) == sorted(["red"] * 2 + [LOCO] * 3 + ["white"] * 40)


def test_MARKET_2_in_europe_all_the_cards_are_shuffled_together_if_the_deck_cannot_give_five() -> None:
    scene = given(
        rules="europe",
        market=(LOCO, LOCO, "red", "red", "red"),
        deck=[LOCO, "blue", "blue"],
        discards={"white": 40},
    )
    scene.when(0, DrawMarket(2))
    scene.then_types(MarketCardTaken, MarketFilled, MarketFlushed, DeckRecreated, MarketFilled)
    recreated = scene.only(DeckRecreated)
    assert sorted(recreated.order) == sorted(["red"] * 2 + [LOCO] * 3 + ["white"] * 40 + ["blue"] * 2)
    assert tuple(scene.state.own.market) == recreated.order[:5]
    assert scene.state.own.deck[::-1] == list(recreated.order[5:])
    assert not any(scene.state.own.discards.values())


def test_MARKET_2_flushes_that_the_deck_can_pay_for_go_on_until_the_market_is_below_the_count() -> None:
    scene = given(market=(LOCO, LOCO, "red", "red", "blue"), deck=[LOCO] * 36 + ["green"] * 5)
    scene.when(0, DrawMarket(4))
    assert len(scene.events_of(MarketFlushed)) == 8
    assert not scene.events_of(DeckShuffled)
    assert scene.state.own.market == ["green"] * 5


def test_MARKET_2_after_five_reshuffles_in_a_row_the_market_stays_as_it_is() -> None:
    scene = given(market=(LOCO, LOCO, LOCO, LOCO, "red"), deck=[LOCO] * 16)
    scene.when(0, DrawMarket(4))
    assert len(scene.events_of(DeckShuffled)) == 5
    assert len(scene.events_of(MarketFlushed)) > 5
    assert scene.state.own.market == [LOCO] * 5
    assert [type(event) for event in scene.events[-2:]] == [DeckShuffled, MarketFilled]


def test_MARKET_2_the_reshuffle_that_fills_the_first_gap_is_not_one_of_the_five() -> None:
    scene = given(market=("red", *[LOCO] * 4), deck=[], discards={LOCO: 1})
    scene.when(0, DrawMarket(0))
    assert len(scene.events_of(DeckShuffled)) == 1 + 5


def test_MARKET_2_a_market_that_was_left_as_it_was_stays_until_a_card_is_turned_up() -> None:
    scene = given(3, market=(LOCO,) * 4 + ("red",), deck=[LOCO] * 9)
    scene.when(2, Leave()).then(SeatGone(2, "left"))
    scene.when(0, Leave()).then(SeatGone(0, "left"), TurnStarted(1))


def test_MARKET_2_with_no_card_to_turn_up_locomotives_stay_where_they_are() -> None:
    scene = given(market=(LOCO, LOCO, LOCO, "red", None), deck=[])
    scene.when(0, DrawMarket(3)).then(MarketCardTaken(0, 3, "red"), TurnStarted(1))


def test_MARKET_2_three_locomotives_of_a_position_lie_there_until_the_next_gap_is_filled() -> None:
    position = Position(turn=0, market=(LOCO, LOCO, LOCO, "red", "blue"), deck=("green",) * 9)
    scene = create_from(CreateGame((SeatPlan("bot", "random"),) * 2, "usa", position=position))
    scene.when(None, StartGame()).then_types(GameStarted, TurnStarted)
    scene.when(0, DrawBlind()).then_types(CardDrawn)
    scene.when(0, DrawMarket(3))
    scene.then_types(MarketCardTaken, MarketFilled, MarketFlushed, MarketFilled, TurnStarted)
