"""A frozen game is the game that was frozen, and takes little room."""

from __future__ import annotations

from operator import attrgetter
from random import Random
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from services.referee.rules import RULESETS, Table, fold
from services.referee.snapshots import GROUND, SELDOM, Freezer
from tests.rules.given import everything
from tests.rules.random_games import Play, games

GAME = "game-one"
HEAD = b"h" * 32
PLENTY = 1 << 30
REPEATABLE = settings(derandomize=True, deadline=None, suppress_health_check=list(HealthCheck))
by_reference = attrgetter(*GROUND, *SELDOM)


# -- one frozen game ---------------------------------------------------------------------


def told(table: Table) -> dict[str, Any]:
    """All there is on a table, in whatever order a rule might meet it."""
    told = everything(table)
    return told | {"order of": [[*held] for held in told.values() if isinstance(held, dict)]}


@pytest.mark.parametrize("rules", RULESETS)
def test_P7_a_thawed_table_is_the_table_folded_anew(rules: str) -> None:
    """Whole games go on with the thawed table, at any moment of a game of any ruleset."""

    @settings(REPEATABLE, max_examples=12)
    @given(play=games[rules], often=st.sampled_from([1, 7]))
    def check(play: Play, often: int) -> None:
        freezer = Freezer(PLENTY)
        for number in play.steps():
            if number % often == 0:
                before = play.table
                freezer.put(GAME, before, HEAD, number)
                play.table, beside = thawed(freezer)
                assert beside == number
                assert play.table is not before
                assert all(map(same, by_reference(play.table), by_reference(before)))
            if number % 25 == 0:
                assert told(play.table) == told(fold(play.log))
        assert told(play.table) == told(fold(play.log))

    check()


def same(one: object, other: object) -> bool:
    return one is other


def test_P7_what_happens_at_a_thawed_table_leaves_the_frozen_one_alone() -> None:
    play = midway(1)
    freezer = Freezer(PLENTY)
    freezer.put(GAME, play.table, HEAD, None)
    before = told(play.table)
    for _ in play.steps():
        pass
    assert told(thawed(freezer)[0]) == before


def test_P7_a_game_can_be_thawed_again_and_again() -> None:
    """What was taken and put back is as it was, whatever happened at the table meanwhile."""
    play, freezer = midway(1), Freezer(PLENTY)
    freezer.put(GAME, play.table, HEAD, None)
    before = told(play.table)
    for _ in range(2):
        frozen = freezer.take(GAME)
        assert frozen is not None
        play.table, _ = frozen.thaw()
        assert told(play.table) == before
        next(iter(play.steps()))
        freezer.put_back(GAME, frozen)


def thawed(freezer: Freezer, game: str = GAME) -> tuple[Table, Any]:
    frozen = freezer.take(game)
    assert frozen is not None
    return frozen.thaw()


def midway(seed: int, steps: int = 60, board: str = "usa") -> Play:
    play = Play(Random(seed), board, 4)
    for number in play.steps():
        if number == steps:
            break
    return play


# -- many of them --------------------------------------------------------------------------


def test_P9_frozen_games_never_take_more_than_their_bytes() -> None:
    most = 1_000_000
    freezer, tables = Freezer(most), [midway(seed, 30).table for seed in range(8)]
    for number in range(400):
        freezer.put(f"game-{number}", tables[number % 8], HEAD, b"x" * 5_000)
        assert freezer.bytes <= most
    assert 50 < len(freezer) < 200
    assert "game-399" in freezer and "game-0" not in freezer


def test_P9_a_ground_counts_once_for_all_games_that_share_it_and_leaves_with_the_last() -> None:
    freezer = Freezer(PLENTY)
    freezer.put("one", midway(1, 5).table, HEAD, None)
    first = freezer.bytes
    freezer.put("two", midway(2, 5).table, HEAD, None)
    assert freezer.bytes - first < first / 5
    freezer.put("elsewhere", midway(3, 5, "europe").table, HEAD, None)
    assert freezer.bytes > 2 * first
    for game in ("one", "two", "elsewhere", "never there"):
        freezer.drop(game)
    assert (freezer.bytes, len(freezer)) == (0, 0)


def test_P9_games_of_one_kind_share_their_figures() -> None:
    freezer, tables = Freezer(PLENTY), [fold(midway(seed, 5).log) for seed in (1, 2)]
    assert tables[0].figures is not tables[1].figures
    for game, table in zip(("one", "two"), tables, strict=True):
        freezer.put(game, table, HEAD, None)
    one, two = (thawed(freezer, game)[0] for game in ("one", "two"))
    assert one.figures is two.figures
    assert one.figures == tables[0].figures


def test_P9_a_game_that_is_put_back_counts_as_before_with_what_was_added() -> None:
    freezer = Freezer(PLENTY)
    freezer.put("one", midway(1, 5).table, HEAD, None)
    first = freezer.bytes
    frozen = freezer.take("one")
    assert frozen is not None and freezer.bytes == 0
    freezer.put_back("one", frozen)
    assert freezer.bytes == first
    freezer.put_back("one", frozen._replace(since=(b"x" * 1_000,) * 3))
    assert first + 3_000 < freezer.bytes < first + 3_300


def test_P9_a_game_that_is_put_back_shares_the_ground_of_those_that_came_meanwhile() -> None:
    freezer = Freezer(PLENTY)
    freezer.put("one", midway(1, 5).table, HEAD, None)
    frozen = freezer.take("one")
    assert frozen is not None
    freezer.put("two", fold(midway(2, 5).log), HEAD, None)
    second = freezer.bytes
    freezer.put_back("one", frozen)
    assert freezer.bytes - second == frozen.bytes()
    one, two = (thawed(freezer, game)[0] for game in ("one", "two"))
    assert one.figures is two.figures
    assert (freezer.bytes, len(freezer)) == (0, 0)
