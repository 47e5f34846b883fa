"""A client of a cluster that is closed has no connection left, whatever it was at."""

from __future__ import annotations

import asyncio
from typing import Any

from services.ledger.async_ledger import AsyncLedger
from services.ledger.engine.connection import connect_async
from services.ledger.engine.errors import NodeAwayError
from tests.cluster.nodes import Cluster
from tests.cluster.play import PARTITIONS


def open_connections(cluster: Any) -> int:
    nodes = [*cluster.nodes_manager.nodes_cache.values(), *cluster.nodes_manager.startup_nodes.values()]
    return sum(connection.is_connected for node in nodes for connection in node._connections)


def test_P7_a_client_that_began_anew_closes_what_it_opened_since(nodes: Cluster) -> None:
    async def scenario() -> None:
        cluster: Any = connect_async(nodes.url)
        ledger = AsyncLedger(cluster, PARTITIONS)
        await ledger.ping()
        # given a map of the slots that redis-py takes for unknown, and that is read again beside it
        await cluster.aclose()
        await cluster.nodes_manager.initialize()
        assert open_connections(cluster) > 0
        await ledger.close()
        assert open_connections(cluster) == 0

    asyncio.run(scenario())


def test_P7_a_client_that_looks_for_a_lost_node_stops_before_it_is_closed(nodes: Cluster) -> None:
    async def scenario() -> None:
        cluster: Any = connect_async(nodes.url)
        ledger = AsyncLedger(cluster, PARTITIONS)
        await ledger.ping()
        error = cluster.lose(cluster.get_primaries()[0].name, ConnectionError("refused"))
        assert isinstance(error, NodeAwayError)
        await asyncio.sleep(0)  # the search begins
        await ledger.close()
        assert open_connections(cluster) == 0
        assert len(asyncio.all_tasks()) == 1, "only this one"

    asyncio.run(scenario())
