"""TIE-1 in `europe`: how a play-off goes on from game to game, and how it ends."""

from __future__ import annotations

import pytest

from schemas.commands import PlayOff
from schemas.events import PlayOffCalled
from tests.rules.series import WIN, PlayOffSeries


def test_TIE_1_the_first_to_win_three_games_has_won() -> None:
    series = PlayOffSeries().play(1).calls_next(2, 0, 1).play(0).calls_next(3, 1, 1)
    series.play(1).calls_next(4, 1, 2).play(1).ends_with(2)


def test_TIE_1_three_in_a_row_are_enough() -> None:
    PlayOffSeries().play(0).play(0).calls_next(3, 2, 0).play(0).ends_with(0)


def test_TIE_1_five_games_at_most_and_who_has_most_wins_then_has_won() -> None:
    series = PlayOffSeries().play(None).calls_next(2, 0, 0).play(0).play(None).play(None).calls_next(5, 1, 0)
    series.play(None).ends_with(0)


def test_TIE_1_a_tied_game_counts_for_nobody_and_level_seats_share_it_in_the_end() -> None:
    series = PlayOffSeries()
    for number in range(2, 6):
        series.play(None).calls_next(number, 0, 0)
    series.play(None).ends_with(0, 2)
    series = PlayOffSeries().play(0).play(1).play(None).play(None).calls_next(5, 1, 1)
    series.play(None).ends_with(0, 2)


def test_TIE_1_three_seats_can_play_off() -> None:
    series = PlayOffSeries(4, {WIN: 0, "brest-dieppe-a": 1, "berlin-essen-a": 3})
    assert series.scene.events_of(PlayOffCalled)[0].seats == (0, 1, 3)
    series.play(2).play(1).play(2).calls_next(4, 0, 1, 2).play(2).ends_with(3)


@pytest.mark.parametrize(("winner", "winners"), [(0, (0,)), (1, (2,)), (None, (0, 2))])
def test_TIE_1_a_seat_that_leaves_ends_it_with_the_wins_that_there_are(
    winner: int | None, winners: tuple[int, ...]
) -> None:
    PlayOffSeries().play(winner, leaver=1).ends_with(*winners)


def test_TIE_1_best_of_three_where_the_option_says_so() -> None:
    PlayOffSeries(2, {}, options={"play_off": 3}).play(0).calls_next(2, 1, 0).play(0).ends_with(0)
    PlayOffSeries(2, {}, options={"play_off": 1}).play(None).ends_with(0, 1)


def test_TIE_1_a_play_off_game_knows_what_it_belongs_to() -> None:
    series = PlayOffSeries().play(1).play(1)
    assert series.scene.state.play_off == PlayOff("scene", 2, (0, 2), (0, 1))
    assert series.scene.state.next_play_off is not None
