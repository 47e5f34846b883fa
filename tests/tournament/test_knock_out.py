"""The rounds of a knock-out: who plays whom, who goes on, when it is over."""

from __future__ import annotations

from collections.abc import Sequence

import pytest

from services.tournament.knock_out import (
    GameOutcome,
    begin_knock_out,
    finish_round,
    group_players,
    run_knock_out,
)


@pytest.mark.parametrize(
    ("players", "sizes"),
    [
        (2, [2]),
        (8, [8]),
        (9, [7, 2]),
        (10, [8, 2]),
        (16, [8, 8]),
        (17, [8, 7, 2]),
        (23, [8, 8, 7]),
        (50, [8] * 6 + [2]),
    ],
)
def test_groups_of_up_to_eight_and_at_least_two(players: int, sizes: list[int]) -> None:
    groups = group_players(range(players))
    assert [len(group) for group in groups] == sizes
    assert [player for group in groups for player in group] == list(range(players))


def test_groups_back_up_as_far_as_they_must() -> None:
    assert [len(group) for group in group_players(range(13), min_size=3, max_size=4)] == [4, 3, 3, 3]


class Games:
    """Games that the same players win each time, and a record of who played them."""

    def __init__(self, winners: Sequence[int], cheats: Sequence[int] = ()) -> None:
        self.winners, self.cheats = winners, cheats
        self.played: list[list[int]] = []

    def __call__(self, players: Sequence[int]) -> GameOutcome:
        self.played.append(list(players))
        first = tuple(index for index, player in enumerate(players) if player in self.winners)
        out = tuple(index for index, player in enumerate(players) if player in self.cheats)
        others = tuple(set(range(len(players))) - {*first, *out})
        return GameOutcome(tuple(rank for rank in (first, others) if rank), out)


def test_one_game_of_at_most_eight_decides() -> None:
    games = Games([2, 5])
    assert run_knock_out(8, games) == ((2, 5), ())
    assert len(games.played) == 1


def test_winners_of_a_round_play_the_next_in_their_old_order_and_the_removed_do_not() -> None:
    games = Games([0, 7, 15], cheats=[1, 9])
    assert run_knock_out(16, games) == ((0, 7, 15), (1, 9))
    assert games.played == [[*range(8)], [*range(8, 16)], [0, 7, 15]]


def test_it_ends_when_fewer_than_two_are_left() -> None:
    assert run_knock_out(2, Games([], cheats=[0, 1])) == ((), (0, 1))
    games = Games([3], cheats=[8, 9])
    assert run_knock_out(10, games) == ((3,), (8, 9))
    assert len(games.played) == 2


def test_it_ends_when_a_rounds_winners_are_those_of_the_round_before() -> None:
    odd = tuple(range(1, 20, 2))
    games = Games(odd)
    assert run_knock_out(20, games).winners == odd
    assert [len(group) for group in games.played] == [8, 8, 4, 8, 2]


def test_a_round_whose_winners_failed_at_its_end_has_an_empty_rank_and_nobody_moves_up() -> None:
    knock_out = finish_round(begin_knock_out(3), [GameOutcome(((), (1, 2)), (0,))])
    assert knock_out.groups == ()
    assert knock_out.result == ((), (0,))


def test_a_ruleset_may_seat_fewer_at_a_table() -> None:
    knock_out = begin_knock_out(11, max_size=5)
    assert [len(group) for group in knock_out.groups] == [5, 4, 2]
    assert len(finish_round(knock_out, [GameOutcome(((0, 1),), ())] * 3).groups) == 2
