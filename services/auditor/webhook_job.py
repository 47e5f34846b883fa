"""A seat's webhook is notified of what the seat is asked for, unless the seat knows by now.

At least once: a worker that dies after it has sent sends again, under the same id. What is over (the seat has acted, or
is asked for something newer) isn't sent any more.
"""

from __future__ import annotations

from typing import Final

from schemas.field_types import Seat
from schemas.webhooks import Notice, Webhook, sign
from services.auditor.jobs import WEBHOOK_QUEUE_NAME, JobContext, job_type
from services.auditor.seat_asks import SeatAsks
from services.auditor.webhook_client import WebhookClient, WebhookFailedError
from services.runtime.logging_setup import get_logger

log = get_logger("auditor")
JOB_NAME: Final = "webhook"
GONE: Final = 410  # its owner wants no more of it


@job_type(JOB_NAME, timeout_s=30, queue=WEBHOOK_QUEUE_NAME)
def notify_webhook(context: JobContext, game: str, seat: Seat, number: int) -> None:
    """Tell a seat's webhook that the seat is asked for something since this entry. Raises WebhookFailedError."""
    client, store = context.webhooks, context.ledger.webhooks()
    stored = store.find(game, seat)
    if client is None or stored is None or stored.notified == number:
        return
    asks = SeatAsks(game)
    asks.read_on(context.ledger)
    notice = asks.notice(seat)
    if notice is None or notice.number != number:
        return
    webhook = stored.webhook
    try:
        status = _send(client, webhook, notice, context)
    except WebhookFailedError as error:
        store.mark_failure(game, seat, webhook, str(error))
        raise
    if status == GONE:
        store.remove(game, seat, webhook)
    else:
        store.mark_notified(game, seat, webhook, number)
    log.debug("webhook notified", game=game, seat=seat, sequence=number, status=status)


def _send(client: WebhookClient, webhook: Webhook, notice: Notice, context: JobContext) -> int:
    """Send the notice, and return the answer's status, which is a good one or GONE. Raises WebhookFailedError."""
    timestamp_s = context.wall_ms() // 1000
    body = notice.body(context.settings.public_url)
    headers = [
        ("Content-Type", "application/json"),
        ("webhook-id", notice.id),
        ("webhook-timestamp", str(timestamp_s)),
        ("webhook-signature", sign(webhook.secret, notice.id, timestamp_s, body)),
    ]
    status = client.post(webhook.url, headers, body)
    if not 200 <= status < 300 and status != GONE:
        raise WebhookFailedError(f"it answered {status}")
    return status
