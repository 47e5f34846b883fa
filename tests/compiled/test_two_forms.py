"""What `make fast-check` rests on: a game is the same each time, and a difference or a wrong form is noticed."""

from __future__ import annotations

import pytest

from services.referee.games import RULESETS, legal
from tests.compiled.two_forms import PlayedGame, differences, play, play_in_process, read_games

STEPS = 25


def test_a_game_is_the_same_each_time_and_no_other() -> None:
    numbers = range(1, 1 + len(RULESETS))
    played = [play(number, STEPS) for number in numbers]
    assert played == [play(number, STEPS) for number in numbers]
    assert len({game.digest for game in played}) == len(played)
    assert min(game.entries for game in played) >= STEPS


def test_a_process_in_pure_python_plays_the_same_game() -> None:
    with play_in_process(2, 3, compiled=False) as process:
        assert process.stdout is not None
        assert read_games(process.stdout.read().splitlines(), compiled=False) == [play(2)]


def test_a_difference_is_named() -> None:
    games = [PlayedGame(number, 10, "a") for number in range(3)]
    assert [*differences(games, games)] == []
    assert [*differences(games, [games[0], games[1]._replace(digest="b"), games[2]])] == [1]


def test_a_difference_in_what_is_legal_shows(monkeypatch: pytest.MonkeyPatch) -> None:
    before = play(2, STEPS)
    monkeypatch.setattr("tests.rules.random_games.legal", lambda state, seat: legal(state, seat)[::-1])
    assert [*differences([before], [play(2, STEPS)])] == [2]


def test_games_of_the_wrong_form_are_not_compared() -> None:
    with pytest.raises(AssertionError, match="the rules were pure Python"):
        read_games(["pure Python (why)", "0 10 a"], compiled=True)
    with pytest.raises(AssertionError, match="nothing was played"):
        read_games([], compiled=True)
