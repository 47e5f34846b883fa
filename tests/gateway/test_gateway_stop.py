"""A gateway's stop ends in its time, however slowly its followers leave."""

from __future__ import annotations

import asyncio
import time

import pytest

from services.gateway.following import gateway_stop
from services.gateway.following.gateway_stop import GatewayStopsError, Stopping

FOLLOWERS = 1_000


def test_P7_followers_that_leave_slowly_keep_a_gateway_no_longer(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(gateway_stop, "ANSWERS_S", 0.2)
    monkeypatch.setattr(gateway_stop, "CLOSING_S", 0.05)
    left = list[int]()

    async def follow(stopping: Stopping, number: int) -> None:
        with stopping.follower() as leaves:
            try:
                await leaves
            except GatewayStopsError:
                time.sleep(0.005)  # noqa: ASYNC251 - what a follower's leaving takes of a busy loop
                left.append(number)

    async def stop() -> None:
        stopping = Stopping()
        followers = [asyncio.create_task(follow(stopping, number)) for number in range(FOLLOWERS)]
        await asyncio.sleep(0)
        stopping.begin()
        await stopping.send_elsewhere()
        for follower in followers:
            follower.cancel()
        await asyncio.gather(*followers, return_exceptions=True)

    asyncio.run(stop())
    assert 0 < len(left) < FOLLOWERS / 2
