"""The rounds of a knock-out: who plays whom, who goes on, when it is over."""

from __future__ import annotations

import json
from collections.abc import Sequence
from pathlib import Path

import pytest

from schemas.errors import InvalidInputError
from services.tournament.game_results import GameResult, PlannedGame, SeatResult
from services.tournament.knock_out import (
    GameOutcome,
    Groups,
    begin_knock_out,
    finish_round,
    group_players,
    knock_out_setting,
    outcome_of,
    play_knock_out,
    run_knock_out,
)
from services.tournament.viewed_game import GameSetting
from tests.cli.command_line import run_in_process


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

    def __call__(self, groups: Groups) -> list[GameOutcome]:
        return [self.play(players) for players in groups]

    def play(self, players: Sequence[int]) -> GameOutcome:
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


# -- played by policies ----------------------------------------------------------------------


def seat(policy: str, place: int, removed: bool = False) -> SeatResult:
    return SeatResult(policy, place, 0, {}, {}, removed)


def test_CONDUCT_2_who_was_removed_has_no_rank() -> None:
    seats = (seat("a", 1, removed=True), seat("b", 1), seat("c", 2), seat("d", 2, removed=True))
    assert outcome_of(GameResult(0, "s", None, seats)) == (((1,), (2,)), (0, 3))


def test_every_game_of_a_knock_out_has_a_deal_of_its_own_and_turns_in_the_order_of_sign_up() -> None:
    rounds = list[list[PlannedGame]]()

    def older_wins(planned: Sequence[PlannedGame]) -> list[GameResult]:
        rounds.append([*planned])
        return [
            GameResult(each.block, each.seed, None, tuple(map(seat, each.policies, range(1, 9))))
            for each in planned
        ]

    played = play_knock_out("abcdefghijk", "trains", None, "x", older_wins)
    assert [[each.policies for each in games] for games in rounds] == [
        [(*"abcdefgh",), (*"ijk",)],
        [(*"ai",)],
    ]
    assert [each.seed for each in played.games] == ["x/0", "x/1", "x/2"]
    assert played.result == ((0,), ())
    assert knock_out_setting(GameSetting("trains", None, {"cars": 9})).options == {
        "order": "seated",
        "cars": 9,
    }


def test_a_knock_out_needs_two_players() -> None:
    with pytest.raises(InvalidInputError) as error:
        play_knock_out(["greedy"], "trains", None, "x", lambda planned: [])
    assert error.value.field == "--policies"
    with pytest.raises(InvalidInputError) as error:
        play_knock_out(["greedy"] * 3, "trains", 2, "x", lambda planned: [])
    assert error.value.field == "--seats"


KNOCK_OUT = ("tournament", "--knock-out", "--rules", "trains", "--option", "cars=9", "--policies")


def test_the_command_plays_a_knock_out() -> None:
    done = run_in_process(
        *KNOCK_OUT, "hold-10,buy-now,buy-now,buy-now", "--seats", "3", "--fast", "--processes", "1"
    )
    assert "Winners: " in done.stdout and "1 hold-10" in done.stdout
    refused = run_in_process(*KNOCK_OUT, "hold-10,buy-now", "--fast", "--games", "3")
    assert refused.returncode == 2 and "--games" in refused.stderr


@pytest.mark.long
def test_a_logged_knock_out_ends_as_the_same_one_of_fast(tmp_path: Path) -> None:
    policies = ",".join(["hold-10", "buy-now", "greedy"] * 3)
    fast = json.loads(run_in_process(*KNOCK_OUT, policies, "--fast", "--processes", "1", "--json").stdout)
    logged = json.loads(run_in_process(*KNOCK_OUT, policies, "--json", data=tmp_path).stdout)
    assert logged["knock_out"]["winners"] == fast["knock_out"]["winners"]
    games = [game["game"] for games in logged["knock_out"]["rounds"] for game in games]
    replayed = run_in_process("replay", games[-1], data=tmp_path)
    assert "The game is over" in replayed.stdout
