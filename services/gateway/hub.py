"""Who follows which game: one reader for all, woken by bells, that hands entries out.

A bell only says where to look. What was missed while it was silent is found by its
number: every follower goes on from the number that it has, and a slow round looks at those
that were silent, in case a bell was lost.

An engine that takes over after a fail-over may have lost a log's end, and the log may have
grown again by then. So what follows must follow the very head that was handed out last;
where it doesn't, the viewers are sent away to read the view anew.
"""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Collection, Iterator, Sequence
from contextlib import contextmanager, suppress
from itertools import islice
from math import ceil
from typing import Final

from redis.exceptions import RedisError

from schemas.codec import Corrupt
from schemas.field_types import Seat
from services.gateway.subscriptions import Damaged, End, Game, Hand, Sent, Session, sent
from services.ledger import Gap
from services.ledger.async_ledger import PAGE, AsyncLedger, Latest, Ring, Wanted
from services.ledger.view_merge import TakenBack
from services.runtime.logging_setup import get_log
from services.runtime.worker_loop import Outage

log = get_log("gateway")
LOOK_S: Final = 1.0
LOOK_MOST: Final = 2_000  # silent games that one round asks for; where there are more, they take turns
LOOK_AT_ONCE: Final = 50
RINGS_AT_ONCE: Final = 32


class Bell:
    """Somebody who waits for verdicts; nobody does while `waiting` is empty."""

    __slots__ = ("every", "rung", "waited", "waiting")

    def __init__(self, every: bool, waiting: Collection[str]) -> None:
        self.rung = asyncio.Event()
        self.every, self.waiting = every, waiting
        self.waited: Collection[str] = ()  # at the last look

    def strike(self) -> None:
        if self.waiting:
            self.rung.set()

    def look(self) -> None:
        """Strike if something waited at the last look already: its bell may be lost. What came since
        may well have an answer on its way; to ask for all of it at once would hold up everybody."""
        if any(id_ in self.waiting for id_ in self.waited):
            self.rung.set()
        self.waited = tuple(self.waiting)


class Hub:
    def __init__(self, ledger: AsyncLedger) -> None:
        self.ledger = ledger
        self.games: dict[str, Game] = {}
        self._bells: dict[str, set[Bell]] = {}
        self._rung: set[str] = set()
        self._unread: set[str] = set()  # games that rang, and the engine didn't answer
        self._heard: set[str] = set()  # games that were handed out since the last look
        self._unlooked: list[str] = []  # games whose turn to be looked at is still to come
        self._wake = asyncio.Event()

    # -- listening ---------------------------------------------------------------------

    def attach(self, game: str, viewer: Seat | None, after: int, proofs: bool = False) -> Session:
        """Begin to listen: the session's queue holds everything after `session.start`."""
        followed = self.games.setdefault(game, Game(after))
        session = Session(viewer, followed.last, proofs)
        followed.sessions.add(session)
        self.ring(game)
        return session

    def detach(self, game: str, session: Session) -> None:
        followed = self.games.get(game)
        if followed is None or session not in followed.sessions:
            return  # the game was ended for all
        followed.sessions.discard(session)
        if not followed.sessions:
            del self.games[game]

    async def follow(
        self, game: str, session: Session, after: int, hand: Hand | None = None
    ) -> AsyncIterator[Sent]:
        """A session's entries after a number, for ever; once none waits, `hand` gets them instead.

        Raises Dropped, Damaged, TakenBack, Gap or Corrupt."""
        head: bytes | None = None
        while after < session.start:  # and no further: what follows must be handed out, whatever was lost
            most = min(PAGE, session.start - after)
            page = await self.ledger.seen(game, session.viewer, after, most, head)
            if not page:
                raise TakenBack(f"nothing is left after {after}, but {session.start} was there")
            for entry in page:
                yield sent(entry, session.proofs)
                after = entry.number
            head = page[-1].shown.head
        session.starts_at(head or b"")
        while True:
            if session.queue.empty():
                session.hand = hand
            item = await session.queue.get()
            if isinstance(item, End):
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
                bell.strike()
        if followed is None or ring.public is None or ring.number != followed.last + 1:
            self.ring(ring.game)
            return
        self._heard.add(ring.game)
        try:
            followed.hear(ring)
        except (Corrupt, TakenBack) as error:
            self._end(ring.game, error)

    def _end(self, game: str, why: Gap | Corrupt | TakenBack) -> None:
        """Nothing more can be shown of this game to those who follow it; who comes now begins anew."""
        followed = self.games.pop(game)
        log.error("view is damaged", game=game, sequence=followed.last, error=str(why))
        end = why if isinstance(why, TakenBack) else Damaged("this game's view is damaged")
        for session in followed.sessions:
            session.end(end)

    @contextmanager
    def bell_of(
        self, game: str, *, every: bool, waiting: Collection[str] = ("it",)
    ) -> Iterator[asyncio.Event]:
        """An event that is set when something happens in the game that brings no new entry,
        or at `every` bell; and once a second for what waits so long, because bells may be lost. Not
        while `waiting` holds nothing."""
        bell = Bell(every, waiting)
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
            tasks.create_task(self._go_round())
            tasks.create_task(self._hand_out())

    async def _listen(self) -> None:
        outage = Outage(log)
        while True:
            try:
                await self.ledger.ping()
                outage.over()
                for game in self.games:
                    self.ring(game)  # what rang meanwhile, nobody heard
                struck = 0
                async for ring in self.ledger.bells():
                    self._strike(ring)
                    struck += 1
                    if struck % RINGS_AT_ONCE == 0:
                        await asyncio.sleep(0)  # commands that came meanwhile don't wait for all the rest
            except (RedisError, OSError) as error:
                outage.pause_s("engine", error)
                await asyncio.sleep(LOOK_S)  # no longer: commands that wait for a verdict need their bells

    async def _look(self) -> None:
        while True:
            await asyncio.sleep(LOOK_S)
            for bells in self._bells.values():
                for bell in bells:
                    bell.look()
            unread, self._unread = self._unread, set()
            for game in unread:
                self.ring(game)

    async def _go_round(self) -> None:
        """Look at the silent games, a few at a time: nobody else is to wait for it."""
        while True:
            silent = self._silent()
            pause_s = LOOK_S / max(1, ceil(len(silent) / LOOK_AT_ONCE))
            await asyncio.sleep(pause_s)
            while silent:
                some, silent = silent[:LOOK_AT_ONCE], silent[LOOK_AT_ONCE:]
                with suppress(RedisError, OSError):  # the next round tries again
                    self._compare(some, await self.ledger.latest(some))
                await asyncio.sleep(pause_s)

    def _compare(self, games: Sequence[str], found: Sequence[Latest | Corrupt | RedisError]) -> None:
        for game, latest in zip(games, found, strict=True):
            followed = self.games.get(game)
            if followed is None or isinstance(latest, RedisError):
                continue
            if isinstance(latest, Corrupt) or not followed.is_at(*latest):
                self.ring(game)

    def _silent(self) -> list[str]:
        """Games whose turn it is to be looked at, but for those that were heard since."""
        if not self._unlooked:
            self._unlooked = list(self.games)
        turn = list(islice(reversed(self._unlooked), LOOK_MOST))
        del self._unlooked[-LOOK_MOST:]
        heard, self._heard = self._heard, set()
        return [game for game in turn if game not in heard]

    async def _hand_out(self) -> None:
        while True:
            await self._wake.wait()
            self._wake.clear()
            rung, self._rung = self._rung & self.games.keys(), set()
            try:
                await self._read(rung)
            except (RedisError, OSError):
                self._unread |= rung  # the next look tries again: it may be as long as before, and another

    async def _read(self, rung: set[str]) -> None:
        wanted = [
            Wanted(game, followed.last, self._viewers(game), followed.head)
            for game, followed in ((game, self.games[game]) for game in rung)
        ]
        if not wanted:
            return
        for (game, after, *_), page in zip(wanted, await self.ledger.seen_many(wanted), strict=True):
            followed = self.games.get(game)
            if followed is None or followed.last != after:
                continue  # everybody left, or left and others came, while we read
            if isinstance(page, RedisError):
                self._unread.add(game)
                continue
            try:
                if isinstance(page, Gap | Corrupt | TakenBack):
                    raise page
                if any(session.viewer not in page.views for session in followed.sessions):
                    self.ring(game)  # somebody came while we read: read again, for all
                elif followed.take(page) == PAGE:
                    self.ring(game)
            except (Gap, Corrupt, TakenBack) as damage:
                self._end(game, damage)

    def _viewers(self, game: str) -> tuple[Seat | None, ...]:
        return tuple({session.viewer for session in self.games[game].sessions})
