"""What a report has of a game that isn't told by its parts: rows, counts, a result and a map of its own."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from typing import Final, NamedTuple

from schemas.commands import Command
from schemas.registry import OfItsGame
from services.referee.games.state import GameState, SeatState


class KnowledgeRow(NamedTuple):
    """Knowledge of one thing by viewer; each cell has one part or more. One cell stands for all who knew the same."""

    name: str
    cells: Sequence[Sequence[str]]

    @property
    def is_same_for_all(self) -> bool:
        return len(self.cells) == 1


class Change(NamedTuple):
    """What a seat has, or a part of the table, before and after."""

    name: str
    values: Sequence[tuple[object, object]]


class Changes(NamedTuple):
    """Changes by the entry, under a heading; no rows where there are none, or the whole state is new."""

    rows: Sequence[Change]
    text: str
    heading: Sequence[str] = ()


Cells = Sequence[Sequence[str]]  # one a viewer, each of one part or more


class OwnReport(NamedTuple):
    """How a family of games tells its own states."""

    known_rows: Callable[
        [Sequence[GameState]], Iterable[tuple[str, Cells]]
    ]  # of one state a viewer: titles, and cells
    count_names: Sequence[str]
    seat_counts: Callable[[SeatState], tuple[int, ...]]  # one for each of the names
    result_rows: Callable[
        [GameState], tuple[Sequence[str], Sequence[tuple[str, Sequence[object]]]]
    ]  # with a heading
    # of a table, for templates/board.html: with what a command names, as it stood before it, marked
    map_of: Callable[[GameState, GameState, Command | None], OfItsGame]


OWN_REPORTS: Final[dict[type, OwnReport]] = {}  # by the class of the game's own state
