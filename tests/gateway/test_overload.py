"""Overload slows senders and drops nothing; the sender of a poison command gets the reason."""

from __future__ import annotations

import asyncio
from collections.abc import Iterator
from contextlib import closing
from typing import Any

import httpx
import pytest

from schemas.commands import CommandEnvelope
from schemas.trains.commands import DrawBlind
from schemas.web.tokens import TokenKeys
from services.gateway.errors import RefusedError, TooManyError
from services.gateway.games.client_limits import ClientLimits
from services.gateway.server import create_app
from services.gateway.web.problem_details import problem_of
from services.ledger import RedisLedger
from services.ledger.acknowledgements import DURABLE
from services.ledger.async_ledger import AsyncLedger
from services.ledger.engine import keys
from services.ledger.engine.connection import connect
from services.ledger.engine.embedded_engine import running_engine
from tests.gateway.clients import DRAW, minted, problem
from tests.gateway.confirmation import (
    ENVELOPE,
    GAME,
    PARTITION,
    PARTITIONS,
    UNLIMITED,
    EngineHarness,
    run_with_engine,
    running_service,
    soon,
    track_durable,
)


@pytest.fixture(scope="module")
def url(tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    with running_engine(tmp_path_factory.mktemp("engine")) as running:
        yield running


class Small(AsyncLedger):
    """A ledger where two commands fill a partition."""

    def __init__(self, client: Any, partitions: int) -> None:
        super().__init__(client, partitions, max_waiting=2)


def test_BUSY_1_a_full_partition_slows_senders_and_drops_nothing(url: str) -> None:
    async def scenario(harness: EngineHarness) -> None:
        await harness.decide("c0", 1)
        app = create_app(harness.ledger, TokenKeys(b"key"), ClientLimits(UNLIMITED, 5))
        token = {"Authorization": f"Bearer {minted(b'key', GAME, 0)}"}
        path = f"http://gateway/v1/games/{GAME}/commands"
        async with httpx.AsyncClient(transport=httpx.ASGITransport(app)) as http:

            async def sent(id_: str) -> httpx.Response:
                headers = token | {"Idempotency-Key": id_, "Prefer": "respond-async"}
                return await http.post(path, json=DRAW, headers=headers)

            assert [(await sent(f"c{n}")).status_code for n in (1, 2)] == [202, 202]
            busy = await sent("c3")
            problem(busy, 429, "BUSY-1")
            assert busy.headers["Retry-After"] == "1"
            assert busy.json()["id"] == "c3"
            assert (await sent("c0")).status_code == 202, "its verdict is known"
            commands = await harness.store.xrange(keys.commands(PARTITION))
            assert len(commands) == 2
            await harness.store.xdel(keys.commands(PARTITION), commands[0][0])
            assert (await sent("c3")).status_code == 202

    run_with_engine(url, scenario, Small)


def test_BUSY_1_a_verdict_is_found_though_its_partition_is_full(url: str) -> None:
    async def scenario(harness: EngineHarness) -> None:
        for id_ in ("c1", "c2"):
            await harness.ledger.submission.submit(CommandEnvelope(id_, GAME, 0, DrawBlind()))
        reached = await track_durable(harness, 20_000)
        assert (reached.level, reached.sequence) == (DURABLE, 1)
        async with running_service(harness) as service:
            with pytest.raises(TooManyError) as raised:
                await service.execute(
                    CommandEnvelope("c3", GAME, 0, DrawBlind()), service.parse_ack_request(None, None)
                )
        assert (problem_of(raised.value).status, raised.value.rule) == (429, "BUSY-1")

    run_with_engine(url, scenario, Small)


def test_POISON_1_the_sender_learns_that_its_command_was_put_aside(url: str) -> None:
    async def scenario(harness: EngineHarness) -> None:
        async with running_service(harness) as service:
            command = asyncio.create_task(
                service.execute(ENVELOPE, service.parse_ack_request("durable", None))
            )
            await soon(lambda: harness.store.xlen(keys.commands(PARTITION)))
            with closing(RedisLedger(connect(url), PARTITIONS)) as referee:
                (delivered,) = referee.commands.take("one", range(PARTITIONS), 10, 0)
                referee.move_to_dead_letters(delivered, ENVELOPE, "it broke us")
            with pytest.raises(RefusedError) as raised:
                await command
        body = problem_of(raised.value).body()
        assert (body["status"], body["rule"], body["level"], body["id"]) == (
            500,
            "POISON-1",
            "rejected",
            "c1",
        )
        assert "operator" in str(body["detail"])
        assert "retry_after" not in body, "it is final, unless an operator sends it again"

    run_with_engine(url, scenario)
