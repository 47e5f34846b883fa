"""Bells: what they bring goes out at once, and never out of order."""

from __future__ import annotations

import asyncio
from typing import Any

from redis.exceptions import ConnectionError as Away

from schemas.codec import pack_private_part, pack_public
from services.ledger import keys
from services.ledger.async_ledger import AsyncLedger
from services.ledger.notifications import EntryNotification, parse_notification
from services.ledger.view_queries import PAGE_SIZE
from tests.gateway.subscribed_hub import EMPTY, PARTITIONS, SOON_S, Scene, played


class Blind(AsyncLedger):
    """A ledger whose streams can't be read any more; its bells ring."""

    blind = False

    async def read_views(self, wanted: Any, most: int = PAGE_SIZE) -> Any:
        if self.blind:
            raise Away("nothing can be read")
        return await super().read_views(wanted, most)


def test_a_bell_brings_the_next_entry_to_each_viewer_without_a_read() -> None:
    async def story(here: Scene) -> None:
        assert isinstance(here.ledger, Blind)
        await here.write("game", 1, 1, seats=(0,))
        public, mine = here.hub.subscribe("game", None, 0), here.hub.subscribe("game", 0, 0)
        assert [(await s.queue.get())[0] for s in (public, mine)] == [1, 1]  # type: ignore[index]
        here.ledger.blind = True
        whole, own = pack_public(2, EMPTY), pack_private_part(1, "c2", {})
        told = f"game 2 0 4 {len(whole)} 0:{len(own)}\nhead".encode() + whole + own
        await here.store.publish(keys.notification_channel(keys.partition_of("game", PARTITIONS)), told)
        async with asyncio.timeout(SOON_S):
            seen = [await session.queue.get() for session in (public, mine)]
        assert [item[:2] for item in seen if isinstance(item, tuple)] == [(2, None), (2, "c2")]

    played(story, Blind)


def test_a_bell_that_runs_ahead_hands_out_nothing_until_the_gap_is_read() -> None:
    async def story(here: Scene) -> None:
        session = here.hub.subscribe("game", None, 0)
        whole = pack_public(3, EMPTY)
        await here.write("game", 1, 3)
        told = f"game 3 0 4 {len(whole)}\nhead".encode() + whole
        await here.store.publish(keys.notification_channel(keys.partition_of("game", PARTITIONS)), told)
        assert await here.numbers("game", session, 0, 3) == [1, 2, 3]

    played(story)


def test_a_ring_is_read_as_the_script_writes_it() -> None:
    ring = parse_notification(b"some-game 12 2 1 3 0:2 3:1\nxyzabcdef")
    assert ring == EntryNotification("some-game", 12, b"abc", {0: b"de", 3: b"f"}, b"xy", b"z")
    assert parse_notification(b"some-game 0") == EntryNotification("some-game", 0)
