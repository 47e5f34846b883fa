"""What a tournament needs of the tables that its games are played at."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple, Protocol

from schemas.boards.form import BoardForm
from schemas.commands import PlayerCommand
from schemas.field_types import Seat
from services.referee.rules import GameState


class Turn(NamedTuple):
    """The seat that the game waits for, and the game as this seat sees it."""

    seat: Seat
    state: GameState


class Table(Protocol):
    """One game; its seats are numbered in turn order."""

    game: str  # its id, where it is logged

    async def next_turn(self) -> Turn | None:
        """Who is to act; None when the game is over."""
        ...

    async def send(self, seat: Seat, command: PlayerCommand) -> GameState:
        """Decide a command of this seat; the game after it, as this seat sees it. What the rules refuse removes the
        seat (CONDUCT-2)."""
        ...

    async def final_state(self) -> GameState:
        """The game that is over, as everybody may see it."""
        ...


class TableOpener(Protocol):
    """Opens tables."""

    async def open_table(self, form: BoardForm, names: Sequence[str]) -> Table:
        """A new game on this map, which has begun; the names are in turn order."""
        ...
