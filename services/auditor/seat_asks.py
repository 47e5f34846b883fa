"""What the seats of a game are asked for, and since which entry: folded from the view that everybody may see.

So what is sent to a webhook follows from nothing that is hidden from anybody.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final, Protocol

from schemas.entries import ViewEntry
from schemas.events import TurnStarted
from schemas.field_types import Seat
from schemas.webhooks import Asked, Notice
from services.archive import TrustedKeys
from services.ledger import StoredGame
from services.ledger.log.view_pages import ViewRequest
from services.ledger.log.view_queries import ViewPageOrError
from services.referee.rules import GameState, fold_events
from services.referee.rules.state import MIX, TICKETS
from services.verification.game_repository import FinishedGameReader

TICKET_CHOICES: Final = (MIX, TICKETS)


class ViewsReader(Protocol):
    """Reads pages of views, and what the engine has of finished games."""

    def read_views(self, requests: Sequence[ViewRequest]) -> list[ViewPageOrError]: ...

    def read_stored_game(self, game: str) -> StoredGame | None: ...


class SeatAsks:
    """A game's public view, folded so far."""

    def __init__(self, game: str) -> None:
        self.game = game
        self.number, self.head = 0, b""
        self._state = GameState()
        self._since: dict[Seat, int] = {}  # by seat that is asked: the entry from which on
        self._ended = 0  # the entry that ended the game

    def read_on(self, ledger: ViewsReader) -> None:
        """Apply the entries that are new. Raises MissingEntryError, CorruptDataError, LogRewoundError or the engine's
        error."""
        while True:
            head = self.head if self.number else None
            [page] = ledger.read_views([ViewRequest(self.game, self.number, (None,), head)])
            if isinstance(page, Exception):
                raise page
            entries = page.views[None] or ([] if self.number else _stored_view(ledger, self.game))
            for entry in entries:
                self._apply(entry)
            if not page.views[None]:
                return

    def notice(self, seat: Seat) -> Notice | None:
        """What this seat is asked for now; None for nothing. It is asked anew with each turn."""
        if self._ended:
            return Notice(self.game, seat, self._ended, "game_over")
        choice = self._state.pending_choices.get(seat)
        if choice is None:
            return None
        asked: Asked = "tickets_to_choose" if choice in TICKET_CHOICES else "your_turn"
        return Notice(self.game, seat, self._since[seat], asked)

    @property
    def seats(self) -> range:
        """The game's seats."""
        return range(len(self._state.seats))

    def _apply(self, entry: ViewEntry) -> None:
        before = set(self._state.pending_choices)
        fold_events(self._state, entry.at, entry.events)
        self.number, self.head = entry.number, entry.shown.head
        in_turn = {event.seat for event in entry.events if isinstance(event, TurnStarted)}
        for seat in self._state.pending_choices:
            if seat not in before or seat in in_turn:
                self._since[seat] = entry.number
        if self._state.result and not self._ended:
            self._ended = entry.number


def _stored_view(ledger: ViewsReader, game: str) -> list[ViewEntry]:
    """The public view of a game whose streams are gone; empty where the engine has no file of it."""
    stored = ledger.read_stored_game(game)
    return FinishedGameReader(None, TrustedKeys(())).read_view(game, None, stored) or []
