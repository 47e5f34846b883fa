"""The states of a game as its seats see them, each folded from its own verified view.

What all see is read and verified once for all seats of a game; each seat's private parts are its own, and so is
its state: nothing of one seat is ever handed to another.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Iterable, Mapping, Sequence
from itertools import islice
from typing import Final, Protocol

from schemas.errors import CorruptDataError
from schemas.field_types import Seat
from services.ledger import MissingEntryError
from services.ledger.log.view_pages import PartsOrError, ViewPage, ViewRequest
from services.ledger.log.view_queries import PAGE_SIZE, ViewPageOrError
from services.ledger.scripts.view_merge import LogRewoundError
from services.referee.rules import GameState, fold_events
from services.referee.rules.proof.part_verifier import PartVerifier
from services.referee.rules.proof.public_verifier import (
    PublicVerifier,
    VerificationFailedError,
    VerifiedEntry,
)
from services.runtime.worker_loop import CONNECTION_ERRORS, PROGRAMMING_ERRORS

NO_SEAT_SECRET: Final = "00" * 32
LOST_END_ERRORS: Final = (MissingEntryError, LogRewoundError)  # a fail-over lost the end of the log
VIEW_ERRORS: Final = (*LOST_END_ERRORS, VerificationFailedError, CorruptDataError, *PROGRAMMING_ERRORS)
MAX_LAG: Final = 16  # entries that a seat may be behind before it is brought on with another


class ViewPageReader(Protocol):
    """Reads pages of many views at once."""

    def read_views(self, requests: Sequence[ViewRequest]) -> list[ViewPageOrError]:
        """A page for each request, or what is wrong with its game."""
        ...


class SeatProjection:
    """The state of a game as one seat sees it: its view so far, verified and folded."""

    __slots__ = ("answered_commands", "part_verifier", "parts", "parts_until", "seat", "sequence", "state")

    def __init__(self, game: str, seat: Seat) -> None:
        self.seat, self.sequence = seat, 0
        self.parts: dict[int, bytes] = {}  # private parts that were read and aren't applied, by entry
        self.parts_until = 0  # the last entry whose part was read, if the seat has one of it
        self.state, self.part_verifier = GameState(), PartVerifier(game, seat)
        self.answered_commands = 0  # commands of this seat that were decided

    @property
    def random_source(self) -> tuple[str, int]:
        """What the random stream of the seat's next command follows from: its secret, and its move number."""
        return self.state.seats[self.seat].seat_secret or NO_SEAT_SECRET, self.answered_commands

    def apply(self, entries: Iterable[VerifiedEntry]) -> None:
        """Apply the next entries, with the seat's parts of them. Raises VerificationFailedError where a part doesn't
        fit its entry."""
        parts = self.parts
        for entry in entries:
            answers, events = self.part_verifier.verify(entry, parts.pop(entry.number, None))
            fold_events(self.state, entry.at_ms, events)
            self.answered_commands += answers is not None
            self.sequence = entry.number


class GameProjections:
    """The projections of a game's seats. Where reading the game raised, they are of no more use: it is read anew."""

    __slots__ = ("_errors", "_recent", "looked_at_s", "public_verifier", "seats")

    def __init__(self, game: str, seats: Iterable[Seat] = ()) -> None:
        self.public_verifier = PublicVerifier(game)
        self.seats = {seat: SeatProjection(game, seat) for seat in seats}
        self.looked_at_s = 0.0  # when the views were read last, by the reader's clock
        self._recent = deque[VerifiedEntry]()  # those that aren't applied to all of the seats
        self._errors: dict[Seat, Exception] = {}  # of seats whose parts don't fit

    @property
    def game(self) -> str:
        """The game's id."""
        return self.public_verifier.game

    def with_seat(self, seat: Seat) -> GameProjections:
        """These with this seat among them: all of them anew, where entries that it needs aren't held any more."""
        if seat in self.seats:
            return self
        if len(self._recent) < self.public_verifier.sequence:
            return GameProjections(self.game, (*self.seats, seat))
        self.seats[seat] = SeatProjection(self.game, seat)
        self._errors.pop(seat, None)
        return self

    def next_page(self) -> ViewRequest:
        """What to read next: the entries after the last one that was verified, if that one is still there, and the
        private parts of all seats, which lie with them."""
        verifier = self.public_verifier
        parts = [(seat, each.parts_until) for seat, each in self.seats.items()]
        return ViewRequest(verifier.game, verifier.sequence, (None,), verifier.head, parts)

    def apply(self, page: ViewPageOrError) -> bool:
        """Apply the page that was asked for last. Returns whether there may be another one.

        Raises the page where it is an error, such as LogRewoundError: a fail-over lost the end of the log.
        Raises VerificationFailedError where the public view doesn't fit its chain. What is wrong with one seat's
        parts is that seat's: `current` raises it."""
        if not isinstance(page, ViewPage):
            raise page
        self._recent.extend(map(self.public_verifier.verify, page.views[None]))
        self._hold_parts(page.parts)
        first_needed = 1 + min((each.sequence for each in self.seats.values()), default=0)
        while self._recent and self._recent[0].number < first_needed:
            self._recent.popleft()
        return len(page.views[None]) >= PAGE_SIZE

    def current(self, seat: Seat) -> SeatProjection:
        """The seat's projection, as far as its parts were read. Raises what is wrong with them, such as
        VerificationFailedError."""
        if (projection := self.seats.get(seat)) is not None:
            self._bring_on(projection)
        if seat in self._errors:
            raise self._errors[seat]
        return self.seats[seat]

    def refresh(self, views: ViewPageReader, seat: Seat) -> SeatProjection:
        """The seat's projection, with all entries that are new. Raises what `apply` and `current` do."""
        while self.apply(views.read_views([self.next_page()])[0]) and seat in self.seats:
            pass
        return self.current(seat)

    def _hold_parts(self, parts_by_seat: Mapping[Seat, PartsOrError]) -> None:
        """Keep the seats' parts of the entries that were read until each is asked for, or is far behind."""
        until = self.public_verifier.sequence
        for seat, parts in parts_by_seat.items():
            projection = self.seats[seat]
            if isinstance(parts, Exception):
                self._stop(projection, parts)
                continue
            projection.parts_until = until
            if parts:
                projection.parts.update(parts)
            if projection.sequence < until - MAX_LAG:
                self._bring_on(projection)

    def _bring_on(self, projection: SeatProjection) -> None:
        """Apply the entries that this seat hasn't seen, as far as its parts of them were read."""
        first_recent = self.public_verifier.sequence - len(self._recent)
        begin, end = projection.sequence - first_recent, projection.parts_until - first_recent
        try:
            projection.apply(islice(self._recent, begin, end))
        except (*VIEW_ERRORS, *CONNECTION_ERRORS) as error:
            self._stop(projection, error)

    def _stop(self, projection: SeatProjection, error: Exception) -> None:
        """A seat whose parts don't fit isn't brought on any more."""
        del self.seats[projection.seat]
        self._errors[projection.seat] = error
