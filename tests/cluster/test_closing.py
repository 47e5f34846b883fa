"""A client of a cluster that is closed has no connection left, whatever it was at."""

from __future__ import annotations

import asyncio
from contextlib import closing
from typing import Any

from redis import Redis
from redis.cluster import PRIMARY, ClusterNode

from services.ledger import RedisLedger
from services.ledger.async_ledger import AsyncLedger
from services.ledger.engine.connection import connect, connect_async
from services.ledger.ports import NodeAwayError
from tests.cluster.nodes import WORD, Cluster
from tests.cluster.play import PARTITIONS


def open_connections(cluster: Any) -> int:
    nodes = [*cluster.nodes_manager.nodes_cache.values(), *cluster.nodes_manager.startup_nodes.values()]
    return sum(connection.is_connected for node in nodes for connection in node._connections)


def test_P7_a_blocking_client_closes_what_it_opened_to_every_node(nodes: Cluster) -> None:
    # given
    cluster: Any = connect(nodes.url)
    ledger = RedisLedger(cluster, PARTITIONS)
    taken = ledger.commands.take(
        "one", range(PARTITIONS), 1, 1
    )  # of every primary, with a subscription to wake-ups
    assert taken == []
    pools = [cluster.client_of(node).connection_pool for node in cluster.get_nodes()]
    opened = [each for pool in pools for each in (*pool._available_connections, *pool._in_use_connections)]
    assert sum(connection.is_connected for connection in opened) > len(cluster.get_primaries())
    # when
    ledger.close()
    # then
    assert not any(connection.is_connected for connection in opened)


def test_P7_a_node_that_left_the_map_of_the_slots_loses_its_idle_connections(nodes: Cluster) -> None:
    cluster: Any = connect(nodes.url)
    with closing(cluster):
        # given a node that answers, under a name that no map of the slots has
        pool: Any = connect(f"redis://:{WORD}@127.0.0.1:{nodes.nodes[0].port}").connection_pool
        idle = pool.get_connection()
        pool.release(idle)
        left: Any = ClusterNode  # it has no types
        cluster.nodes_manager.nodes_cache["left:1"] = left("left", 1, PRIMARY, Redis(connection_pool=pool))
        # when
        cluster.refresh_slots()
        # then
        assert "left:1" not in cluster.nodes_manager.nodes_cache
        assert not idle.is_connected


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
