"""The slow look finds what lost bells left out, and holds up nobody."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import pytest
from redis.exceptions import RedisError

from schemas.errors import CorruptDataError
from services.gateway import hub as hubs
from services.ledger.async_ledger import AsyncLedger
from services.ledger.view_queries import LogHead
from tests.gateway.subscribed_hub import Scene, played, until


class Counting(AsyncLedger):
    """A ledger that writes down which games a look asks for."""

    def __init__(self, *parts: Any) -> None:
        super().__init__(*parts)
        self.looks: list[list[str]] = []

    async def read_heads(self, games: Sequence[str]) -> list[LogHead | CorruptDataError | RedisError]:
        self.looks.append([*games])
        return await super().read_heads(games)


def test_P8_silent_games_are_asked_for_a_few_at_a_time_and_all_of_them(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(hubs, "POLL_INTERVAL_S", 0.05)

    async def story(here: Scene) -> None:
        assert isinstance(here.ledger, Counting)
        games = {f"game-{number}" for number in range(3 * hubs.POLL_BATCH_SIZE + 1)}
        for game in games:
            here.hub.subscribe(game, None, 0)
        looks = here.ledger.looks
        await until(lambda: {game for look in looks for game in look} == games)
        assert max(map(len, looks)) == hubs.POLL_BATCH_SIZE

    played(story, Counting)


def test_P8_a_look_strikes_for_what_waited_at_the_last_one_and_not_for_what_was_just_sent() -> None:
    waiting = {"sent just now"}
    bell = hubs.VerdictWaiter(on_every_entry=False, pending_ids=waiting)
    bell.poll()
    assert not bell.notified.is_set()
    waiting.clear()
    waiting.add("sent since")
    bell.poll()
    assert not bell.notified.is_set()
    bell.poll()
    assert bell.notified.is_set()
