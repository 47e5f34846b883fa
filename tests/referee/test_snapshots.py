"""A restored game is the game that was packed, and a snapshot takes little memory."""

from __future__ import annotations

import gc
from dataclasses import replace
from operator import attrgetter
from random import Random
from types import SimpleNamespace
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from services.referee.rules import RULESETS, GameState, fold
from services.referee.rules.seat_state import SEAT_FIELDS
from services.referee.rules.state import STATE_FIELDS
from services.referee.shared_setup import SHARED_FIELDS
from services.referee.slots import attribute_writer
from services.referee.snapshots import RARE_FIELDS, SnapshotCache
from tests.long_runs import long_after
from tests.rules.given import full_state
from tests.rules.random_games import RANDOM_GAMES, RandomGame

GAME = "game-one"
REPEATABLE = settings(derandomize=True, deadline=None, suppress_health_check=list(HealthCheck))
by_reference = attrgetter(*SHARED_FIELDS, *RARE_FIELDS)


# -- one packed game ---------------------------------------------------------------------


def contents(state: GameState) -> dict[str, Any]:
    """All of a state, with the order of its dictionaries, which a rule might iterate over."""
    contents = full_state(state)
    return contents | {"order of": [[*held] for held in contents.values() if isinstance(held, dict)]}


@pytest.mark.parametrize("examples", long_after(1, (3, 12)))
@pytest.mark.parametrize("rules", RULESETS)
def test_P7_a_restored_state_is_the_state_folded_anew(rules: str, examples: int) -> None:
    """Whole games go on with the restored state, at any moment of a game of any ruleset."""

    @settings(REPEATABLE, max_examples=examples)
    @given(play=RANDOM_GAMES[rules], often=st.sampled_from([1, 7]))
    def check(play: RandomGame, often: int) -> None:
        cache = SnapshotCache()
        for number in play.steps():
            if number % often == 0:
                before = play.state
                put(cache, GAME, before, number)
                play.state, extra = restored_from(cache)
                assert extra == number
                assert play.state is not before
                assert all(map(same, by_reference(play.state), by_reference(before)))
            if number % 25 == 0:
                assert contents(play.state) == contents(fold(play.log))
        assert contents(play.state) == contents(fold(play.log))

    check()


def same(one: object, other: object) -> bool:
    return one is other


def test_P7_what_happens_to_a_restored_state_leaves_the_snapshot_alone() -> None:
    play = midway(1)
    cache = SnapshotCache()
    put(cache, GAME, play.state)
    before = contents(play.state)
    for _ in play.steps():
        pass
    assert contents(restored_from(cache)[0]) == before


def test_P7_a_game_can_be_restored_again_and_again() -> None:
    """A snapshot is as it was, whatever happened to the state meanwhile."""
    play, cache = midway(1), SnapshotCache()
    snapshot = cache.pack(play.state, None)
    before = contents(play.state)
    for _ in range(2):
        play.state, _ = snapshot.restore()
        assert contents(play.state) == before
        next(iter(play.steps()))


def test_P7_every_field_of_a_state_is_packed_and_restored() -> None:
    """A new field needs no line in the packing: each that can be is given a value of its own here, and one that is left
    out isn't set at all in what is restored."""
    state, cache = midway(1).state, SnapshotCache()
    marked(state, STATE_FIELDS)
    for seat_state in state.seats:
        marked(seat_state, SEAT_FIELDS)
    put(cache, GAME, state)
    restored, _ = restored_from(cache)
    assert [restored.open_routes, *by_reference(restored)] == [state.open_routes, *by_reference(state)]
    for name in set(STATE_FIELDS) - {"seats"}:
        assert getattr(restored, name) == getattr(state, name), name
    for restored_seat, seat_state in zip(restored.seats, state.seats, strict=True):
        for name in SEAT_FIELDS:
            assert getattr(restored_seat, name) == getattr(seat_state, name), name
    assert len(restored.seats) == 4


def test_P7_routes_that_were_opened_again_stand_where_they_stood() -> None:
    state, cache = midway(1).state, SnapshotCache()
    again = next(name for name in state.route_owners if len(state.open_routes[state.board.routes[name].fare]))
    state.open_routes[state.board.routes[again].fare] += (again,)
    put(cache, GAME, state)
    restored, _ = restored_from(cache)
    assert restored.open_routes == state.open_routes


def test_P7_the_routes_of_a_board_of_many_are_restored() -> None:
    state, cache = midway(1).state, SnapshotCache()
    fare, names = next(iter(state.board.fares)), tuple(f"route-{number}" for number in range(1_000))
    state.board = replace(state.board, fares={fare: names})
    state.open_routes = {fare: names[5:]}
    state.route_owners = dict.fromkeys(names[::-300], 1)
    for seat_state in state.seats:
        seat_state.routes, seat_state.blocked_parallels = [*names[999:990:-1]], {*names[300:400]}
    before = contents(state)
    put(cache, GAME, state)
    assert contents(restored_from(cache)[0]) == before


def test_P9_where_games_take_turns_and_not_all_fit_most_are_found_again() -> None:
    cache, kept = SnapshotCache(), midway(1, 5).state
    found = 0
    for turn in range(5):
        for game in range(20):
            if snapshot := cache.pop(f"game-{game}"):
                found += turn > 0
                cache.put(f"game-{game}", snapshot)
            else:
                put(cache, f"game-{game}", kept)
            if len(cache) > 18:
                cache.drop_one()
    assert found > 4 * 20 // 2, "of the last four rounds"


def marked(target: object, names: tuple[str, ...]) -> None:
    """Give each field that holds a number or a string another one, which no other field has."""
    for index, name in enumerate(names):
        value = getattr(target, name)
        if isinstance(value, str):
            setattr(target, name, f"mark of {name}")
        elif isinstance(value, int) and not isinstance(value, bool):
            setattr(target, name, 1_000 + index)


def test_a_writer_of_attributes_takes_exactly_as_many_values() -> None:
    write = attribute_writer(("a", "b"))
    for values in ((1,), (1, 2, 3)):
        with pytest.raises(ValueError, match="unpack"):
            write(SimpleNamespace(), values)


def put(cache: SnapshotCache, game: str, state: GameState, extra: int | None = None) -> None:
    cache.put(game, cache.pack(state, extra))


def restored_from(cache: SnapshotCache, game: str = GAME) -> tuple[GameState, Any]:
    snapshot = cache.pop(game)
    assert snapshot is not None
    return snapshot.restore()


def midway(seed: int, steps: int = 60, board: str = "usa") -> RandomGame:
    play = RandomGame(Random(seed), board, 4)
    for number in play.steps():
        if number == steps:
            break
    return play


# -- many of them --------------------------------------------------------------------------


def test_P9_a_set_up_counts_once_for_all_games_that_share_it_and_is_dropped_with_the_last() -> None:
    cache = SnapshotCache()
    put(cache, "built in", midway(1, 5).state)
    first = cache.total_bytes
    own = midway(2, 5).state
    own.board, own.rule_options = replace(own.board), replace(own.rule_options)  # equal, not loaded anyway
    put(cache, "one", own)
    assert cache.total_bytes > 10 * first
    both = cache.total_bytes
    put(cache, "two", own)
    assert cache.total_bytes - both < 2 * first
    for game in ("built in", "one", "two", "never there"):
        cache.discard(game)
    assert (cache.total_bytes, len(cache)) == (0, 0)


def test_P9_games_with_equal_rule_options_share_them() -> None:
    cache, states = SnapshotCache(), [fold(midway(seed, 5).log) for seed in (1, 2)]
    assert states[0].rule_options is not states[1].rule_options
    for game, state in zip(("one", "two"), states, strict=True):
        put(cache, game, state)
    one, two = (restored_from(cache, game)[0] for game in ("one", "two"))
    assert one.rule_options is two.rule_options
    assert one.rule_options == states[0].rule_options


def test_P9_a_set_up_is_shared_with_games_that_were_restored_and_is_forgotten_with_the_last() -> None:
    """Where a single game of its rules is packed now and then, its set-up isn't made anew each time."""
    cache = SnapshotCache()
    put(cache, "one", midway(1, 5).state)
    snapshot = cache.pop("one")
    assert snapshot is not None and cache.total_bytes == 0
    kept, (state, _) = snapshot.shared_setup, snapshot.restore()
    assert cache.pack(state, None).shared_setup is kept
    assert cache.pack(fold(midway(2, 5).log), None).shared_setup is kept
    setups = cache._setups
    assert len(setups) == 2
    del kept, snapshot
    gc.collect()
    assert len(setups) == 0
