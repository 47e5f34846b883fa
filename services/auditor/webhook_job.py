"""A seat's webhook, and each device that it named, is notified of what the seat is asked for, unless the seat knows by now.

At least once: a worker that dies after it has sent sends again, under the same id. What is over (the seat has acted, or
is asked for something newer) isn't sent any more. The scan looks at games that have webhooks, and at those only when they
have a new entry: no other game, and no move, costs anything. What a seat is asked for is folded from the view that
everybody may see, so what is sent follows from nothing that is hidden from anybody.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator
from typing import Final

from schemas.errors import CorruptDataError
from schemas.events import TurnStarted
from schemas.field_types import Seat
from schemas.stored.entries import ViewEntry
from schemas.web.webhooks import Asked, Notice, Webhook, sign
from services.archive import TrustedKeys
from services.auditor.job_queue import Jobs, RecheckThrottle
from services.auditor.jobs import WEBHOOK_QUEUE_NAME, AuditorLedger, JobContext, job_type
from services.auditor.webhook_client import ReceiverBusyError, WebhookClient, WebhookFailedError
from services.ledger import MissingEntryError
from services.ledger.log.views import ViewRequest
from services.ledger.ports import LogRewoundError
from services.ledger.stores.webhook_store import WEBHOOK, StoredWebhook
from services.metrics import declared as metrics
from services.referee.games import GameState, fold_events
from services.runtime.forgetful_mapping import Recent
from services.runtime.logging_setup import get_logger
from services.runtime.web_push import PushKeys, encrypt
from services.runtime.worker_loop import PROGRAMMING_ERRORS
from services.verification.game_repository import FinishedGameReader

log = get_logger("auditor")
JOB_NAME: Final = "webhook"
GONE: Final = 410  # its owner wants no more of it
NO_DEVICE: Final = 404  # a push service says so too, of a browser that it forgot
RECHECK_INTERVAL_S: Final = 60.0  # of a game without a new entry: its jobs may be lost
MAX_FOLDS: Final = 256  # games that are kept folded


@job_type(JOB_NAME, timeout_s=30, queue=WEBHOOK_QUEUE_NAME)
def notify_webhook(
    context: JobContext, game: str, seat: Seat, number: int, place: int = WEBHOOK
) -> float | None:
    """Tell a seat's webhook, or the device at this place, that the seat is asked for something since this entry. Returns the seconds to wait where
    its receiver can't be asked now. Raises WebhookFailedError."""
    client, store = context.webhooks, context.ledger.webhooks()
    stored = store.find(game, seat, place)
    if client is None or stored is None or stored.notified == number:
        return None
    asks = SeatAsks(game)
    asks.read_on(context.ledger)
    notice = asks.notice_for(seat, stored)
    if notice is None or notice.number != number:
        return None
    webhook = stored.webhook
    try:
        status = _send(client, webhook, notice, context)
    except ReceiverBusyError as busy:
        metrics.WEBHOOKS.add("busy")
        return busy.wait_s
    except WebhookFailedError as error:
        metrics.WEBHOOKS.add("failed")
        store.mark_failure(game, seat, webhook, str(error), place)
        raise
    metrics.WEBHOOKS.add("gone" if status == GONE else "delivered")
    if status == GONE:
        store.remove_one(game, seat, webhook, place)
    else:
        store.mark_notified(game, seat, webhook, number, place)
    log.debug("webhook notified", game=game, seat=seat, sequence=number, status=status)
    return None


def _send(client: WebhookClient, webhook: Webhook, notice: Notice, context: JobContext) -> int:
    """Send the notice, and return the answer's status, which is a good one or GONE. Raises WebhookFailedError or
    ReceiverBusyError."""
    timestamp_s = context.wall_ms() // 1000
    public_url = context.settings.public_url
    body = notice.body(public_url, webhook.form)
    if webhook.form == "push":
        if context.push is None:
            raise WebhookFailedError("this server has no key for Web Push")
        own_headers = context.push.headers(webhook.url, timestamp_s, public_url)
        status = client.post(webhook.url, own_headers, encrypt(PushKeys.read(*webhook.secret.split()), body))
        return _require_good(GONE if status == NO_DEVICE else status)
    headers = [
        ("Content-Type", "application/json"),
        ("webhook-id", notice.id),
        ("webhook-timestamp", str(timestamp_s)),
        ("webhook-signature", sign(webhook.secret, notice.id, timestamp_s, body)),
    ]
    return _require_good(client.post(webhook.url, headers, body))


def _require_good(status: int) -> int:
    """The status, which is a good one or GONE. Raises WebhookFailedError."""
    if not 200 <= status < 300 and status != GONE:
        raise WebhookFailedError(f"it answered {status}")
    return status


class WebhookScanner:
    """Goes round the games that have webhooks."""

    def __init__(self, context: JobContext, jobs: Jobs, clock: Callable[[], float] = time.monotonic) -> None:
        self.context, self.jobs, self.throttle = context, jobs, RecheckThrottle(RECHECK_INTERVAL_S, clock)
        self.store = context.ledger.webhooks()
        self._folds = Recent[str, SeatAsks](MAX_FOLDS)

    def enqueue_due(self) -> int:
        """Enqueue jobs for some of them. Returns how many."""
        if self.context.webhooks is None:
            return 0
        count = 0
        for game, length, set_at_ms in self.store.next_games():
            looked_at = f"{game} {set_at_ms}", length
            if looked_at in self.throttle:
                continue
            for notice, place in self._due(game):
                id_ = notice.id if place == WEBHOOK else f"{notice.id}_device{place}"
                enqueued = self.jobs.enqueue(JOB_NAME, id_, game, notice.seat, notice.number, place)
                if enqueued is None:
                    return count  # the queue is full: the next scan goes on from here
                count += enqueued
            self.throttle.add(*looked_at)
        return count

    def _due(self, game: str) -> Iterator[tuple[Notice, int]]:
        """The notices that are to be sent about a game, each with the place of its address; none of a damaged one."""
        try:
            asks = self._fold(game)
            for seat in asks.seats:
                for place, stored in self.store.find_all(game, seat).items():
                    notice = asks.notice_for(seat, stored)
                    if notice and stored.notified != notice.number:
                        yield notice, place
        except (MissingEntryError, CorruptDataError, *PROGRAMMING_ERRORS) as error:
            log.error("webhooks of a damaged game aren't notified", game=game, error=str(error))

    def _fold(self, game: str) -> SeatAsks:
        asks = self._folds.pop(game, None) or SeatAsks(game)
        try:
            asks.read_on(self.context.ledger)
        except LogRewoundError:  # a fail-over lost entries that were folded
            asks = SeatAsks(game)
            asks.read_on(self.context.ledger)
        self._folds[game] = asks
        return asks


class SeatAsks:
    """The public view of a game, folded so far: what its seats are asked for, and since which entry."""

    def __init__(self, game: str) -> None:
        self.game = game
        self.number, self.head = 0, b""
        self._state = GameState()
        self._since: dict[Seat, int] = {}  # by seat that is asked: the entry from which on
        self._ended = 0  # the entry that ended the game

    def read_on(self, ledger: AuditorLedger) -> None:
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
        """The notice of what this seat is asked for now, or None. It is asked anew with each turn."""
        if self._ended:
            return Notice(self.game, seat, self._ended, "game_over")
        if seat not in self._state.pending_choices:
            return None
        asked: Asked = "your_turn" if self._state.turn == seat else "choice_to_make"
        return Notice(self.game, seat, self._since[seat], asked)

    def notice_for(self, seat: Seat, stored: StoredWebhook) -> Notice | None:
        """What the seat's webhook is to say now, or None. A test stands for the notice of what is asked meanwhile."""
        notice = self.notice(seat)
        if not stored.webhook.is_test or stored.notified:
            return notice
        return Notice(self.game, seat, notice.number if notice else self.number, "test")

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


def _stored_view(ledger: AuditorLedger, game: str) -> list[ViewEntry]:
    """The public view of a game whose streams are gone; empty where the engine has no file of it."""
    stored = ledger.read_stored_game(game)
    return FinishedGameReader(None, TrustedKeys(())).read_view(game, None, stored) or []
