"""A seat's state, folded from its verified view."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final, Protocol

from schemas.field_types import Seat
from services.ledger.view_queries import ViewPage, ViewPageOrError, ViewRequest
from services.referee.rules import GameState, fold_events
from services.referee.rules.proof.view_verifier import ViewVerifier

NO_SEAT_SECRET: Final = "00" * 32


class ViewPageReader(Protocol):
    """Reads pages of many views at once."""

    def read_views(self, requests: Sequence[ViewRequest]) -> list[ViewPageOrError]:
        """A page for each request, or what is wrong with its game."""
        ...


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

    @property
    def random_source(self) -> tuple[str, int]:
        """What the random stream of the seat's next command follows from: its secret, and its move number."""
        return self.state.seats[self.seat].seat_secret or NO_SEAT_SECRET, self.answered_commands

    def next_page(self) -> ViewRequest:
        """What to read next: the entries after the last one that was applied, if that one is still there."""
        verifier = self.view_verifier
        return ViewRequest(verifier.game, verifier.sequence, (verifier.viewer,), verifier.head)

    def apply(self, page: ViewPageOrError) -> bool:
        """Apply the entries of the page that was asked for; False where it has none.

        Raises the page where it is an error, such as LogRewoundError: a fail-over lost the end of the log.
        Raises VerificationFailedError where the view doesn't fit its chain."""
        if not isinstance(page, ViewPage):
            raise page
        entries = page.views[self.view_verifier.viewer]
        for entry in entries:
            self.view_verifier.verify(entry)
            fold_events(self.state, entry.at, entry.events)
            self.answered_commands += entry.answers is not None
        return bool(entries)

    def refresh(self, views: ViewPageReader) -> None:
        """Apply all entries that are new. Raises what `apply` does."""
        while self.apply(views.read_views([self.next_page()])[0]):
            pass
