"""Tables as the composition root gives them to the gateway, which knows no rules itself.

services/tables has the one implementation.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from concurrent.futures import Future
from typing import Protocol

from schemas.commands import Command
from schemas.field_types import Seat
from schemas.stored.entries import ViewEntry
from services.gateway.models.response_models import RulesetDescription
from services.gateway.models.table_models import (
    JudgedChoice,
    LegalCommands,
    ListedGame,
    Suggestions,
)
from services.gateway.models.trains import BoardDrawing, ListedBoard, TableAnswer


class TableFold(Protocol):
    """One viewer's view of a game, folded as far as it was applied. Not safe on two threads at once."""

    game: str
    viewer: Seat | None

    @property
    def number(self) -> int:
        """The number of the last entry that was applied; 0 before the first."""

    @property
    def head(self) -> bytes:
        """The head of the chain after it; empty where it isn't known."""

    @property
    def names(self) -> Mapping[str, str]:
        """The names of players that it shows, by commitment."""

    @property
    def last_named(self) -> int:
        """The number of the last entry that has one of them; 0 for none."""

    @property
    def has_own_parts(self) -> bool:
        """Whether it holds what its creator brought, as a board, which may take a megabyte."""

    @property
    def has_suggestions(self) -> bool:
        """Whether a bot that plays the game can say what a move is worth."""

    def apply(self, entries: Sequence[ViewEntry]) -> None:
        """Apply the next entries."""

    def copy(self) -> TableFold:
        """A fold that shares nothing that changes with this one."""

    def table(self, since: int) -> TableAnswer:
        """The table, with the moves after entry `since`."""

    def legal(self, most: int) -> LegalCommands:
        """List the first `most` commands that the viewer, a seat, is asked to choose from now, in words; leaving isn't listed."""

    def legal_commands(self, most: int) -> list[dict[str, object]]:
        """List these commands."""

    def suggestions(self) -> Suggestions | None:
        """Suggest moves to the viewer, who is a seat, and say why. Blocks; None where none is found in time."""

    def judge(self, done: Command) -> JudgedChoice | None:
        """What the viewer, who is a seat, did next, against what it might have done. Blocks; None as above."""

    def listed(self) -> ListedGame:
        """The game as a list shows it."""

    def board(self, asker: str) -> Future[bytes] | None:
        """The drawing of its board, as JSON: it is made beside all else, and raises what is wrong with it. None where the
        game has no board."""


class TableCatalog(Protocol):
    """Boards, rulesets, and folds."""

    def close(self) -> None:
        """End what it has started."""

    def new_fold(self, game: str, viewer: Seat | None) -> TableFold:
        """The fold of a viewer's view (None: the public's) to which nothing was applied."""

    def boards(self) -> list[ListedBoard]:
        """The built-in boards."""

    def board(self, name: str) -> BoardDrawing | None:
        """A built-in board; None where there is none of that name, or it can't be read."""

    def board_picture(self, name: str) -> str | None:
        """A built-in board as SVG; None as above."""

    def rulesets(self) -> list[RulesetDescription]:
        """The rulesets, with their options."""
