"""TIE-1 in `europe`: how a play-off goes on from game to game, and how it ends."""

from __future__ import annotations

import pytest

from schemas.commands import PlayOff
from schemas.events import PlayOffCalled
from tests.rules.series import WIN, Series


def test_TIE_1_the_first_to_win_three_games_has_won() -> None:
    series = Series().played(1).goes_on(2, 0, 1).played(0).goes_on(3, 1, 1)
    series.played(1).goes_on(4, 1, 2).played(1).ended(2)


def test_TIE_1_three_in_a_row_are_enough() -> None:
    Series().played(0).played(0).goes_on(3, 2, 0).played(0).ended(0)


def test_TIE_1_five_games_at_most_and_who_has_most_wins_then_has_won() -> None:
    series = Series().played(None).goes_on(2, 0, 0).played(0).played(None).played(None).goes_on(5, 1, 0)
    series.played(None).ended(0)


def test_TIE_1_a_tied_game_counts_for_nobody_and_level_seats_share_it_in_the_end() -> None:
    series = Series()
    for number in range(2, 6):
        series.played(None).goes_on(number, 0, 0)
    series.played(None).ended(0, 2)
    series = Series().played(0).played(1).played(None).played(None).goes_on(5, 1, 1)
    series.played(None).ended(0, 2)


def test_TIE_1_three_seats_can_play_off() -> None:
    series = Series(4, {WIN: 0, "brest-dieppe-a": 1, "berlin-essen-a": 3})
    assert series.scene.told(PlayOffCalled)[0].seats == (0, 1, 3)
    series.played(2).played(1).played(2).goes_on(4, 0, 1, 2).played(2).ended(3)


@pytest.mark.parametrize(("winner", "winners"), [(0, (0,)), (1, (2,)), (None, (0, 2))])
def test_TIE_1_a_seat_that_leaves_ends_it_with_the_wins_that_there_are(
    winner: int | None, winners: tuple[int, ...]
) -> None:
    Series().played(winner, leaver=1).ended(*winners)


def test_TIE_1_best_of_three_where_the_option_says_so() -> None:
    Series(2, {}, options={"play_off": 3}).played(0).goes_on(2, 1, 0).played(0).ended(0)
    Series(2, {}, options={"play_off": 1}).played(None).ended(0, 1)


def test_TIE_1_the_table_of_a_play_off_knows_what_it_belongs_to() -> None:
    series = Series().played(1).played(1)
    assert series.scene.table.play_off == PlayOff("scene", 2, (0, 2), (0, 1))
    assert series.scene.table.next_play_off is not None
