"""The asyncio twin of cluster.py."""

from __future__ import annotations

import asyncio
import random
from contextlib import suppress
from typing import Any

from redis.asyncio.cluster import ClusterNode, ClusterPubSub, RedisCluster
from redis.commands import AsyncCoreCommands
from redis.exceptions import ConnectionError, RedisError

from services.ledger.cluster_pipeline import (
    RETRY_PAUSES_S,
    ClusterCommand,
    collect_replies,
    group_by_node,
    is_node_lost,
    plan_next_round,
)
from services.ledger.queries import Argument, Client, Reply


class AsyncCluster(RedisCluster):
    """redis-py's client with this pipeline, and a subscription at any primary."""

    def pipeline(self, transaction: object = False, shard_hint: object = None) -> Any:  # not redis-py's
        """A pipeline that may name keys of many nodes."""
        assert not transaction, "what must be atomic is a script"
        return AsyncPipeline(self)

    def pubsub(
        self,
        node: Client = None,
        host: Client = None,
        port: Client = None,
        **kwargs: Any,  # redis-py's
    ) -> ClusterPubSub:
        """A subscription at any node: each receives what is published anywhere on the cluster. It ends
        with ConnectionError when that node dies; the next one may be at another."""
        return super().pubsub(node=node or random.choice(self.get_primaries()), **kwargs)  # noqa: S311 - any will do


class AsyncPipeline(AsyncCoreCommands):
    """See cluster.Pipeline."""

    _event_dispatcher: Any = None  # as in cluster.Pipeline

    def __init__(self, cluster: RedisCluster) -> None:
        self._cluster = cluster
        self._nodes: Client = cluster.nodes_manager
        self._commands: list[ClusterCommand] = []

    def execute_command(self, *args: Argument, **options: object) -> AsyncPipeline:
        """Queue a command until `execute`; redis-py's methods for single commands call this."""
        self._commands.append(ClusterCommand(args, options))
        return self

    async def execute(self, raise_on_error: bool = True) -> list[Reply]:
        """Send everything; the replies in the order of the commands."""
        commands, self._commands = self._commands, []
        await self._cluster.initialize()
        to_send = commands
        for pause_s in (0.0, *RETRY_PAUSES_S):
            if pause_s:
                await asyncio.sleep(pause_s)
            commands_by_node = group_by_node(to_send, self._nodes.get_node_from_slot, self._node_by_name)
            await asyncio.gather(
                *(_exchange_with_node(node, share) for node, share in commands_by_node.items())
            )
            to_send, moved = plan_next_round(to_send)
            for error in moved:
                await self._nodes.move_slot(error)
            if not to_send:
                break
        if is_node_lost(commands):
            with suppress(RedisError, OSError):
                await self._nodes.initialize()
        return collect_replies(commands, raise_on_error)

    def _node_by_name(self, name: str) -> Client:
        return self._nodes.get_node(node_name=name)


async def _exchange_with_node(node: ClusterNode, share: list[ClusterCommand]) -> None:
    """Send one node its share of a round, and read the replies."""
    for command in share:
        command.result = None
    try:
        await node.execute_pipeline(share)  # type: ignore[arg-type]  # a ClusterCommand has what it looks for
    except (RedisError, OSError) as error:  # before the first reply
        connection_error = error if isinstance(error, RedisError) else ConnectionError(str(error))
        for command in share:
            command.result = connection_error
