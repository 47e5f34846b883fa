"""The projections that a bots worker holds, of the games whose bots it serves."""

from __future__ import annotations

import time
from collections import OrderedDict
from collections.abc import Callable, Iterable, Iterator, Mapping
from heapq import nsmallest
from typing import Final

from schemas.field_types import Seat
from services.bots.seat_projection import VIEW_ERRORS, GameProjections, SeatProjection, ViewPageReader
from services.ledger.log.view_pages import ViewPage
from services.ledger.log.view_queries import ViewPageOrError

MAX_GAMES: Final = 2_048
IDLE_S: Final = 10.0  # without a task, before a game is looked at: it may be over
MAX_LOOKS: Final = 64  # at idle games, at once


class HeldProjections(Mapping[tuple[str, Seat], SeatProjection]):
    """Projections by game and seat; the games that were asked for longest ago are dropped first. `clock` is a
    monotonic clock in seconds."""

    def __init__(self, clock: Callable[[], float] = time.monotonic) -> None:
        self.clock = clock
        self._games: OrderedDict[str, GameProjections] = OrderedDict()
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
        """Read the next page of each of these games, with the parts of its seats, in one round trip. They are applied
        when they are asked for."""
        games = dict[str, None]()
        for game, seat in seats:
            games[game] = None
            self._of_game(game, seat)
        if games:
            wanted = [self._games[game] for game in games]
            pages = views.read_views([projections.next_page() for projections in wanted])
            self._pages = dict(zip(wanted, pages, strict=True))

    def forget_pages(self) -> None:
        """Drop what was read and isn't asked for any more."""
        self._pages.clear()
        self._current.clear()

    def refreshed(self, views: ViewPageReader, game: str, seat: Seat) -> SeatProjection:
        """The seat's projection with all that is new: by the page that was read for it, else it is read. Raises what
        reading does, and one of VIEW_ERRORS where the view can't be believed, or doesn't go on from what was read."""
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
        """Drop the games that are over or gone: nobody sends a task for those. Looks at some of those that weren't
        asked for for a while, the longest first; returns how many projections were dropped."""
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
        if len(self._games) > MAX_GAMES:
            self._games.popitem(last=False)
        return projections
