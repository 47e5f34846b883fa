"""Who follows which game: one reader for all, woken by bells, that hands entries out.

A bell only says where to look. What was missed while it was silent is found by its
number: every follower goes on from the number that it has, and a slow round looks at all
of them once a second in case a bell was lost.
"""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Iterator, Mapping
from contextlib import contextmanager, suppress
from typing import Final, NamedTuple

from pydantic_core import to_json
from redis.exceptions import RedisError

from schemas.codec import Corrupt
from schemas.views import ViewEntry, write_view
from schemas.words import Seat
from services.ledger import Gap
from services.ledger.async_ledger import PAGE, AsyncLedger, Ring, Wanted
from services.logs import get_log
from services.loop import Outage

log = get_log("gateway")
BEHIND_MOST: Final = 1_000  # entries that wait for a slow viewer before it is dropped
LOOK_S: Final = 1.0

Sent = tuple[int, str | None, str]  # number, the viewer's command that it answers, JSON text


class Dropped(Exception):
    """The viewer doesn't keep up; it may come back and go on from its last number."""


class Damaged(Exception):
    """The game's view can't be read on. What exactly is broken stays in the log: it may be a
    seat's secret part."""


class Bell(NamedTuple):
    rung: asyncio.Event
    every: bool


class Session:
    """One viewer of one game, for as long as somebody listens."""

    __slots__ = ("queue", "start", "viewer")

    def __init__(self, viewer: Seat | None, start: int) -> None:
        self.viewer, self.start = viewer, start
        self.queue: asyncio.Queue[Sent | Dropped | Damaged] = asyncio.Queue(BEHIND_MOST)

    def put(self, sent: Sent) -> None:
        try:
            self.queue.put_nowait(sent)
        except asyncio.QueueFull:
            self.end(Dropped(f"more than {BEHIND_MOST} entries behind"))

    def end(self, why: Dropped | Damaged) -> None:
        """Drop what waits; the listener is told why."""
        while not self.queue.empty():
            self.queue.get_nowait()
        self.queue.put_nowait(why)


class Game:
    """A followed game: how far its view was read, and who listens."""

    __slots__ = ("last", "sessions")

    def __init__(self, last: int) -> None:
        self.last = last
        self.sessions: set[Session] = set()

    def take(self, views: Mapping[Seat | None, list[ViewEntry]]) -> int:
        """Hand the next entries of every viewer to its sessions; how many entries there were."""
        texts = {viewer: [sent(entry) for entry in entries] for viewer, entries in views.items()}
        for session in self.sessions:
            for item in texts[session.viewer]:
                session.put(item)
        count = len(next(iter(texts.values()), ()))
        self.last += count
        return count

    def close(self) -> None:
        """End every session: nothing more can be shown of this game."""
        for session in self.sessions:
            session.end(Damaged("this game's view is damaged"))


class Hub:
    def __init__(self, ledger: AsyncLedger) -> None:
        self.ledger = ledger
        self.games: dict[str, Game] = {}
        self._bells: dict[str, set[Bell]] = {}
        self._rung: set[str] = set()
        self._wake = asyncio.Event()

    # -- listening ---------------------------------------------------------------------

    def attach(self, game: str, viewer: Seat | None, after: int) -> Session:
        """Begin to listen: the session's queue holds everything after `session.start`."""
        followed = self.games.setdefault(game, Game(after))
        session = Session(viewer, followed.last)
        followed.sessions.add(session)
        self.ring(game)
        return session

    def detach(self, game: str, session: Session) -> None:
        followed = self.games[game]
        followed.sessions.discard(session)
        if not followed.sessions:
            del self.games[game]

    async def follow(self, game: str, session: Session, after: int) -> AsyncIterator[Sent]:
        """A session's entries after a number, for ever. Raises Dropped, Damaged, Gap or Corrupt."""
        while after < session.start:
            page = await self.ledger.seen(game, session.viewer, after)
            if not page:
                raise Gap(f"view: nothing is left after {after}, but {session.start} was there")
            for entry in page:
                yield sent(entry)
                after = entry.number
        while True:
            item = await session.queue.get()
            if isinstance(item, Dropped | Damaged):
                raise item
            if item[0] > after:
                yield item
                after = item[0]

    # -- ringing -----------------------------------------------------------------------

    def ring(self, game: str) -> None:
        """The game may have new entries: read on, for those who follow it."""
        if game in self.games:
            self._rung.add(game)
            self._wake.set()

    def _strike(self, ring: Ring) -> None:
        """A bell. What isn't a new entry is a verdict without one, or one given again; a new
        entry that the bell brings, and that is the next, goes out without a read."""
        followed = self.games.get(ring.game)
        old = followed is None or ring.number <= followed.last
        for bell in self._bells.get(ring.game, ()):
            if old or bell.every:
                bell.rung.set()
        if followed is None or ring.public is None or ring.number != followed.last + 1:
            self.ring(ring.game)
            return
        try:
            followed.take({viewer: [ring.entry_for(viewer)] for viewer in self._viewers(ring.game)})
        except Corrupt as error:
            log.error("view is damaged", game=ring.game, sequence=ring.number, error=str(error))
            followed.close()

    @contextmanager
    def bell_of(self, game: str, *, every: bool) -> Iterator[asyncio.Event]:
        """An event that is set when something happens in the game that brings no new entry,
        or at `every` bell; and once a second, because bells may be lost."""
        bell = Bell(asyncio.Event(), every)
        self._bells.setdefault(game, set()).add(bell)
        try:
            yield bell.rung
        finally:
            self._bells[game].discard(bell)
            if not self._bells[game]:
                del self._bells[game]

    async def run(self) -> None:
        """Listen to the bells and hand out entries, until cancelled."""
        async with asyncio.TaskGroup() as tasks:
            tasks.create_task(self._listen())
            tasks.create_task(self._look())
            tasks.create_task(self._hand_out())

    async def _listen(self) -> None:
        outage = Outage(log)
        while True:
            try:
                await self.ledger.ping()
                outage.over()
                async for ring in self.ledger.bells():
                    self._strike(ring)
            except (RedisError, OSError) as error:
                outage.pause_s("engine", error)
                await asyncio.sleep(LOOK_S)  # no longer: commands that wait for a verdict need their bells

    async def _look(self) -> None:
        while True:
            await asyncio.sleep(LOOK_S)
            for game in {*self.games, *self._bells}:
                self._strike(Ring(game, 0))

    async def _hand_out(self) -> None:
        while True:
            await self._wake.wait()
            self._wake.clear()
            rung, self._rung = self._rung & self.games.keys(), set()
            with suppress(RedisError, OSError):  # the next look tries again
                await self._read(rung)

    async def _read(self, rung: set[str]) -> None:
        wanted = [Wanted(game, self.games[game].last, self._viewers(game)) for game in rung]
        if not wanted:
            return
        for (game, after, _), views in zip(wanted, await self.ledger.seen_many(wanted), strict=True):
            followed = self.games.get(game)
            if followed is None or followed.last != after:
                continue  # everybody left, or left and others came, while we read
            try:
                if isinstance(views, Gap | Corrupt):
                    raise views
                if any(session.viewer not in views for session in followed.sessions):
                    self.ring(game)  # somebody came while we read: read again, for all
                elif followed.take(views) == PAGE:
                    self.ring(game)
            except (Gap, Corrupt) as damage:
                log.error("view is damaged", game=game, sequence=after, error=str(damage))
                followed.close()

    def _viewers(self, game: str) -> tuple[Seat | None, ...]:
        return tuple({session.viewer for session in self.games[game].sessions})


def sent(entry: ViewEntry) -> Sent:
    """An entry as it goes out: its JSON is made once for all who see the same.

    Raises Corrupt: an entry may be msgpack of our form and still hold what no JSON can say."""
    try:
        text = to_json({"type": "entry", **write_view(entry)}).decode()
    except (ValueError, TypeError, AttributeError) as error:
        raise Corrupt(f"entry {entry.number} can't be written as JSON: {error}") from None
    return entry.number, entry.answers, text
