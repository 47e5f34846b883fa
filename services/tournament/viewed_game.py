"""A game of bots on the rules alone: no engine, no gateway, and every seat's view, which is the fold of what it may see.

Decks are dealt as in a logged game of the seed. Commitments to cards, which only prove a log, are left out: they would be
most of the cost of a short game. No time passes, so no clock runs out.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from copy import copy
from dataclasses import dataclass
from typing import Final

from schemas.commands import Command, CommandEnvelope, CreateGame, SeatPlan, StartGame
from schemas.contract import PUBLIC
from schemas.events import Event
from schemas.field_types import Seat
from services.referee.games import GameState, decide_and_apply, decide_envelope, fold_events, redact_for
from services.referee.games.fair_randomness import without_commitments
from services.referee.games.views import owner_of

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
