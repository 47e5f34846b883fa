"""Webhooks: set by the gateway for a seat, notified by the auditor. They leave with their game. See `schemas.web.webhooks`."""

from __future__ import annotations

from typing import NamedTuple

import redis

from schemas.field_types import Seat
from schemas.web.webhooks import Webhook, pack_webhook, unpack_webhook
from services.ledger.engine import keys
from services.ledger.engine.partition_scan import PartitionScanner, read_lengths_and_scores
from services.ledger.engine.queries import Client, Query, command, require_game_reply, require_reply
from services.ledger.engine.round_trips import run, run_async
from services.ledger.scripts.lua_scripts import MARK_WEBHOOK, SET_WEBHOOK, call_script, run_script


class StoredWebhook(NamedTuple):
    """A seat's webhook, and what became of it."""

    webhook: Webhook
    notified: int = 0  # the number of the entry that it was notified of last; 0 for none
    failure: str = ""  # why it couldn't be notified; empty where it was, or nothing was to be sent


class WebhookGame(NamedTuple):
    """A game that has webhooks."""

    game: str
    length: int  # of its log
    set_at_ms: int  # when one of them was set last, by the engine's clock


class WebhookStore:
    """For the auditor and the command line; a gateway has `AsyncWebhookStore`."""

    def __init__(self, client: redis.Redis, partitions: int) -> None:
        self._client: Client = client
        self.partitions = partitions
        self._scanner = PartitionScanner(client, partitions, keys.webhook_games)

    def find(self, game: str, seat: Seat) -> StoredWebhook | None:
        """The webhook of a seat; None where it has none. Raises CorruptDataError."""
        return run(self._client, find_webhook(self.partitions, game, seat))

    def put(self, game: str, seat: Seat, webhook: Webhook) -> bool:
        """Set a seat's webhook in place of another. False where there is no such game."""
        return run(self._client, set_webhook(self.partitions, game, seat, webhook))

    def remove(self, game: str, seat: Seat, webhook: Webhook | None = None) -> bool:
        """Remove this webhook of a seat, or whichever it has. False where there is none."""
        return run(self._client, remove_webhook(self.partitions, game, seat, webhook))

    def mark_notified(self, game: str, seat: Seat, webhook: Webhook, number: int) -> None:
        """Note that it was notified of this entry."""
        self._mark(game, seat, webhook, number, "")

    def mark_failure(self, game: str, seat: Seat, webhook: Webhook, why: str) -> None:
        """Note why it couldn't be notified."""
        self._mark(game, seat, webhook, "", why)

    def next_games(self) -> list[WebhookGame]:
        """Some more games that have webhooks, about a page of each partition; called again and again, it goes round
        all of them. A partition that is away is skipped."""
        games = self._scanner.next_page()
        lengths = read_lengths_and_scores(self._client, self.partitions, games, keys.webhook_games)
        return [
            WebhookGame(game, found[0], int(found[1]))
            for game, found in zip(games, lengths, strict=True)
            if found and found[0] and found[1] is not None  # a game that has its file alone is long over
        ]

    def _mark(self, game: str, seat: Seat, webhook: Webhook, notified: int | str, why: str) -> None:
        key = keys.webhooks(keys.partition_of(game, self.partitions), game)
        run_script(self._client, MARK_WEBHOOK, [([key], [seat, pack_webhook(webhook), notified, why])])


class AsyncWebhookStore:
    """For a gateway, without blocking its event loop."""

    def __init__(self, client: redis.asyncio.Redis, partitions: int) -> None:
        self._client: Client = client
        self.partitions = partitions

    async def find(self, game: str, seat: Seat) -> StoredWebhook | None:
        """The webhook of a seat; None where it has none. Raises CorruptDataError."""
        return await run_async(self._client, find_webhook(self.partitions, game, seat))

    async def put(self, game: str, seat: Seat, webhook: Webhook) -> bool:
        """Set a seat's webhook in place of another. False where there is no such game."""
        return await run_async(self._client, set_webhook(self.partitions, game, seat, webhook))

    async def remove(self, game: str, seat: Seat) -> bool:
        """Remove a seat's webhook. False where there is none."""
        return await run_async(self._client, remove_webhook(self.partitions, game, seat, None))


# -- queries -----------------------------------------------------------------------------


def find_webhook(partitions: int, game: str, seat: Seat) -> Query[StoredWebhook | None]:
    """The webhook of a seat; None where it has none. Raises CorruptDataError."""
    key = keys.webhooks(keys.partition_of(game, partitions), game)
    [reply] = yield [command("HMGET", key, seat, f"{seat}:notified", f"{seat}:failure")]
    data, notified, failure = require_game_reply(game, reply)
    if data is None:
        return None
    return StoredWebhook(unpack_webhook(data), int(notified or 0), (failure or b"").decode())


def set_webhook(partitions: int, game: str, seat: Seat, webhook: Webhook) -> Query[bool]:
    """Set a seat's webhook in place of another. False where there is no such game."""
    return _change(partitions, game, seat, pack_webhook(webhook), b"")


def remove_webhook(partitions: int, game: str, seat: Seat, webhook: Webhook | None) -> Query[bool]:
    """Remove this webhook of a seat, or whichever it has. False where there is none."""
    return _change(partitions, game, seat, b"", pack_webhook(webhook) if webhook else b"")


def _change(partitions: int, game: str, seat: Seat, new: bytes, removed: bytes) -> Query[bool]:
    partition = keys.partition_of(game, partitions)
    script_keys = [
        keys.webhooks(partition, game),
        keys.webhook_games(partition),
        keys.public_view(partition, game),
    ]
    [reply] = yield from call_script(SET_WEBHOOK, [(script_keys, [game, seat, new, removed])])
    return bool(require_reply(reply))
