"""Folded games have a budget of memory: what is counted is about what they take, on the nastiest board too."""

from __future__ import annotations

import gc
import sys
from dataclasses import replace
from pathlib import Path
from random import Random
from types import FunctionType, ModuleType
from typing import Any

import pytest

from services.referee.game_cache import MIN_HOT_SHARE, CachedGame, GameCache
from services.referee.hot_games import HotGames, board_bytes, folded_bytes
from services.referee.rules import GameState
from services.referee.rules.board import load_board
from services.referee.snapshots import SnapshotCache
from tests.golden.test_golden import FILES, read
from tests.rules.hostile_games import hostile_game
from tests.rules.random_games import RandomGame

ENTRIES = 60


class NoLogs:
    """A ledger without a game."""


def reachable(parts: list[Any], known: dict[int, Any]) -> dict[int, Any]:
    """All objects that these refer to, besides those that are known, by id."""
    found: dict[int, Any] = {}
    while parts:
        part = parts.pop()
        if id(part) in found or id(part) in known or isinstance(part, type | ModuleType | FunctionType):
            continue
        found[id(part)] = part
        parts += gc.get_referents(part)
    return found


def taken_bytes(game: CachedGame | GameState, shared: list[Any]) -> int:
    """What the game takes, without what it shares."""
    known = reachable(shared, {})
    return sum(sys.getsizeof(part) for part in reachable([game], known).values())


def played(board: str, seats: int, moves: int = ENTRIES) -> GameState:
    game = RandomGame(Random(1), board, seats)
    for number in game.steps():
        if number == moves:
            break
    return game.state


def cached(state: GameState, entries: int = ENTRIES) -> CachedGame:
    cached_game = CachedGame()
    cached_game.state, cached_game.length = state, entries
    return cached_game


@pytest.mark.parametrize("path", FILES[::24], ids=lambda path: path.stem)
def test_P9_a_restored_game_is_counted_with_about_what_it_takes(path: Path) -> None:
    log, cache = read(path).log, SnapshotCache()
    for entries in (4, len(log) // 2, len(log)):
        folded = CachedGame()
        folded.apply_entries(log[:entries])
        snapshot = cache.pack(folded.state, folded.plain_values())
        restored = CachedGame.from_snapshot(snapshot)
        taken = taken_bytes(restored, [snapshot.shared_setup, restored.state.board, restored.state.ruleset])
        assert 0.6 < folded_bytes(restored.state, entries) / taken < 2
        assert taken < 0.85 * taken_bytes(folded, [folded.state.board, folded.state.ruleset])


def test_P9_a_game_on_a_hostile_board_is_counted_with_at_least_half_of_what_it_takes() -> None:
    states = [state for seed in range(6) if (state := hostile_game(Random(seed)))]
    assert len(states) > 3
    for state in states:
        taken = taken_bytes(state, [state.board, state.ruleset])
        assert folded_bytes(state, 2) + board_bytes(state.board) > taken / 2


def test_P9_the_board_of_a_stranger_counts_once_for_all_games_on_it() -> None:
    hot, state = HotGames(), played("usa", 2)
    state.board = replace(load_board("usa"))  # equal, and not the one that is loaded anyway
    for game in ("one", "two"):
        hot.add(game, cached(state))
    assert hot.total_bytes == 2 * folded_bytes(state, ENTRIES) + board_bytes(state.board) > 150_000
    for game in ("one", "two", "never there"):
        hot.pop(game)
    assert (hot.total_bytes, len(hot)) == (0, 0)


def test_P9_a_game_that_has_grown_is_measured_again() -> None:
    hot, growing = HotGames(), CachedGame()
    hot.add("game", growing)
    new = hot.total_bytes
    growing.state, growing.length = played("iberia", 8), ENTRIES
    assert hot.get("game") is growing
    assert hot.total_bytes == folded_bytes(growing.state, ENTRIES) + board_bytes(growing.state.board) > new


@pytest.mark.parametrize("max_bytes", [0, 100_000, 1_000_000, 4_000_000])
def test_P9_games_never_take_more_than_their_bytes(max_bytes: int) -> None:
    """But for those on probation. The latest games are there, and an eighth of the room is for hot ones."""
    cache, states = GameCache(NoLogs(), max_bytes, 2), [played("usa", 4), played("iberia", 8)]  # type: ignore[arg-type]  # never read
    rng = Random(2)
    for number in range(300):
        cache._insert(f"game-{number}", cached(states[number % 2].copy()))
        cache._find(f"game-{max(0, number - rng.randrange(40))}")
        assert cache._hot.total_bytes + cache._packed.total_bytes <= max(max_bytes, cache._hot.total_bytes)
        assert len(cache._hot) <= 1 or cache._hot.total_bytes <= max_bytes
    assert cache._find("game-299") is not None
    if max_bytes == 4_000_000:
        assert len(cache._packed) > 100
        assert cache._hot.total_bytes > max_bytes / MIN_HOT_SHARE / 2
