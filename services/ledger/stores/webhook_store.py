"""Webhooks: set by the gateway for a seat, notified by the auditor. They leave with their game. See `schemas.web.webhooks`."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Final, NamedTuple

from schemas.field_types import Seat
from schemas.web.webhooks import MAX_DEVICES, Webhook, pack_webhook, unpack_webhook
from services.ledger.engine import keys
from services.ledger.engine.partitions import PartitionScanner, read_lengths_and_scores
from services.ledger.engine.queries import (
    Client,
    Query,
    QueryClient,
    awaited,
    blocking,
    command,
    require_game_reply,
    require_reply,
)
from services.ledger.scripts.lua_scripts import MARK_WEBHOOK, SET_WEBHOOK, call_script, run_script

WEBHOOK: Final = 0  # where a seat's webhook is among its addresses; from 1 on there are its devices
Addresses = Mapping[int, "StoredWebhook"]  # by their places


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


def field_of(seat: Seat, place: int) -> str:
    """The field that holds what a seat has at this place."""
    return str(seat) if place == WEBHOOK else f"{seat}:device{place}"


def find_addresses(partitions: int, game: str, seat: Seat) -> Query[Addresses]:
    """All addresses of a seat. Raises CorruptDataError."""
    key = keys.webhooks(keys.partition_of(game, partitions), game)
    fields = [field_of(seat, place) for place in range(MAX_DEVICES + 1)]
    names = [name for field in fields for name in (field, f"{field}:notified", f"{field}:failure")]
    [reply] = yield [command("HMGET", key, *names)]
    values = require_game_reply(game, reply)
    rows = zip(values[::3], values[1::3], values[2::3], strict=True)
    return {
        place: StoredWebhook(unpack_webhook(data), int(notified or 0), (failure or b"").decode())
        for place, (data, notified, failure) in enumerate(rows)
        if data is not None
    }


def find_webhook(partitions: int, game: str, seat: Seat, place: int = WEBHOOK) -> Query[StoredWebhook | None]:
    """What a seat has at this place; None where it has nothing. Raises CorruptDataError."""
    return (yield from find_addresses(partitions, game, seat)).get(place)


def set_webhook(
    partitions: int, game: str, seat: Seat, webhook: Webhook, place: int = WEBHOOK
) -> Query[bool]:
    """Set what a seat has at this place. False where there is no such game."""
    [is_set] = yield from _change(partitions, game, [(field_of(seat, place), pack_webhook(webhook), b"")])
    return is_set


def remove_webhook(
    partitions: int, game: str, seat: Seat, webhook: Webhook | None = None, place: int = WEBHOOK
) -> Query[bool]:
    """Remove this address, or whichever there is, from its place. False where there is none."""
    removed = pack_webhook(webhook) if webhook else b""
    [is_removed] = yield from _change(partitions, game, [(field_of(seat, place), b"", removed)])
    return is_removed


def remove_addresses(partitions: int, game: str, seat: Seat) -> Query[None]:
    """Remove all addresses of a seat."""
    changes = [(field_of(seat, place), b"", b"") for place in range(MAX_DEVICES + 1)]
    yield from _change(partitions, game, changes)


def _change(partitions: int, game: str, changes: Sequence[tuple[str, bytes, bytes]]) -> Query[list[bool]]:
    """Set, or remove, what these fields hold. Which of them were changed."""
    partition = keys.partition_of(game, partitions)
    script_keys = [
        keys.webhooks(partition, game),
        keys.webhook_games(partition),
        keys.public_view(partition, game),
    ]
    replies = yield from call_script(SET_WEBHOOK, [(script_keys, [game, *change]) for change in changes])
    return [bool(require_reply(reply)) for reply in replies]


class WebhookStore(QueryClient):
    """For the auditor and the command line; a gateway has `AsyncWebhookStore`."""

    find = blocking(find_webhook)
    find_all = blocking(find_addresses)
    put = blocking(set_webhook)
    remove = blocking(remove_addresses)
    remove_one = blocking(remove_webhook)

    def __init__(self, client: Client, partitions: int) -> None:
        super().__init__(client, partitions)
        self._scanner = PartitionScanner(client, partitions, keys.webhook_games)

    def mark_notified(
        self, game: str, seat: Seat, webhook: Webhook, number: int, place: int = WEBHOOK
    ) -> None:
        """Note that it was notified of this entry."""
        self._mark(game, field_of(seat, place), webhook, number, "")

    def mark_failure(self, game: str, seat: Seat, webhook: Webhook, why: str, place: int = WEBHOOK) -> None:
        """Note why it couldn't be notified."""
        self._mark(game, field_of(seat, place), webhook, "", why)

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

    def _mark(self, game: str, field: str, webhook: Webhook, notified: int | str, why: str) -> None:
        key = keys.webhooks(keys.partition_of(game, self.partitions), game)
        run_script(self._client, MARK_WEBHOOK, [([key], [field, pack_webhook(webhook), notified, why])])


class AsyncWebhookStore(QueryClient):
    """For a gateway, without blocking its event loop."""

    find = awaited(find_webhook)
    find_all = awaited(find_addresses)
    put = awaited(set_webhook)
    remove = awaited(remove_addresses)
    remove_one = awaited(remove_webhook)
