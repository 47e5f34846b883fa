"""The rules of `tricks`, one test or more for each."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import pytest

from schemas.commands import CreateGame, Leave, SeatPlan, StartGame
from schemas.events import DeckShuffled, GameEnded, HandDealt, SeatGone, SeedRevealed, TurnStarted
from schemas.field_types import Seat
from services.referee.games.appliers import evolve
from services.referee.games.tricks import DECK, CardPlayed, PlayCard, TrickTaken
from tests.rules.given import Scene, create_from


def dealt(seats: int = 3) -> Scene:
    """A game just dealt."""
    plans = (SeatPlan("bot", "random"),) * seats
    return create_from(CreateGame(plans, "tricks", seed="tricks")).when(None, StartGame())


def given(*hands: str, trick: Sequence[tuple[Seat, str]] = (), turn: Seat = 0, taken: str = "") -> Scene:
    """A game in which the seats have these cards, and have taken so many tricks."""
    scene = dealt(len(hands))
    state = scene.state
    state.own.trick = [*trick]
    for seat, (seat_state, hand) in enumerate(zip(state.seats, hands, strict=True)):
        seat_state.own.cards = hand.split()
        seat_state.own.tricks = int(taken.split()[seat]) if taken else 0
    evolve(state, TurnStarted(turn))
    return scene


def result(scene: Scene) -> list[tuple[Any, ...]]:
    """The tricks, total and place of each seat."""
    (ended,) = scene.events_of(GameEnded)
    return [(score.parts["tricks"], score.total, score.place) for score in ended.scores]


# -- the deal ----------------------------------------------------------------------------------


@pytest.mark.parametrize("seats", [3, 4, 5])
def test_DEAL_1_the_whole_deck_is_dealt_evenly_and_the_first_seat_leads(seats: int) -> None:
    scene = dealt(seats)
    (shuffled,) = scene.events_of(DeckShuffled)
    hands = [card for event in scene.events_of(HandDealt) for card in event.cards]
    assert sorted(shuffled.order) == sorted(hands) == sorted(DECK)
    assert {len(seat_state.own.cards) for seat_state in scene.state.seats} == {60 // seats}
    assert (scene.state.turn, scene.state.own.deck) == (0, [])


@pytest.mark.parametrize("seats", [2, 6])
def test_DEAL_1_two_seats_are_too_few_and_six_too_many(seats: int) -> None:
    with pytest.raises(Exception, match=r"seats: tricks is for 3 to 5"):
        dealt(seats)


# -- a trick -----------------------------------------------------------------------------------


def test_HAND_1_a_card_of_ones_own_is_played_and_leaves_the_hand() -> None:
    scene = given("clubs-1 hearts-2", "clubs-3", "clubs-4").when(0, PlayCard("hearts-2"))
    scene.then(CardPlayed(0, "hearts-2"), TurnStarted(1))
    assert (scene.seat_state(0).own.cards, scene.state.own.trick) == (["clubs-1"], [(0, "hearts-2")])


@pytest.mark.parametrize("card", ["clubs-3", "clubs-99"])
def test_HAND_1_a_card_that_another_seat_has_or_nobody_is_refused(card: str) -> None:
    given("clubs-1 hearts-2", "clubs-3", "clubs-4").when(0, PlayCard(card)).refused("HAND-1")


def test_FOLLOW_1_who_holds_the_suit_that_was_led_plays_it() -> None:
    scene = given("clubs-1", "clubs-3 clubs-9 hearts-15", "clubs-4", trick=[(0, "clubs-2")], turn=1)
    assert scene.legal(1) == [PlayCard("clubs-3"), PlayCard("clubs-9")]
    scene.when(1, PlayCard("hearts-15")).refused("FOLLOW-1")
    scene.when(1, PlayCard("clubs-9")).then(CardPlayed(1, "clubs-9"), TurnStarted(2))


def test_FOLLOW_1_who_holds_none_of_that_suit_plays_any_card() -> None:
    scene = given("clubs-1", "spades-3 hearts-15", "clubs-4", trick=[(0, "clubs-2")], turn=1)
    assert scene.legal(1) == [PlayCard("spades-3"), PlayCard("hearts-15")]
    scene.when(1, PlayCard("hearts-15")).then_types(CardPlayed, TurnStarted)


def test_FOLLOW_1_who_leads_plays_any_card() -> None:
    assert len(given("clubs-1 hearts-2 spades-3", "clubs-3", "clubs-4").legal(0)) == 3


def test_TURN_1_who_is_not_to_play_is_refused() -> None:
    given("clubs-1", "clubs-3", "clubs-4").when(1, PlayCard("clubs-3")).refused("TURN-1")


def test_TRICK_1_the_highest_card_of_the_suit_that_was_led_takes_the_trick_and_leads() -> None:
    trick = [(1, "clubs-9"), (2, "hearts-15")]
    scene = given("clubs-10 spades-1", "spades-2", "spades-4", trick=trick)
    scene.when(0, PlayCard("clubs-10")).then(CardPlayed(0, "clubs-10"), TrickTaken(0), TurnStarted(0))
    assert (scene.seat_state(0).own.tricks, scene.state.own.trick) == (1, [])


def test_TRICK_1_a_higher_card_of_another_suit_takes_nothing() -> None:
    trick = [(1, "clubs-2"), (2, "clubs-1")]
    scene = given("hearts-15 spades-1", "spades-2", "spades-4", trick=trick)
    scene.when(0, PlayCard("hearts-15")).then(CardPlayed(0, "hearts-15"), TrickTaken(1), TurnStarted(1))


# -- the end -----------------------------------------------------------------------------------


def test_SCORE_1_each_trick_is_a_point_and_equal_points_share_a_place() -> None:
    scene = given("clubs-9", "", "", trick=[(1, "clubs-2"), (2, "clubs-1")], taken="3 4 1")
    scene.when(0, PlayCard("clubs-9")).then_types(CardPlayed, TrickTaken, SeedRevealed, GameEnded)
    assert result(scene) == [(4, 4, 1), (4, 4, 1), (1, 1, 3)]


def test_CONDUCT_3_the_game_ends_when_a_seat_leaves_which_comes_last() -> None:
    scene = given("clubs-1 hearts-2", "clubs-3", "clubs-4", taken="5 0 2", turn=1).when(0, Leave())
    scene.then_types(SeatGone, SeedRevealed, GameEnded)
    assert result(scene) == [(5, 5, 3), (0, 0, 2), (2, 2, 1)]
