"""A game of bots on the rules alone: no engine, no gateway, and every seat's view, which is the fold of what it may see.

Decks are dealt as in a logged game of the seed. Commitments to cards, which only prove a log, are left out: they would be
most of the cost of a short game. No time passes, so no clock runs out.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Iterable, Iterator, Mapping, Sequence
from concurrent.futures import ProcessPoolExecutor
from copy import copy
from dataclasses import dataclass
from itertools import islice
from multiprocessing import get_context
from typing import Final

from schemas.commands import Command, CommandEnvelope, CreateGame, SeatPlan, StartGame
from schemas.contract import PUBLIC
from schemas.errors import LedgerlineError
from schemas.events import Event
from schemas.field_types import Seat
from services.bots.policies import POLICIES, LegalCommands
from services.bots.seat_random import SeatRandom
from services.compiled_rules import prefer_compiled_rules
from services.referee.games import (
    GameState,
    decide_and_apply,
    decide_envelope,
    fold_events,
    redact_for,
)
from services.referee.games.fair_randomness import without_commitments
from services.referee.games.views import owner_of
from services.tournament.game_results import GameResult, PlannedGame, result_of

MAX_MOVES: Final = 20_000  # far more than any game takes
GAME_ID: Final = "viewed"
UNUSED_SEED: Final = "00" * 32  # every game names its own


@dataclass(frozen=True, slots=True)
class GameSetting:
    """The ruleset of a game, its board (None: the usual one), and rule options that differ."""

    ruleset: str
    board: object = None
    options: Mapping[str, object] | None = None


class ViewedGame:
    """A game in progress, with a policy's name for each seat; whoever asks for its moves may choose them otherwise."""

    def __init__(self, setting: GameSetting, policies: Sequence[str], seed: str) -> None:
        """Deal it. Raises UnloggedRejectionError if such a game can't be created."""
        self.state = GameState()
        self._views = [GameState() for _ in policies]
        self._unseen: list[list[Event]] = [[] for _ in policies]  # folded when somebody looks
        plans = tuple(SeatPlan("bot", policy) for policy in policies)  # type: ignore[arg-type]  # checked by the creation
        self._process_system(CreateGame(plans, setting.ruleset, setting.board, seed, setting.options))
        self.state.ruleset = without_commitments(self.state.ruleset)
        self._process_system(StartGame())

    @property
    def seat_to_act(self) -> Seat | None:
        """The seat to act, of several the first; None when the game is over."""
        return min(self.state.pending_choices, default=None)

    def view(self, seat: Seat) -> GameState:
        """The game as the seat sees it. Valid until the next command; not to be changed."""
        view, unseen = self._views[seat], self._unseen[seat]
        if unseen:
            fold_events(view, 0, unseen)
            unseen.clear()
        return view

    def play(self, seat: Seat, command: Command) -> None:
        """Decide the command. Raises CommandRefusedError, and changes nothing, if a rule refuses it."""
        self._show(decide_and_apply(self.state, seat, command))

    def __deepcopy__(self, memo: object) -> ViewedGame:
        """A copy that shares only what never changes: searches go on from it."""
        other = copy(self)
        other.state, other._views = self.state.copy(), [view.copy() for view in self._views]
        other._unseen = [unseen[:] for unseen in self._unseen]
        return other

    def _process_system(self, command: Command) -> None:
        envelope = CommandEnvelope(GAME_ID, GAME_ID, None, command)
        self._show(decide_envelope(self.state, envelope, 0, UNUSED_SEED))

    def _show(self, events: Sequence[Event]) -> None:
        """Queue every event for each seat as that seat may see it."""
        for event in events:
            if event.visibility == PUBLIC:
                for unseen in self._unseen:
                    unseen.append(event)
                continue
            owner, shown = owner_of(event), redact_for(None, event)
            for seat, unseen in enumerate(self._unseen):
                if seat == owner:
                    unseen.append(event)
                elif shown is not None:
                    unseen.append(shown)


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
        return POLICIES[self.policies[seat]](view, seat, LegalCommands(view, seat), seat_random)


GAMES_A_TASK: Final = 4


TASKS_A_PROCESS: Final = 4  # that wait: a million games are never all in memory


def play_fast(setting: GameSetting, games: Iterable[PlannedGame], processes: int) -> Iterator[GameResult]:
    """The results of these games, in their order. Raises UnloggedRejectionError if such a game can't be created."""
    if processes <= 1:
        yield from (play_one(setting, planned) for planned in games)
        return
    # spawned, not forked: the caller may have threads
    with ProcessPoolExecutor(
        processes, mp_context=get_context("spawn"), initializer=prefer_compiled_rules
    ) as pool:
        left = iter(games)
        tasks = iter(lambda: [*islice(left, GAMES_A_TASK)], [])
        submitted = (pool.submit(_play_all, setting, task) for task in tasks)
        waiting = deque(islice(submitted, TASKS_A_PROCESS * processes))
        try:
            while waiting:
                yield from waiting.popleft().result()
                waiting.extend(islice(submitted, 1))
        finally:
            pool.shutdown(cancel_futures=True)  # whoever stops early waits for no more than what has begun


def _play_all(setting: GameSetting, games: Sequence[PlannedGame]) -> list[GameResult]:
    return [play_one(setting, planned) for planned in games]


def play_one(setting: GameSetting, planned: PlannedGame) -> GameResult:
    """Play one game to its end."""
    game = CoreGame(setting, planned.policies, planned.seed)
    return result_of(planned, None, game.play_to_end())
