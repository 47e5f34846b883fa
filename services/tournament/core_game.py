"""Games that policies play on the rules alone, spread over processes."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from concurrent.futures import ProcessPoolExecutor
from multiprocessing import get_context
from typing import Final

from schemas.commands import Command
from schemas.errors import LedgerlineError
from schemas.field_types import Seat
from services.bots.policies import POLICIES
from services.bots.seat_random import SeatRandom
from services.compiled_rules import prefer_compiled_rules
from services.referee.games import GameState, legal
from services.tournament.game_results import GameResult, result_of
from services.tournament.schedule import PlannedGame
from services.tournament.viewed_game import MAX_MOVES, UNUSED_SEED, GameSetting, ViewedGame


class EndlessGameError(LedgerlineError):
    """A game that didn't end within MAX_MOVES."""


class CoreGame(ViewedGame):
    """A game whose seats are played by policies, each by its own view."""

    def __init__(self, setting: GameSetting, policies: Sequence[str], seed: str) -> None:
        """Deal it. Raises UnloggedRejectionError if such a game can't be created."""
        self.policies, self.seed = policies, seed
        self.moves = [0] * len(policies)
        super().__init__(setting, policies, seed)

    def play_to_end(self) -> GameState:
        """Play to the end; the referee's state then. Raises EndlessGameError."""
        for _ in range(MAX_MOVES):
            seat = self.seat_to_act
            if seat is None:
                return self.state
            self.play_move(seat)
        raise EndlessGameError(f"the game of seed {self.seed} goes on after {MAX_MOVES} moves")

    def play_move(self, seat: Seat) -> None:
        """One move of the seat, by its policy."""
        self.play(seat, self.choose(seat))

    def choose(self, seat: Seat) -> Command:
        """The choice of the seat's policy, from its own view. It counts as a move."""
        view = self.view(seat)
        seat_random = SeatRandom(view.seats[seat].seat_secret or UNUSED_SEED, self.moves[seat])
        self.moves[seat] += 1
        return POLICIES[self.policies[seat]](view, seat, legal(view, seat), seat_random)


GAMES_A_TASK: Final = 4


def play_fast(setting: GameSetting, games: Sequence[PlannedGame], processes: int) -> Iterator[GameResult]:
    """The results of these games, in their order. Raises UnloggedRejectionError if such a game can't be created."""
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
    game = CoreGame(setting, planned.policies, planned.seed)
    return result_of(planned, None, game.play_to_end())
