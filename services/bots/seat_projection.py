"""A seat's state, folded from its verified view."""

from __future__ import annotations

from schemas.field_types import Seat
from services.ledger import (
    MissingEntryError,
    ViewReader,
)
from services.referee.rules import GameState, fold_events
from services.referee.rules.proof.view_verifier import ViewVerifier


class SeatProjection:
    """The state of a game as one seat sees it: its view so far, verified and folded."""

    __slots__ = ("answered_commands", "looked_at_s", "state", "view_verifier")

    def __init__(self, game: str, seat: Seat) -> None:
        self.state, self.view_verifier = GameState(), ViewVerifier(game, seat)
        self.answered_commands = 0  # commands of this seat that were decided
        self.looked_at_s = 0.0  # when the view was read last, by the worker's clock

    @property
    def seat(self) -> Seat:
        """Whose view it is."""
        assert self.view_verifier.viewer is not None, "a projection is of a seat"
        return self.view_verifier.viewer

    def refresh(self, views: ViewReader) -> None:
        """Apply the entries that are new.

        Raises MissingEntryError where the last entry that was applied is gone or has another chain head: a
        fail-over lost the end of the log. Raises VerificationFailedError where the view doesn't fit its chain."""
        game, seat = self.view_verifier.game, self.view_verifier.viewer
        while True:
            after = self.view_verifier.sequence
            entries = views.read_view(game, seat, max(0, after - 1))
            if after:
                last_seen, *entries = entries or (None,)
                if last_seen is None or last_seen.shown.head not in (self.view_verifier.head, b""):
                    raise MissingEntryError(f"view of {game}: entry {after} isn't what seat {seat} saw")
            if not entries:
                return
            for entry in entries:
                self.view_verifier.verify(entry)
                fold_events(self.state, entry.at, entry.events)
                self.answered_commands += entry.answers is not None
