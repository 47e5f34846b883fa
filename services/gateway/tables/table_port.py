"""Tables as the composition root gives them to the gateway, which knows no rules itself.

services/tables has the one implementation. Clocks by name, for people at a table, are here too.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from concurrent.futures import Future
from types import MappingProxyType
from typing import Final, Protocol

from schemas.commands import Command
from schemas.errors import InvalidInputError
from schemas.field_types import Seat
from schemas.stored.entries import ViewEntry
from services.gateway.models.response_models import ClockPreset, RulesetDescription
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


MINUTE_MS: Final = 60_000
HOUR_MS: Final = 60 * MINUTE_MS
DAY_MS: Final = 24 * HOUR_MS
# In place of the ruleset's own at a table with people, unless the creation or its board sets them.
WITH_PEOPLE: Final[Mapping[str, None]] = MappingProxyType({"clock_ms": None})


def _preset(name: str, title: str, meaning: str, clock_ms: int | None, move_ms: int | None) -> ClockPreset:
    return ClockPreset(
        name=name, title=title, meaning=meaning, options={"clock_ms": clock_ms, "move_ms": move_ms}
    )


PRESETS: Final = {
    preset.name: preset
    for preset in (
        _preset("live", "Live", "30 minutes each, 5 minutes a move", 30 * MINUTE_MS, 5 * MINUTE_MS),
        _preset("evening", "An evening", "2 hours each, 30 minutes a move", 2 * HOUR_MS, 30 * MINUTE_MS),
        _preset("week", "A week", "7 days each, 1 day a move", 7 * DAY_MS, DAY_MS),
        _preset("days", "No hurry", "3 days a move, no other clock", None, 3 * DAY_MS),
        _preset("blitz", "Blitz", "5 minutes each, 1 minute a move", 5 * MINUTE_MS, MINUTE_MS),
        _preset("ai-mas", "AI-MAS", "2 minutes each, as programs play it", 2 * MINUTE_MS, 3 * DAY_MS),
    )
}


def with_clock(body: Mapping[str, object]) -> dict[str, object]:
    """The body of a creation with its clock in `options`: the preset that `clock` names, or none for the whole game at a
    table with people. Options that the creation or its own board sets stay as they are.

    Raises InvalidInputError: there is no such preset."""
    fields = dict(body)
    name, board = fields.pop("clock", None), fields.get("board")
    options = fields.get("options") or {}
    if not isinstance(options, dict):
        return fields  # the contract refuses it, and says how
    if name is not None:
        preset = PRESETS.get(name) if isinstance(name, str) else None
        if preset is None:
            raise InvalidInputError("clock", f"must be one of {', '.join(PRESETS)}")
        fields["options"] = {**preset.options, **options}
    elif _has_people(fields.get("seats")):
        board_options = board.get("options") if isinstance(board, dict) else None
        usual = {} if isinstance(board_options, dict) and "clock_ms" in board_options else WITH_PEOPLE
        fields["options"] = {**usual, **options}
    return fields


def _has_people(seats: object) -> bool:
    return isinstance(seats, list) and any(
        isinstance(plan, dict) and plan.get("kind", "human") == "human" for plan in seats
    )
