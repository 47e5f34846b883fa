"""A gateway hears of the games that it wants to hear of: on fakeredis, a real engine and a cluster."""

from __future__ import annotations

import asyncio
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import fakeredis
import pytest

from services.ledger import AppendRequest, RedisLedger, RejectedCommand, notifications
from services.ledger.async_ledger import AsyncLedger
from services.ledger.engine import keys
from services.ledger.engine.connection import connect, connect_async
from tests.cluster.nodes import SLOTS, Cluster, Node, wait_until
from tests.conftest import PARTITIONS, nodes_may_be_slow
from tests.hearing import hearing, until
from tests.ledger_contract.given import PARTITION as SAME
from tests.ledger_contract.given import append_request, envelope_of, submit_and_take

NAMES = [name for name in (f"heard-{n}" for n in range(99)) if keys.partition_of(name, PARTITIONS) == SAME]
OURS, OTHER, LATER = NAMES[:3]  # all of one partition


class Store:
    """An empty store, a referee's ledger on it, and gateways' ledgers."""

    def __init__(self, url: str) -> None:
        self._url, self._server = url, fakeredis.FakeServer()
        self.client: Any = connect(url) if url else fakeredis.FakeRedis(server=self._server)
        self.client.flushdb()
        self.ledger = RedisLedger(self.client, PARTITIONS)

    def gateway(self) -> AsyncLedger:
        client: Any = connect_async(self._url) if self._url else fakeredis.FakeAsyncRedis(server=self._server)
        return AsyncLedger(client, PARTITIONS)

    def write(self, game: str, number: int = 1) -> AppendRequest:
        """Append an entry, as a referee does."""
        request = append_request(expected=number - 1, id_=f"c{number}", game=game)
        self.ledger.append([request])
        return request


@contextmanager
def cluster_of_one(folder: Path, unknown: Sequence[str]) -> Iterator[str]:
    """The URL of a cluster of one node, which doesn't know these commands."""
    node = Node(folder / "node", 1_500, unknown)
    try:
        node.call.execute_command("CLUSTER ADDSLOTSRANGE", 0, SLOTS - 1)
        wait_until(Cluster([node]).agreed, "it is a cluster")
        yield Cluster([node]).url
    finally:
        node.kill()
        node.call.close()


@pytest.fixture(params=["fake", "engine", "cluster"])
def store(request: pytest.FixtureRequest) -> Iterator[Store]:
    with nodes_may_be_slow():
        made = Store("" if request.param == "fake" else request.getfixturevalue(f"{request.param}_url"))
        yield made
        made.ledger.close()


def test_P8_a_gateway_that_follows_nothing_of_a_game_hears_nothing_of_it(store: Store) -> None:
    async def scenario() -> None:
        async with hearing(store.gateway()) as gateway, hearing(store.gateway()) as neighbour:
            # given
            await gateway.want(OURS)
            await neighbour.want(OTHER)
            # when
            store.write(OTHER)
            store.write(OTHER, 2)
            store.write(OURS)
            # then
            await until(lambda: len(gateway.heard) == 1 and len(neighbour.heard) == 2, "all is heard")
            assert gateway.heard == [(OURS, 1)]
            assert neighbour.heard == [(OTHER, 1), (OTHER, 2)]

    asyncio.run(scenario())


def test_P9_a_game_that_nobody_wants_any_more_is_heard_no_more(
    store: Store, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(notifications, "LINGER_S", 0.01)

    async def scenario() -> None:
        async with hearing(store.gateway()) as gateway:
            # given
            await gateway.want(OURS, OTHER)
            gateway.ledger.channels.want(OTHER)
            # when
            for game in (OURS, OTHER):
                gateway.ledger.channels.release(game)
            listener: Any = gateway.ledger.channels._listener
            await until(lambda: OURS not in listener.games.values(), "it left")
            await gateway.want(LATER)  # on the same connection, so the engine has seen that, too
            # then
            for game in (OURS, OTHER, LATER):
                store.write(game)
            await until(lambda: (LATER, 1) in gateway.heard, "the last one is heard")
            assert gateway.heard == [(OTHER, 1), (LATER, 1)], "one still wants to hear of the other"

    asyncio.run(scenario())


def test_P2_who_waits_for_a_verdict_hears_of_a_duplicate_and_of_a_rejection(store: Store) -> None:
    async def scenario() -> None:
        async with hearing(store.gateway()) as gateway:
            # given
            await gateway.want(OURS)
            store.write(OURS)
            [delivery] = submit_and_take(store.ledger, envelope := envelope_of("odd", game=OURS))
            # when
            store.write(OURS)  # the same id
            store.ledger.reject_without_entry(
                [RejectedCommand(delivery, envelope, "GAME-1", "there is no such game")]
            )
            # then
            await until(lambda: len(gateway.heard) == 3, "all is heard")
            assert gateway.heard == [(OURS, 1), (OURS, 1), (OURS, 0)]

    asyncio.run(scenario())


def test_P1_notifications_carry_both_heads(store: Store) -> None:
    async def scenario() -> None:
        async with hearing(store.gateway()) as gateway:
            await gateway.want(OURS)
            first, second = store.write(OURS), store.write(OURS, 2)
            await until(lambda: len(gateway.notifications) == 2, "both are heard")
            assert [(each.sequence, each.previous_head, each.head) for each in gateway.notifications] == [
                (1, b"", first.head),
                (2, first.head, second.head),
            ]

    asyncio.run(scenario())


@pytest.mark.long
def test_P8_a_cluster_that_knows_no_sharded_channels_has_ordinary_ones(tmp_path: Path) -> None:
    with cluster_of_one(tmp_path, unknown=("SPUBLISH", "SSUBSCRIBE", "SUNSUBSCRIBE")) as url:
        store = Store(url)

        async def scenario() -> None:
            async with hearing(store.gateway()) as gateway:
                await gateway.want(OURS, LATER)
                for game in (OTHER, OURS, LATER):
                    store.write(game)
                await until(lambda: len(gateway.heard) == 2, "both are heard")
                assert gateway.heard == [(OURS, 1), (LATER, 1)]

        asyncio.run(scenario())
        store.ledger.close()
