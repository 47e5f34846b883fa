"""A slot that no node has, by the map that was read: one that was asked for it hadn't heard yet who holds the slot."""

from __future__ import annotations

import asyncio
from collections.abc import Iterator
from pathlib import Path

import pytest

from services.ledger.async_ledger import AsyncLedger
from services.ledger.engine import keys
from services.ledger.engine.connection import connect_async
from services.ledger.ports import NodeAwayError
from tests.cluster.nodes import SLOTS, Cluster, Node, slot_of, wait_until
from tests.conftest import PARTITIONS, nodes_may_be_slow
from tests.hearing import SOON_S, hearing

GAME = "heard-1"
SLOT = slot_of(keys.partition_of(GAME, PARTITIONS))


@pytest.fixture
def node(tmp_path: Path) -> Iterator[Node]:
    """A cluster of one node, which serves all slots but one."""
    node = Node(tmp_path / "node", 1_500)
    try:
        node.call.execute_command("CLUSTER ADDSLOTSRANGE", 0, SLOT - 1, SLOT + 1, SLOTS - 1)
        wait_until(lambda: node.call.execute_command("CLUSTER INFO")["cluster_state"] == "ok", "it serves")
        with nodes_may_be_slow():
            yield node
    finally:
        node.kill()
        node.call.close()


def ledger_at(node: Node) -> AsyncLedger:
    return AsyncLedger(connect_async(Cluster([node]).url), PARTITIONS)


def test_P7_what_is_asked_of_it_is_answered_once_somebody_has_it(node: Node) -> None:
    async def scenario() -> None:
        ledger = ledger_at(node)
        with pytest.raises(NodeAwayError, match="no node has slot"):
            await ledger.read_length(GAME)
        node.call.execute_command("CLUSTER ADDSLOTS", SLOT)
        async with asyncio.timeout(SOON_S):
            length = None
            while length is None:
                try:
                    length = await ledger.read_length(GAME)
                except NodeAwayError:
                    await asyncio.sleep(0.05)
        assert length == 0
        await ledger.close()

    asyncio.run(scenario())


def test_P9_who_wants_a_game_of_it_hears_of_it_once_somebody_has_it(node: Node) -> None:
    async def scenario() -> None:
        async with hearing(ledger_at(node)) as gateway:
            wanting = asyncio.ensure_future(gateway.want(GAME))
            await asyncio.wait({wanting}, timeout=0.6)
            assert not wanting.done()
            node.call.execute_command("CLUSTER ADDSLOTS", SLOT)
            await wanting

    asyncio.run(scenario())
