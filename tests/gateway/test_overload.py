"""Overload slows senders and drops nothing; what broke a referee is told to who sent it."""

from __future__ import annotations

import asyncio
from collections.abc import Iterator
from contextlib import closing
from typing import Any

import httpx
import pytest

from schemas import tokens
from schemas.commands import CommandEnvelope, DrawBlind
from services.gateway.app import create_app
from services.gateway.problem_details import HttpProblemError
from services.ledger import RedisLedger, keys
from services.ledger.ack_levels import DURABLE
from services.ledger.async_ledger import AsyncLedger
from services.ledger.connection import connect
from services.ledger.embedded_engine import running_engine
from tests.gateway.clients import DRAW, problem
from tests.gateway.confirmation import (
    FREELY,
    GAME,
    LETTER,
    PARTITION,
    PARTITIONS,
    Desk,
    at_desk,
    decided,
    doorway,
    soon,
)


@pytest.fixture(scope="module")
def url(tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    with running_engine(tmp_path_factory.mktemp("engine")) as running:
        yield running


class Small(AsyncLedger):
    """A ledger where two letters fill a partition."""

    def __init__(self, client: Any, partitions: int) -> None:
        super().__init__(client, partitions, max_waiting=2)


def test_BUSY_1_a_full_partition_slows_senders_and_drops_nothing(url: str) -> None:
    async def story(here: Desk) -> None:
        await here.decide("c0", 1)
        app = create_app(here.ledger, b"key", FREELY, 5)
        told = {"Authorization": f"Bearer {tokens.mint(b'key', GAME, 0)}"}
        path = f"http://house/games/{GAME}/commands"
        async with httpx.AsyncClient(transport=httpx.ASGITransport(app)) as http:

            async def sent(id_: str) -> httpx.Response:
                headers = told | {"Idempotency-Key": id_, "Prefer": "respond-async"}
                return await http.post(path, json=DRAW, headers=headers)

            assert [(await sent(f"c{n}")).status_code for n in (1, 2)] == [202, 202]
            busy = await sent("c3")
            problem(busy, 429, "BUSY-1")
            assert busy.headers["Retry-After"] == "1"
            assert busy.json()["id"] == "c3"
            assert (await sent("c0")).status_code == 202, "its verdict is there"
            letters = await here.store.xrange(keys.commands(PARTITION))
            assert len(letters) == 2
            await here.store.xdel(keys.commands(PARTITION), letters[0][0])
            assert (await sent("c3")).status_code == 202

    at_desk(url, story, Small)


def test_BUSY_1_a_verdict_is_found_though_its_partition_is_full(url: str) -> None:
    async def story(here: Desk) -> None:
        for id_ in ("c1", "c2"):
            await here.ledger.submit(CommandEnvelope(id_, GAME, 0, DrawBlind()))
        reached = await decided(here, 20_000)
        assert (reached.level, reached.sequence) == (DURABLE, 1)
        async with doorway(here) as door:
            with pytest.raises(HttpProblemError) as told:
                await door.execute(
                    CommandEnvelope("c3", GAME, 0, DrawBlind()), door.parse_ack_request(None, None)
                )
        assert (told.value.status, told.value.rule) == (429, "BUSY-1")

    at_desk(url, story, Small)


def test_POISON_1_the_sender_is_told_that_its_command_was_put_aside(url: str) -> None:
    async def story(here: Desk) -> None:
        async with doorway(here) as door:
            asked = asyncio.create_task(door.execute(LETTER, door.parse_ack_request("durable", None)))
            await soon(lambda: here.store.xlen(keys.commands(PARTITION)))
            with closing(RedisLedger(connect(url), PARTITIONS)) as referee:
                (hand,) = referee.take("one", range(PARTITIONS), 10, 0)
                referee.move_to_dead_letters(hand, LETTER, "it broke us")
            with pytest.raises(HttpProblemError) as told:
                await asked
        body = told.value.body()
        assert (body["status"], body["rule"], body["level"], body["id"]) == (500, "POISON-1", "told", "c1")
        assert "operator" in str(body["detail"])
        assert "retry_after" not in body, "it is final, unless an operator sends it again"

    at_desk(url, story)
