"""A frozen game is the game that was frozen, and takes little room."""

from __future__ import annotations

from operator import attrgetter
from random import Random
from types import SimpleNamespace
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from services.referee.rules import RULESETS, GameState, fold
from services.referee.rules.seat_state import SeatState
from services.referee.slots import attribute_writer
from services.referee.snapshots import RARE_FIELDS, SHARED_FIELDS, SnapshotCache
from tests.rules.given import full_state
from tests.rules.random_games import RANDOM_GAMES, RandomGame

GAME = "game-one"
HEAD = b"h" * 32
PLENTY = 1 << 30
REPEATABLE = settings(derandomize=True, deadline=None, suppress_health_check=list(HealthCheck))
by_reference = attrgetter(*SHARED_FIELDS, *RARE_FIELDS)


# -- one frozen game ---------------------------------------------------------------------


def told(table: GameState) -> dict[str, Any]:
    """All there is on a table, in whatever order a rule might meet it."""
    told = full_state(table)
    return told | {"order of": [[*held] for held in told.values() if isinstance(held, dict)]}


@pytest.mark.parametrize("rules", RULESETS)
def test_P7_a_thawed_table_is_the_table_folded_anew(rules: str) -> None:
    """Whole games go on with the thawed table, at any moment of a game of any ruleset."""

    @settings(REPEATABLE, max_examples=12)
    @given(play=RANDOM_GAMES[rules], often=st.sampled_from([1, 7]))
    def check(play: RandomGame, often: int) -> None:
        freezer = SnapshotCache(PLENTY)
        for number in play.steps():
            if number % often == 0:
                before = play.state
                freezer.put(GAME, before, HEAD, number)
                play.state, beside = thawed(freezer)
                assert beside == number
                assert play.state is not before
                assert all(map(same, by_reference(play.state), by_reference(before)))
            if number % 25 == 0:
                assert told(play.state) == told(fold(play.log))
        assert told(play.state) == told(fold(play.log))

    check()


def same(one: object, other: object) -> bool:
    return one is other


def test_P7_what_happens_at_a_thawed_table_leaves_the_frozen_one_alone() -> None:
    play = midway(1)
    freezer = SnapshotCache(PLENTY)
    freezer.put(GAME, play.state, HEAD, None)
    before = told(play.state)
    for _ in play.steps():
        pass
    assert told(thawed(freezer)[0]) == before


def test_P7_a_game_can_be_thawed_again_and_again() -> None:
    """What was taken and put back is as it was, whatever happened at the table meanwhile."""
    play, freezer = midway(1), SnapshotCache(PLENTY)
    freezer.put(GAME, play.state, HEAD, None)
    before = told(play.state)
    for _ in range(2):
        frozen = freezer.pop(GAME)
        assert frozen is not None
        play.state, _ = frozen.restore()
        assert told(play.state) == before
        next(iter(play.steps()))
        freezer.put_back(GAME, frozen)


def test_P7_every_slot_of_a_state_is_packed_and_restored() -> None:
    """A new slot needs no line in the packing: each is given a value of its own here."""
    state, cache = midway(1).state, SnapshotCache(PLENTY)
    kept = {name: getattr(state, name) for name in (*SHARED_FIELDS, "seats", "open_routes")}
    marks = {name: f"mark of {name}" for name in GameState.__slots__ if name not in kept}
    seat_marks = {name: f"mark of {name}" for name in SeatState.__slots__}
    for name, mark in marks.items():
        setattr(state, name, mark)
    for seat_state in state.seats:
        for name, mark in seat_marks.items():
            setattr(seat_state, name, {mark} if name == "blocked_parallels" else mark)
    cache.put(GAME, state, HEAD, None)
    restored, _ = thawed(cache)
    assert {name: getattr(restored, name) for name in marks} == marks
    assert [restored.open_routes, *by_reference(restored)] == [state.open_routes, *by_reference(state)]
    for seat_state in restored.seats:
        seat_values = {name: getattr(seat_state, name) for name in SeatState.__slots__}
        assert seat_values == seat_marks | {"blocked_parallels": {"mark of blocked_parallels"}}
    assert len(restored.seats) == 4


def test_a_writer_of_attributes_takes_exactly_as_many_values() -> None:
    write = attribute_writer(("a", "b"))
    for values in ((1,), (1, 2, 3)):
        with pytest.raises(ValueError, match="unpack"):
            write(SimpleNamespace(), values)


def thawed(freezer: SnapshotCache, game: str = GAME) -> tuple[GameState, Any]:
    frozen = freezer.pop(game)
    assert frozen is not None
    return frozen.restore()


def midway(seed: int, steps: int = 60, board: str = "usa") -> RandomGame:
    play = RandomGame(Random(seed), board, 4)
    for number in play.steps():
        if number == steps:
            break
    return play


# -- many of them --------------------------------------------------------------------------


def test_P9_frozen_games_never_take_more_than_their_bytes() -> None:
    most = 1_000_000
    freezer, tables = SnapshotCache(most), [midway(seed, 30).state for seed in range(8)]
    for number in range(400):
        freezer.put(f"game-{number}", tables[number % 8], HEAD, b"x" * 5_000)
        assert freezer.total_bytes <= most
    assert 50 < len(freezer) < 200
    assert "game-399" in freezer and "game-0" not in freezer


def test_P9_a_ground_counts_once_for_all_games_that_share_it_and_leaves_with_the_last() -> None:
    freezer = SnapshotCache(PLENTY)
    freezer.put("one", midway(1, 5).state, HEAD, None)
    first = freezer.total_bytes
    freezer.put("two", midway(2, 5).state, HEAD, None)
    assert freezer.total_bytes - first < first / 5
    freezer.put("elsewhere", midway(3, 5, "europe").state, HEAD, None)
    assert freezer.total_bytes > 2 * first
    for game in ("one", "two", "elsewhere", "never there"):
        freezer.discard(game)
    assert (freezer.total_bytes, len(freezer)) == (0, 0)


def test_P9_games_of_one_kind_share_their_figures() -> None:
    freezer, tables = SnapshotCache(PLENTY), [fold(midway(seed, 5).log) for seed in (1, 2)]
    assert tables[0].rule_options is not tables[1].rule_options
    for game, table in zip(("one", "two"), tables, strict=True):
        freezer.put(game, table, HEAD, None)
    one, two = (thawed(freezer, game)[0] for game in ("one", "two"))
    assert one.rule_options is two.rule_options
    assert one.rule_options == tables[0].rule_options


def test_P9_a_game_that_is_put_back_counts_as_before_with_what_was_added() -> None:
    freezer = SnapshotCache(PLENTY)
    freezer.put("one", midway(1, 5).state, HEAD, None)
    first = freezer.total_bytes
    frozen = freezer.pop("one")
    assert frozen is not None and freezer.total_bytes == 0
    freezer.put_back("one", frozen)
    assert freezer.total_bytes == first
    freezer.put_back("one", frozen._replace(tail=(b"x" * 1_000,) * 3))
    assert first + 3_000 < freezer.total_bytes < first + 3_300


def test_P9_a_game_that_is_put_back_shares_the_ground_of_those_that_came_meanwhile() -> None:
    freezer = SnapshotCache(PLENTY)
    freezer.put("one", midway(1, 5).state, HEAD, None)
    frozen = freezer.pop("one")
    assert frozen is not None
    freezer.put("two", fold(midway(2, 5).log), HEAD, None)
    second = freezer.total_bytes
    freezer.put_back("one", frozen)
    assert freezer.total_bytes - second == frozen.size_bytes()
    one, two = (thawed(freezer, game)[0] for game in ("one", "two"))
    assert one.rule_options is two.rule_options
    assert (freezer.total_bytes, len(freezer)) == (0, 0)
