"""Tables on the rules alone, with given cards and no log: for cases and tests."""

from __future__ import annotations

from collections.abc import Sequence

from schemas.boards.form import BoardForm
from schemas.commands import CommandEnvelope, PlayerCommand
from schemas.field_types import Seat
from services.referee.rules import GameState, decide_envelope
from services.trains.given_cards import GAME_ID, NO_SEED, start_game
from services.trains_server.table_port import Table, Turn


class CoreTable:
    """A game that is decided in this process."""

    game = ""

    def __init__(self, state: GameState) -> None:
        self._state = state

    async def next_turn(self) -> Turn | None:
        """See `Table`. The state has all cards; nothing of others is read from it."""
        if self._state.result:
            return None
        (seat,) = self._state.pending_choices
        return Turn(seat, self._state)

    async def send(self, seat: Seat, command: PlayerCommand) -> GameState:
        """See `Table`."""
        decide_envelope(self._state, CommandEnvelope("move", GAME_ID, seat, command), 0, NO_SEED)
        return self._state

    async def final_state(self) -> GameState:
        """See `Table`."""
        return self._state


class CoreTables:
    """Opens tables that all have these cards."""

    def __init__(self, cards: Sequence[str]) -> None:
        self._cards = cards

    async def open_table(self, form: BoardForm, names: Sequence[str]) -> Table:
        """See `TableOpener`."""
        return CoreTable(start_game(form, len(names), self._cards))
