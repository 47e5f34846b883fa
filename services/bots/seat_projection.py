"""The states of games as their seats see them, each folded from its own verified view.

The public part is read and verified once for all seats of a game. Each seat's private parts are its own, and so is its
state: nothing of one seat is ever handed to another.
"""

from __future__ import annotations

import time
from collections import deque
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from heapq import nsmallest
from itertools import islice
from typing import Final, Protocol

from schemas.errors import CorruptDataError
from schemas.field_types import Seat
from services.ledger import MissingEntryError
from services.ledger.log.views import PAGE_SIZE, PartsOrError, ViewPage, ViewPageOrError, ViewRequest
from services.ledger.ports import LogRewoundError
from services.referee.games import GameState, fold_events
from services.referee.games.proof.public_verifier import (
    PublicVerifier,
    VerificationFailedError,
    VerifiedEntry,
)
from services.referee.games.proof.view_verifier import PartVerifier
from services.runtime.forgetful_mapping import Recent
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
        """The source of the random stream of the seat's next command: its secret, and its move number."""
        return self.state.seats[self.seat].seat_secret or NO_SEAT_SECRET, self.answered_commands

    def apply(self, entries: Iterable[VerifiedEntry]) -> None:
        """Apply the next entries, with the seat's parts of them. Raises VerificationFailedError for a part that doesn't fit."""
        parts = self.parts
        for entry in entries:
            answers, events = self.part_verifier.verify(entry, parts.pop(entry.number, None))
            fold_events(self.state, entry.at_ms, events)
            self.answered_commands += answers is not None
            self.sequence = entry.number


class GameProjections:
    """The projections of a game's seats. They are of no more use once reading the game raised: it is read anew."""

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
        """These projections with this seat among them; all of them anew, if entries that it needs aren't held any more."""
        if seat in self.seats:
            return self
        if len(self._recent) < self.public_verifier.sequence:
            return GameProjections(self.game, (*self.seats, seat))
        self.seats[seat] = SeatProjection(self.game, seat)
        self._errors.pop(seat, None)
        return self

    def next_page(self) -> ViewRequest:
        """The request for the next page: the entries after the last verified one, if that one is still there, and all seats' parts."""
        verifier = self.public_verifier
        parts = [(seat, each.parts_until) for seat, each in self.seats.items()]
        return ViewRequest(verifier.game, verifier.sequence, (None,), verifier.head, parts)

    def apply(self, page: ViewPageOrError) -> bool:
        """Apply the page that was asked for last. Returns whether there may be another one.

        Raises the page, if it is an error, or VerificationFailedError for a public view that doesn't fit its chain. `current`
        raises faults in a seat's parts."""
        if not isinstance(page, ViewPage):
            raise page
        self._recent.extend(map(self.public_verifier.verify, page.views[None]))
        self._hold_parts(page.parts)
        first_needed = 1 + min((each.sequence for each in self.seats.values()), default=0)
        while self._recent and self._recent[0].number < first_needed:
            self._recent.popleft()
        return len(page.views[None]) >= PAGE_SIZE

    def current(self, seat: Seat) -> SeatProjection:
        """The seat's projection, as far as its parts were read. Raises their fault, such as VerificationFailedError."""
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
        """Bring a seat whose parts don't fit on no more."""
        del self.seats[projection.seat]
        self._errors[projection.seat] = error


# -- the projections that a bots worker holds ------------------------------------------------

MAX_GAMES: Final = 2_048
IDLE_S: Final = 10.0  # without a task, before a game is looked at: it may be over
MAX_LOOKS: Final = 64  # at idle games, at once


class HeldProjections(Mapping[tuple[str, Seat], SeatProjection]):
    """Projections by game and seat of a bots worker; games asked for longest ago are dropped first. `clock` is in seconds."""

    def __init__(self, clock: Callable[[], float] = time.monotonic) -> None:
        self.clock = clock
        self._games = Recent[str, GameProjections](MAX_GAMES)
        self._pages: dict[GameProjections, ViewPageOrError] = {}  # that were read and aren't applied yet
        self._current: dict[GameProjections, set[Seat]] = {}  # whose pages were read and applied

    def __getitem__(self, key: tuple[str, Seat]) -> SeatProjection:
        game, seat = key
        return self._games[game].seats[seat]

    def __iter__(self) -> Iterator[tuple[str, Seat]]:
        return ((game, seat) for game, projections in self._games.items() for seat in projections.seats)

    def __len__(self) -> int:
        return sum(len(projections.seats) for projections in self._games.values())

    def read_pages(self, views: ViewPageReader, seats: Iterable[tuple[str, Seat]]) -> None:
        """Read the next page of each of these games, in one round trip. They are applied when a seat is asked for."""
        games = dict[str, None]()
        for game, seat in seats:
            games[game] = None
            self._of_game(game, seat)
        if games:
            wanted = [self._games[game] for game in games]
            pages = views.read_views([projections.next_page() for projections in wanted])
            self._pages = dict(zip(wanted, pages, strict=True))

    def forget_pages(self) -> None:
        """Drop the pages that were read and not asked for."""
        self._pages.clear()
        self._current.clear()

    def refreshed(self, views: ViewPageReader, game: str, seat: Seat) -> SeatProjection:
        """The seat's projection with all that is new. Raises what reading does, and VIEW_ERRORS for a view not to be believed."""
        projections = self._of_game(game, seat)
        projections.looked_at_s = self.clock()
        page = self._pages.get(projections)
        if page is not None:
            is_full = projections.apply(page)  # a page that is an error is one for each of its seats
            del self._pages[projections]
            if isinstance(page, ViewPage) and not is_full:
                self._current[projections] = {*page.parts}
        current = self._current.get(projections)
        if current is not None and seat in current:
            current.remove(seat)
            projection = projections.current(seat)
        else:
            projection = projections.refresh(views, seat)
        if projection.state.result:  # nobody sends a task for a game that is over
            self.drop(game)
        return projection

    def drop(self, game: str) -> None:
        """Hold nothing of this game any more; all of it is read anew when it is asked for."""
        self._games.pop(game, None)

    def forget_finished(self, views: ViewPageReader) -> int:
        """Drop games that are over or gone, of those idle for longest. Returns how many projections were dropped."""
        idle = [
            (projections.looked_at_s, game)
            for game, projections in self._games.items()
            if self.clock() - projections.looked_at_s >= IDLE_S
        ]
        before, longest = len(self), [game for _, game in nsmallest(MAX_LOOKS, idle)]
        seats = [(game, seat) for game in longest for seat in [*self._games[game].seats][:1]]
        self.read_pages(views, seats)
        for game, seat in seats:
            try:
                self.refreshed(views, game, seat)
            except VIEW_ERRORS:
                self.drop(game)  # its next task says what is wrong
        self.forget_pages()
        return before - len(self)

    def _of_game(self, game: str, seat: Seat) -> GameProjections:
        """The game's projections, with this seat among them."""
        projections = (self._games.pop(game, None) or GameProjections(game)).with_seat(seat)
        self._games[game] = projections
        return projections
