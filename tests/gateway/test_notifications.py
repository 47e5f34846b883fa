"""Notifications: the entry that one carries is delivered at once, and never out of order."""

from __future__ import annotations

import asyncio
from typing import Any

import pytest
from redis.exceptions import ConnectionError as Away

from schemas.stored.codec import Proofs, pack_private_part, pack_public
from services.gateway.following import hub as hubs
from services.ledger.async_ledger import AsyncLedger
from services.ledger.engine import keys
from services.ledger.log.views import PAGE_SIZE
from services.ledger.notifications import EntryNotification, GameChannels, parse_notification
from tests.gateway.subscribed_hub import EMPTY, PARTITIONS, SOON_S, HubHarness, run_with_hub
from tests.stored_views import add_entry


class Blind(AsyncLedger):
    """A ledger whose streams can't be read once `blind` is set; its notifications arrive."""

    blind = False

    async def read_views(self, wanted: Any, most: int = PAGE_SIZE) -> Any:
        if self.blind:
            raise Away("nothing can be read")
        return await super().read_views(wanted, most)


def test_a_notification_delivers_the_next_entry_to_each_viewer_without_a_read() -> None:
    async def scenario(harness: HubHarness) -> None:
        assert isinstance(harness.ledger, Blind)
        await harness.write("game", 1, 1, seats=(0,))
        public, mine = harness.hub.subscribe("game", None, 0), harness.hub.subscribe("game", 0, 0)
        assert [(await s.queue.get())[0] for s in (public, mine)] == [1, 1]  # type: ignore[index]
        harness.ledger.blind = True
        whole, own = pack_public(2, EMPTY, Proofs(b"")), pack_private_part(1, "c2", {})
        payload = f"game 2 0 4 {len(whole)} 0:{len(own)}\nhead".encode() + whole + own
        await harness.store.publish(
            keys.notification_channel(keys.partition_of("game", PARTITIONS), "game"), payload
        )
        async with asyncio.timeout(SOON_S):
            seen = [await subscription.queue.get() for subscription in (public, mine)]
        assert [item[:2] for item in seen if isinstance(item, tuple)] == [(2, None), (2, "c2")]

    run_with_hub(scenario, Blind)


def test_a_notification_that_runs_ahead_delivers_nothing_until_the_gap_is_read() -> None:
    async def scenario(harness: HubHarness) -> None:
        subscription = harness.hub.subscribe("game", None, 0)
        whole = pack_public(3, EMPTY, Proofs(b""))
        await harness.write("game", 1, 3)
        payload = f"game 3 0 4 {len(whole)}\nhead".encode() + whole
        await harness.store.publish(
            keys.notification_channel(keys.partition_of("game", PARTITIONS), "game"), payload
        )
        assert await harness.numbers("game", subscription, 0, 3) == [1, 2, 3]

    run_with_hub(scenario)


def test_a_notification_is_parsed_as_the_script_writes_it() -> None:
    notification = parse_notification(b"some-game 12 2 1 3 0:2 3:1\nxyzabcdef")
    assert notification == EntryNotification("some-game", 12, b"abc", {0: b"de", 3: b"f"}, b"xy", b"z")
    assert parse_notification(b"some-game 0") == EntryNotification("some-game", 0)


class Overtaken(AsyncLedger):
    """A ledger of a game that gets an entry just before its notifications come: nobody is notified of that one."""

    def __init__(self, *parts: Any) -> None:
        super().__init__(*parts)
        self.channels = OvertakenChannels(*parts)


class OvertakenChannels(GameChannels):
    async def listen(self, on_notification: Any, on_subscribed: Any) -> None:
        def write(game: str) -> None:
            writing = asyncio.ensure_future(self.write(game))
            writing.add_done_callback(lambda _: on_subscribed(game))

        await super().listen(on_notification, write)

    async def write(self, game: str) -> None:
        await add_entry(
            self._client, keys.partition_of(game, PARTITIONS), game, 1, pack_public(1, EMPTY, Proofs(b"")), {}
        )


def test_P8_no_entry_is_missed_between_the_first_read_and_the_notifications(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(hubs, "POLL_INTERVAL_S", 10 * SOON_S)

    async def scenario(harness: HubHarness) -> None:
        other = harness.hub.subscribe("other", None, 0)
        assert await harness.numbers("other", other, 0, 1) == [1], "the hub listens"
        assert await harness.numbers("game", harness.hub.subscribe("game", None, 0), 0, 1) == [1]

    run_with_hub(scenario, Overtaken)
