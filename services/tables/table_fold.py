"""A viewer's view of a game, folded: the table, the moves in words, what the viewer may do."""

from __future__ import annotations

from collections.abc import Sequence
from concurrent.futures import Future
from copy import copy
from typing import Protocol

from schemas.commands import Command, write_command
from schemas.events import TurnStarted
from schemas.field_types import Seat
from schemas.registry import OfItsGame
from schemas.stored.entries import ViewEntry
from schemas.stored.player_names import names_in
from services.bots.searching.candidate_halving import CandidateValue
from services.bots.suggestions import Suggester, evaluate_here
from services.gateway.models.table_models import (
    JudgedChoice,
    LegalCommand,
    LegalCommands,
    ListedGame,
    Move,
    Suggestions,
)
from services.gateway.models.trains import TableAnswer
from services.referee.games import fold_events, legal
from services.referee.games.state import GameState
from services.runtime.killable_processes import NoAnswerError
from services.runtime.logging_setup import get_logger
from services.tables.table_answers import (
    OWN_TABLES,
    has_suggestions,
    judged_choice,
    listed_game,
    suggestions,
    table_state,
)
from services.text.sentences import command_title, describe_command, event_sentence

log = get_logger("gateway")


class BoardDrawings(Protocol):
    """Draws boards, and keeps their drawings."""

    def find(self, board: OfItsGame, asker: str, /) -> Future[bytes]:
        """The drawing of a board as JSON; it may not be there yet."""


class FoldedTable:
    """The fold that services/gateway/tables/table_port.py asks for."""

    def __init__(
        self,
        game: str,
        viewer: Seat | None,
        suggester: Suggester = evaluate_here,
        drawings: BoardDrawings | None = None,
    ) -> None:
        self.game, self.viewer = game, viewer
        self.suggester, self.drawings = suggester, drawings
        self.number, self.head = 0, b""
        self.state = GameState()
        self.moves: list[Move] = []
        self.names: dict[str, str] = {}
        self.last_named = self.turns = 0

    def apply(self, entries: Sequence[ViewEntry]) -> None:
        """Apply the next entries, and note them in words."""
        for entry in entries:
            points_before = _points_so_far(self.state)
            fold_events(self.state, entry.at, entry.events)
            self.number, self.head = entry.number, entry.shown.head
            if names := names_in([entry]):
                self.names |= names
                self.last_named = entry.number
            self._note_move(entry, points_before)

    def _note_move(self, entry: ViewEntry, points_before: Sequence[int]) -> None:
        """Note an applied entry in words, if there is something to say of it."""
        turn, events = self.turns, entry.events
        self.turns += sum(isinstance(event, TurnStarted) for event in events)
        text = [s for event in events if (s := event_sentence(self.state, event))]
        if not text:
            return
        seat: Seat | None = next(
            (s for event in events if (s := getattr(event, "seat", None)) is not None), None
        )
        gained, own = 0, OWN_TABLES.get(type(self.state.own))
        if seat is not None and seat < len(points_before):
            gained = _points_so_far(self.state)[seat] - points_before[seat]
        self.moves.append(
            Move(
                number=entry.number,
                at=entry.at,
                seat=seat,
                text=text,
                marks=own.marks(events) if own else [],
                points=gained,
                turn=turn,
            )
        )

    def copy(self) -> FoldedTable:
        """A fold that shares nothing that changes with this one."""
        duplicate = copy(self)
        duplicate.state, duplicate.moves, duplicate.names = self.state.copy(), self.moves[:], dict(self.names)
        return duplicate

    def table(self, since: int) -> TableAnswer:
        """The table, with the moves after entry `since`."""
        moves = [move for move in self.moves if move.number > since]
        return table_state(self.state, self.viewer, self.number, self.head, moves)

    def legal(self, most: int) -> LegalCommands:
        """The first `most` legal commands of the seat in words; leaving isn't listed."""
        assert self.viewer is not None, "the public may do nothing"
        commands = legal(self.state, self.viewer)
        return LegalCommands(
            game=self.state.game,
            seat=self.viewer,
            number=self.number,
            commands=[self._describe(command) for command in commands[:most]],
            more=len(commands) > most,
        )

    def legal_commands(self, most: int) -> list[dict[str, object]]:
        """The first `most` legal commands of the seat; leaving isn't listed."""
        assert self.viewer is not None, "the public may do nothing"
        return [write_command(command) for command in legal(self.state, self.viewer)[:most]]

    @property
    def has_own_parts(self) -> bool:
        """Whether it holds what its creator brought, as a board."""
        packing = self.state.ruleset.packing
        shared = packing.shared_of(self.state)
        return shared is not None and packing.shared_bytes(shared) > 0

    @property
    def has_suggestions(self) -> bool:
        """Whether a bot that plays the game can say what a move is worth."""
        return has_suggestions(self.state)

    def suggestions(self) -> Suggestions | None:
        """Suggestions for the seat's move. Blocks; None if there is no answer in time."""
        candidates = self._evaluate(None)
        if candidates is None:
            return None
        assert self.viewer is not None, "the public may do nothing"
        return suggestions(self.state, self.viewer, self.number, candidates)

    def judge(self, done: Command) -> JudgedChoice | None:
        """What the seat did next, against what it might have done. Blocks; None if there is no answer in time."""
        candidates = self._evaluate(done)
        if candidates is None:
            return None
        assert self.viewer is not None, "the public may do nothing"
        return judged_choice(self.state, self.viewer, self.number, candidates, done)

    def _evaluate(self, done: Command | None) -> Sequence[CandidateValue] | None:
        assert self.viewer is not None, "the public may do nothing"
        try:
            return self.suggester(self.state, self.viewer, self.number, done)
        except NoAnswerError as error:
            log.warning("no suggestion", game=self.game, seat=self.viewer, why=str(error))
            return None

    def listed(self) -> ListedGame:
        """The game as a list shows it."""
        return listed_game(self.state, self.number)

    def board(self, asker: str) -> Future[bytes] | None:
        """The drawing of its board, as JSON, which may not be there yet; None where the game has no board. Raises
        NoAnswerError: nor is it in time."""
        assert self.drawings is not None, "the catalog has them"
        if not self.state.ruleset.default_board:
            return None
        return self.drawings.find(self.state.own.board, asker)

    def _describe(self, command: Command) -> LegalCommand:
        assert self.viewer is not None, "`legal` has looked"
        title, detail = command_title(self.state, self.viewer, command)
        return LegalCommand(
            command=write_command(command),
            text=describe_command(self.state, self.viewer, command),
            title=title,
            detail=detail,
        )


def _points_so_far(state: GameState) -> list[int]:
    """What each seat has of its final score, where its game counts that as it goes: 0 where it doesn't."""
    return [getattr(seat_state.own, "running_score", 0) for seat_state in state.seats]
