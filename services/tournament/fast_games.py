"""Plays the games of a tournament on the rules alone, spread over processes."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from concurrent.futures import ProcessPoolExecutor
from multiprocessing import get_context
from typing import Final

from services.compiled_rules import prefer_compiled_rules
from services.tournament.core_game import CoreGame, GameSetting
from services.tournament.game_results import GameResult, result_of
from services.tournament.schedule import PlannedGame

GAMES_A_TASK: Final = 4


def play_fast(setting: GameSetting, games: Sequence[PlannedGame], processes: int) -> Iterator[GameResult]:
    """The results of these games, in their order. One process is this one.

    Raises UnloggedRejectionError if such a game can't be created."""
    processes = min(processes, len(games))
    if processes <= 1:
        yield from (play_one(setting, planned) for planned in games)
        return
    # spawned, not forked: the caller may have threads
    with ProcessPoolExecutor(
        processes, mp_context=get_context("spawn"), initializer=prefer_compiled_rules
    ) as pool:
        yield from pool.map(play_one, [setting] * len(games), games, chunksize=GAMES_A_TASK)


def play_one(setting: GameSetting, planned: PlannedGame) -> GameResult:
    """Play one game to its end."""
    game = CoreGame("core", setting, planned.policies, planned.seed)
    return result_of(planned, None, game.play())
