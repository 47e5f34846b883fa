"""One game of bots on the rules alone: no engine, no gateway, the same deal as a logged game of this seed.

Each policy gets what its seat sees: a fold of the events as they are redacted for it. No time passes, so
that no clock runs out.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Final

from schemas.commands import Command, CommandEnvelope, CreateGame, SeatPlan, StartGame
from schemas.errors import LedgerlineError
from schemas.field_types import Seat
from services.bots.policies import POLICIES
from services.bots.seat_random import SeatRandom
from services.referee.rules import GameState, decide_envelope, evolve, legal, redact_for

OPENED_MS: Final = 0
MAX_MOVES: Final = 20_000  # far more than any game takes
UNUSED_SEED: Final = "00" * 32  # every game names its own


class EndlessGameError(LedgerlineError):
    """A game that didn't end within MAX_MOVES."""


@dataclass(frozen=True, slots=True)
class GameSetting:
    """What is played: the ruleset, its board (None: the usual one) and rule options that differ."""

    ruleset: str
    board: object = None
    options: Mapping[str, object] | None = None


class CoreGame:
    """A game that is played in this process, with the view of every seat."""

    def __init__(self, game: str, setting: GameSetting, policies: Sequence[str], seed: str) -> None:
        self.game, self.policies = game, policies
        self.state, self.views = GameState(), [GameState() for _ in policies]
        self.moves = [0] * len(policies)
        plans = tuple(SeatPlan("bot", policy) for policy in policies)  # type: ignore[arg-type]  # checked by the creation
        self._process(None, CreateGame(plans, setting.ruleset, setting.board, seed, setting.options))
        self._process(None, StartGame())

    def play(self) -> GameState:
        """Play to the end; the referee's state then. Raises EndlessGameError."""
        for _ in range(MAX_MOVES):
            if self.state.result is not None:
                return self.state
            self.play_move(min(self.state.pending_choices))
        raise EndlessGameError(f"game {self.game} goes on after {MAX_MOVES} moves")

    def play_move(self, seat: Seat) -> None:
        """One move of the seat, by its policy."""
        self._process(seat, self.choose(seat))

    def choose(self, seat: Seat) -> Command:
        """The choice of the seat's policy, from its own view."""
        view = self.views[seat]
        seat_random = SeatRandom(view.seats[seat].seat_secret or UNUSED_SEED, self.moves[seat])
        self.moves[seat] += 1
        return POLICIES[self.policies[seat]](view, seat, legal(view, seat), seat_random)

    def _process(self, seat: Seat | None, command: Command) -> None:
        envelope = CommandEnvelope("core", self.game, seat, command)
        for event in decide_envelope(self.state, envelope, OPENED_MS, UNUSED_SEED):
            for viewer, view in enumerate(self.views):
                if (shown := redact_for(viewer, event)) is not None:
                    evolve(view, shown)
