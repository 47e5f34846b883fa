"""The hub: one reader for all who follow games, woken by their notifications, delivers entries to subscriptions.

A notification only shows where to read. Entries whose notification was lost are found by their number: every game is
read on from the last number that was delivered, and a slow poll checks the games that had no notification.

The engine that takes over in a fail-over may have lost a log's end, and the log may have grown again since. So every
entry must follow the very head that was delivered last; where it doesn't, the game's subscriptions end, and their
viewers read the view again. Where a game's streams go, the rest is in its file.

A follower who was delivered the end needs nothing more. One who wasn't, or came late, gets the rest of the view here,
one game after the other, so that no other game waits for it.

Whoever waits for a game's verdicts is woken by its notifications, and by a slow poll, as notifications may be lost.
"""

from __future__ import annotations

import asyncio
import time
from collections.abc import AsyncIterator, Awaitable, Callable, Collection, Iterator, Sequence
from contextlib import contextmanager, suppress
from itertools import islice
from math import ceil
from time import perf_counter
from typing import Final

from schemas.errors import CorruptDataError
from schemas.field_types import Seat
from schemas.stored.codec import read_private_part
from schemas.stored.entries import ViewEntry
from services.gateway.errors import NotYetError
from services.gateway.following.entry_encoding import (
    EncodedEntry,
    NewEntries,
    NotifiedEntry,
    PageEntries,
    encode_entry,
)
from services.gateway.following.subscriptions import (
    DeliveryQueue,
    DirectSend,
    FollowedGame,
    Subscription,
    SubscriptionEnd,
    ViewDamagedError,
)
from services.ledger import MissingEntryError
from services.ledger.async_ledger import AsyncLedger
from services.ledger.log.views import PAGE_SIZE, LogHead, ViewPage, ViewPageOrError, ViewRequest
from services.ledger.notifications import EntryNotification
from services.ledger.ports import ENGINE_ERRORS, EngineError, LogRewoundError, NodeAwayError
from services.metrics import declared as metrics
from services.runtime import command_traces
from services.runtime.logging_setup import get_logger
from services.runtime.worker_loop import Outage

MIN_WAIT_S: Final = 1.0  # of a client that says something about the server when it gets no verdict
QUIET_S: Final = 5.0  # without an unknown answer, before a verdict ends it


class AnswerWatch:
    """Counts the answers of a gateway that are `unknown`. `monotonic_s` is a clock that nobody sets."""

    def __init__(self, monotonic_s: Callable[[], float] = time.monotonic) -> None:
        self._monotonic_s = monotonic_s
        self._count, self._began_s = 0, 0.0
        self._last_unknown_s = self.last_verdict_s = float("-inf")
        self.explain: Callable[[], list[str]] = list  # what is known to be wrong now

    def record_unknown(self, wait_s: float | None) -> None:
        """A client that waited for so long got no verdict; None: as long as the server's own time limit, or the
        engine didn't take its command."""
        if wait_s is not None and wait_s < MIN_WAIT_S:
            return
        metrics.UNKNOWN_ANSWERS.add()
        self._last_unknown_s = self._monotonic_s()
        if not self._count:
            self._began_s = self._last_unknown_s
            log.warning("answers are unknown: commands get no verdict in time", why=self.explain())
        self._count += 1

    def record_verdict(self) -> None:
        """A verdict on any command was seen."""
        self.last_verdict_s = self._monotonic_s()

    def is_unknown(self) -> bool:
        """Whether answers are unknown now."""
        return self._count > 0

    def end_if_over(self, is_ready: bool) -> None:
        """Called now and then: note that verdicts come again, once there was no unknown answer for a while."""
        now_s = self._monotonic_s()
        comes_again = is_ready or self.last_verdict_s > self._last_unknown_s
        if self._count and comes_again and now_s - self._last_unknown_s >= QUIET_S:
            log.warning(
                "answers have verdicts again",
                unknown=self._count,
                lasted_s=round(self._last_unknown_s - self._began_s, 1),
            )
            self._count = 0


log = get_logger("gateway")
POLL_INTERVAL_S: Final = 1.0
MAX_IDLE_POLLED: Final = 2_000  # idle games that one poll reads; more of them take turns
POLL_BATCH_SIZE: Final = 50


class Hub:
    """Follows the games that have subscriptions, by one notification channel and batched reads."""

    def __init__(self, ledger: AsyncLedger, read_finished_view: FinishedView | None = None) -> None:
        self.ledger, self.answers = ledger, AnswerWatch()
        self._finished_pages = FinishedPages(ledger, read_finished_view)
        self.followed_games: dict[str, FollowedGame] = {}
        self.verdict_waiters = VerdictWaiters(ledger)
        self._stale: set[str] = set()
        self._failed_reads: set[str] = set()  # games whose read failed: the engine didn't answer
        self._recently_delivered: set[str] = set()  # games with an entry delivered since the last poll
        self._poll_queue: list[str] = []  # games that this round still has to poll
        self._has_stale = asyncio.Event()
        self.deliveries = DeliveryQueue(on_drained=self.mark_stale)

    # -- subscriptions ---------------------------------------------------------------------

    def count_followers(self) -> int:
        """How many subscriptions there are; any thread may ask."""
        return sum(len(followed.subscriptions) for followed in list(self.followed_games.values()))

    def subscribe(self, game: str, viewer: Seat | None, after: int, proofs: bool = False) -> Subscription:
        """Subscribe a viewer who has the entries up to `after`: the hub delivers those after `subscription.start`."""
        followed = self.followed_games.setdefault(game, FollowedGame(after))
        if followed.is_caught_up and after:
            metrics.RESUME_GAP.observe(max(0, followed.last_sequence - after))
        subscription = Subscription(viewer, followed.last_sequence, proofs)
        subscription.add_start_head(followed.head)
        followed.subscriptions[subscription] = None
        followed.watchers += viewer is None
        if not self.ledger.channels.want(game):
            self.mark_stale(game)  # else it is read as soon as its notifications come
        return subscription

    def unsubscribe(self, game: str, subscription: Subscription) -> None:
        """End a subscription; a game without any is no longer followed."""
        followed = self.followed_games.get(game)
        if followed is None or subscription not in followed.subscriptions:
            return  # all of the game's subscriptions were ended
        del followed.subscriptions[subscription]
        followed.watchers -= subscription.viewer is None
        self.ledger.channels.release(game)
        if not followed.subscriptions:
            del self.followed_games[game]

    def count_watchers(self, game: str) -> int:
        """How many follow the game here without a seat."""
        followed = self.followed_games.get(game)
        return followed.watchers if followed else 0

    async def follow(
        self,
        game: str,
        subscription: Subscription,
        after: int,
        direct_send: DirectSend | None = None,
        head: bytes = b"",
    ) -> AsyncIterator[EncodedEntry]:
        """A subscription's entries after a number, endlessly; once none waits, `direct_send` gets them instead.
        Entry `after` must have this head, where the subscriber knows one.

        Raises SlowConsumerError, ViewDamagedError, LogRewoundError, MissingEntryError or CorruptDataError."""
        read_head = head or None
        while after < subscription.start:  # and no further: the hub delivers what follows, whatever was lost
            request = ViewRequest(game, after, (subscription.viewer,), read_head)
            page = await self._finished_pages.read_on(request, min(PAGE_SIZE, subscription.start - after))
            if not page:
                raise LogRewoundError(f"nothing is left after {after}, but {subscription.start} was there")
            for entry in page:
                yield encode_entry(entry, subscription.proofs)
                after = entry.number
            read_head = page[-1].shown.head
        delivered = subscription.start
        if delivered == after:
            subscription.add_start_head(read_head or b"")
        while True:
            if subscription.queue.empty() and delivered >= after:
                subscription.direct_send = direct_send
            item = await subscription.queue.get()
            if isinstance(item, SubscriptionEnd):
                raise item
            delivered = item.number
            if delivered > after:
                yield item
                after = delivered
            elif delivered == after and head and item.head not in (head, b""):
                raise LogRewoundError(f"entry {after} isn't the one that the subscriber has")

    # -- notifications -----------------------------------------------------------------------

    def mark_stale(self, game: str) -> None:
        """Read the game's new entries, if it is followed."""
        if game in self.followed_games:
            self._stale.add(game)
            self._has_stale.set()

    def _on_subscribed(self, game: str) -> None:
        """From now on the game's notifications come: what was before is read."""
        self.verdict_waiters.notify(game, has_new_entry=False)
        self.mark_stale(game)

    def _on_notification(self, notification: EntryNotification) -> None:
        """Wake those who wait for a verdict without a new entry, and deliver a new one. If the notification
        carries the next entry, that takes no read."""
        self.answers.record_verdict()
        followed = self.followed_games.get(notification.game)
        is_old = followed is None or notification.sequence <= followed.last_sequence
        self.verdict_waiters.notify(notification.game, has_new_entry=not is_old)
        if (
            followed is None
            or notification.public is None
            or notification.sequence != followed.last_sequence + 1
        ):
            self.mark_stale(notification.game)
            return
        self._recently_delivered.add(notification.game)
        if self.deliveries.is_full(followed):
            return
        try:
            began_s = perf_counter()
            self._deliver(notification.game, followed, NotifiedEntry(notification))
            if command_traces.SPANS:
                _trace(notification, len(followed.subscriptions), perf_counter() - began_s)
        except (CorruptDataError, LogRewoundError) as error:
            self._end_subscriptions(notification.game, error)

    def _deliver(self, game: str, followed: FollowedGame, new: NewEntries) -> None:
        """Deliver the next entries, or read them where they can't be sent as they are."""
        heard_s = perf_counter()
        if (recipients := followed.take(new)) is None:
            self.mark_stale(game)
        else:
            self.deliveries.deliver(game, followed, recipients, heard_s)

    def _end_subscriptions(
        self, game: str, error: MissingEntryError | CorruptDataError | LogRewoundError
    ) -> None:
        """End all subscriptions of a game that can't be read on. New ones start from their own numbers."""
        followed = self.followed_games.pop(game)
        log.error("view is damaged", game=game, sequence=followed.last_sequence, error=str(error))
        reason = (
            error if isinstance(error, LogRewoundError) else ViewDamagedError("this game's view is damaged")
        )
        for subscription in followed.subscriptions:
            subscription.end(reason)
            self.ledger.channels.release(game)

    async def run(self) -> None:
        """Listen to notifications and deliver entries, until cancelled."""
        async with asyncio.TaskGroup() as tasks:
            tasks.create_task(self._listen())
            tasks.create_task(self._poll_waiters())
            tasks.create_task(self._poll_idle())
            tasks.create_task(self._dispatch())
            tasks.create_task(self._take_finished_pages())
            tasks.create_task(self.deliveries.run())

    async def _listen(self) -> None:
        outage = Outage(log)
        while True:
            try:
                await self.ledger.ping()
                outage.record_success()
                await self.ledger.channels.listen(self._on_notification, self._on_subscribed)
            except ENGINE_ERRORS as error:
                outage.record_failure("engine", error)
                if not isinstance(error, NodeAwayError):  # there may be another node to listen at
                    # no longer: commands that wait for a verdict need their notifications
                    await asyncio.sleep(POLL_INTERVAL_S)

    async def _poll_waiters(self) -> None:
        while True:
            await asyncio.sleep(POLL_INTERVAL_S)
            self.verdict_waiters.poll()
            failed, self._failed_reads = self._failed_reads, set()
            for game in failed:
                self.mark_stale(game)

    async def _poll_idle(self) -> None:
        """Poll the idle games, a few at a time, so that nothing else waits for it."""
        while True:
            idle = self._idle_games()
            pause_s = POLL_INTERVAL_S / max(1, ceil(len(idle) / POLL_BATCH_SIZE))
            await asyncio.sleep(pause_s)
            while idle:
                batch, idle = idle[:POLL_BATCH_SIZE], idle[POLL_BATCH_SIZE:]
                with suppress(*ENGINE_ERRORS):  # the next round reads them again
                    self._mark_changed(batch, await self.ledger.read_heads(batch))
                await asyncio.sleep(pause_s)

    def _mark_changed(
        self, games: Sequence[str], heads: Sequence[LogHead | CorruptDataError | EngineError]
    ) -> None:
        for game, latest in zip(games, heads, strict=True):
            followed = self.followed_games.get(game)
            if followed is None or isinstance(latest, EngineError):
                continue
            is_stored = followed.is_over and latest == (0, b"")  # and all of it was delivered
            if isinstance(latest, CorruptDataError) or not (is_stored or followed.is_at(*latest)):
                self.mark_stale(game)

    def _idle_games(self) -> list[str]:
        """The games whose turn it is in this round, without those that had an entry since the last poll."""
        if not self._poll_queue:
            self._poll_queue = list(self.followed_games)
        batch = list(islice(reversed(self._poll_queue), MAX_IDLE_POLLED))
        del self._poll_queue[-MAX_IDLE_POLLED:]
        delivered, self._recently_delivered = self._recently_delivered, set()
        return [game for game in batch if game not in delivered]

    async def _dispatch(self) -> None:
        while True:
            await self._has_stale.wait()
            self._has_stale.clear()
            stale, self._stale = self._stale & self.followed_games.keys(), set()
            try:
                await self._read_stale(stale)
            except ENGINE_ERRORS:
                self._failed_reads |= stale  # the next poll marks them stale again

    async def _read_stale(self, stale: set[str]) -> None:
        requests = [
            ViewRequest(game, followed.last_sequence, self._viewers(game), followed.head)
            for game, followed in ((game, self.followed_games[game]) for game in stale)
            if not self.deliveries.is_full(followed)
        ]
        pages = await self.ledger.read_views(requests) if requests else []
        for request, page in zip(requests, pages, strict=True):
            if await self._finished_pages.are_wanted(request, page):
                self._finished_pages.put(request)
            elif isinstance(page, EngineError):
                self._failed_reads.add(request.game)
            else:
                self._take_page(request, page)

    async def _take_finished_pages(self) -> None:
        async for request, page in self._finished_pages.run():
            if page is None:
                self._failed_reads.add(request.game)
            else:
                self._take_page(request, page)

    def _take_page(self, request: ViewRequest, page: GamePage) -> None:
        game, followed = request.game, self.followed_games.get(request.game)
        if followed is None or followed.last_sequence != request.after:
            return  # all unsubscribed, or others subscribed since, while this read ran
        try:
            if isinstance(page, Exception):
                raise page
            if any(subscription.viewer not in page.views for subscription in followed.subscriptions):
                self.mark_stale(game)  # a viewer subscribed while this read ran: read again, for all
            else:
                self._deliver(game, followed, PageEntries(page))
                if not followed.is_caught_up:
                    followed.is_caught_up = True
                    if request.after:
                        metrics.RESUME_GAP.observe(followed.last_sequence - request.after)
                if followed.last_sequence - request.after == PAGE_SIZE:
                    self.mark_stale(game)
        except (MissingEntryError, CorruptDataError, LogRewoundError) as error:
            self._end_subscriptions(game, error)

    def _viewers(self, game: str) -> tuple[Seat | None, ...]:
        return tuple(dict.fromkeys(each.viewer for each in self.followed_games[game].subscriptions))


# The whole view of a viewer of a game without streams; None where no file of it is known.
FinishedView = Callable[[str, Seat | None], Awaitable[Sequence[ViewEntry] | None]]
GamePage = ViewPage | MissingEntryError | CorruptDataError | LogRewoundError  # what a read shows of a game
LEFT: Final = "the game has left the engine"


class FinishedPages:
    """Reads the rest of finished games' views. `put` asks for one; `run` yields it."""

    def __init__(self, ledger: AsyncLedger, read_view: FinishedView | None) -> None:
        self._ledger, self._read_view = ledger, read_view
        self._wanted: asyncio.Queue[ViewRequest] = asyncio.Queue()
        self._waiting: set[str] = set()  # games

    async def are_wanted(self, request: ViewRequest, page: ViewPageOrError) -> bool:
        """Whether a game has no streams any more, for all that this read of them shows."""
        if isinstance(page, ViewPage):
            is_empty = not any(page.views.values()) and (request.head is None or not request.after)
        else:
            is_empty = isinstance(page, LogRewoundError)
        return is_empty and not await self._ledger.read_length(request.game)

    async def read_on(self, request: ViewRequest, limit: int) -> Sequence[ViewEntry]:
        """The next entries of a request's one viewer, from the streams, or from the game's file where they are gone.
        Raises as `AsyncLedger.read_view` and `read`."""
        [page] = await self._ledger.read_views([request], limit)
        if await self.are_wanted(request, page):
            page = await self.read(request)
        if isinstance(page, Exception):
            raise page
        [view] = page.views.values()
        return view[:limit]

    def put(self, request: ViewRequest) -> None:
        """Ask for the rest of a game's views, once."""
        if request.game not in self._waiting:
            self._waiting.add(request.game)
            self._wanted.put_nowait(request)

    async def run(self) -> AsyncIterator[tuple[ViewRequest, GamePage | None]]:
        """Yield each request that was put, with its page; None where it can't be read now."""
        while True:
            request = await self._wanted.get()
            page: GamePage | None
            try:
                page = await self.read(request)
            except (LogRewoundError, CorruptDataError) as error:
                page = error
            except (NotYetError, *ENGINE_ERRORS):
                page = None
            self._waiting.discard(request.game)
            yield request, page

    async def read(self, request: ViewRequest) -> ViewPage:
        """The rest of a game's views, all of it. Raises LogRewoundError: the game has no file, or another entry
        `request.after`; CorruptDataError; or NotYetError: the archive can't be read now."""
        game, after, viewers, head, *_ = request
        views: dict[Seat | None, list[ViewEntry]] = {}
        for viewer in viewers:
            view = None if self._read_view is None else await self._read_view(game, viewer)
            if view is None and not after:
                return ViewPage({viewer: [] for viewer in viewers}, b"", b"")  # a game that isn't there yet
            if view is None or len(view) < after:
                raise LogRewoundError(LEFT)
            if after and head and view[after - 1].shown.head not in (head, b""):
                raise LogRewoundError(f"entry {after} isn't the one that was read")
            views[viewer], last = list(view[after:]), view[-1]
            known_head = view[after - 1].shown.head if after else b""
        return ViewPage(views, last.shown.head, known_head, is_last=True)


class VerdictWaiter:
    """A wait for the verdicts on `pending_ids`; it isn't notified while they are empty."""

    __slots__ = ("notified", "on_every_entry", "pending_at_last_poll", "pending_ids")

    def __init__(self, on_every_entry: bool, pending_ids: Collection[str]) -> None:
        self.notified = asyncio.Event()
        self.on_every_entry, self.pending_ids = on_every_entry, pending_ids
        self.pending_at_last_poll: Collection[str] = ()

    def notify(self) -> None:
        """Set the event if anything is pending."""
        if self.pending_ids:
            self.notified.set()

    def poll(self) -> None:
        """Set the event if something was pending at the last poll already: its notification may be lost. Commands that
        were added since may have their verdicts on the way; reading for all of them would delay everybody."""
        if self.pending_at_last_poll and any(id_ in self.pending_ids for id_ in self.pending_at_last_poll):
            self.notified.set()
        self.pending_at_last_poll = tuple(self.pending_ids)


class VerdictWaiters:
    """The waiters of all games, whose notifications are heard for as long as anybody waits."""

    def __init__(self, ledger: AsyncLedger) -> None:
        self._ledger = ledger
        self.by_game: dict[str, dict[VerdictWaiter, None]] = {}  # who waits longest is woken first

    @contextmanager
    def waiting(
        self, game: str, *, on_every_entry: bool, pending_ids: Collection[str] = ("it",)
    ) -> Iterator[asyncio.Event]:
        """An event that is set at every notification of the game, or only at those without a new entry; and by a
        poll each second for what is pending so long, because notifications may be lost. It isn't set while
        `pending_ids` is empty."""
        waiter = VerdictWaiter(on_every_entry, pending_ids)
        self.by_game.setdefault(game, {})[waiter] = None
        self._ledger.channels.want(game)
        try:
            yield waiter.notified
        finally:
            self._ledger.channels.release(game)
            del self.by_game[game][waiter]
            if not self.by_game[game]:
                del self.by_game[game]

    def notify(self, game: str, *, has_new_entry: bool) -> None:
        """Wake those who wait for this: not all do for a new entry."""
        for waiter in self.by_game.get(game, ()):
            if waiter.on_every_entry or not has_new_entry:
                waiter.notify()

    def poll(self) -> None:
        """Wake all who have waited since the last poll."""
        for waiters in self.by_game.values():
            for waiter in waiters:
                waiter.poll()


def _trace(notification: EntryNotification, followers: int, took_s: float) -> None:
    """Record that the entry went to its game's followers, under the command that its sender's part names."""
    for seat, part in notification.private_parts.items():
        if (answers := read_private_part(part).answers) is not None:
            number = notification.sequence
            command_traces.record(
                "notify", notification.game, seat, answers, took_s, sequence=number, followers=followers
            )
