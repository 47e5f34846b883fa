"""The asyncio twin of cluster.py."""

from __future__ import annotations

import asyncio
import random
from contextlib import suppress

from redis.asyncio.cluster import ClusterNode, ClusterPubSub, RedisCluster
from redis.crc import REDIS_CLUSTER_HASH_SLOTS
from redis.exceptions import ConnectionError, RedisError, TimeoutError

from services.fast_path.engine_connection import AsyncCommandMethods
from services.ledger.engine.cluster_pipeline import (
    KEYED_COMMANDS,
    RETRY_PAUSES_S,
    ClusterCommand,
    collect_replies,
    group_by_node,
    is_node_lost,
    plan_next_round,
)
from services.ledger.engine.queries import Argument, Client, Option, Reply
from services.ledger.engine.silent_nodes import REFRESH_S, SilentNodes
from services.ledger.ports import NodeAwayError


class AsyncCluster(RedisCluster):
    """redis-py's client with this pipeline, and a subscription at any primary."""

    def __init__(self, *args: Option, **kwargs: Option) -> None:
        self.silent_nodes = SilentNodes()
        self._repair: asyncio.Task[None] | None = None
        super().__init__(*args, **kwargs)

    def pipeline(self, transaction: object = False, shard_hint: object = None) -> Client:
        """A pipeline that may name keys of many nodes."""
        assert not transaction, "what must be atomic is a script"
        return AsyncPipeline(self)

    async def execute_command(self, *args: Option, **kwargs: Option) -> Reply:
        """One command. Raises NodeAwayError where the node of its key doesn't answer in time."""
        if args[0] not in KEYED_COMMANDS or "target_nodes" in kwargs:
            return await super().execute_command(*args, **kwargs)
        [reply] = await AsyncPipeline(self).execute_command(*args, **kwargs).execute()
        return reply

    async def ping(self, **_: object) -> bool:  # redis-py's
        """Whether a primary answers: any of those that aren't known to be away."""
        await self.initialize()
        primary = self._any_primary()
        try:
            return bool(await primary.execute_command("PING"))
        except (ConnectionError, TimeoutError) as error:
            raise self.lose(primary.name, error) from None

    def lose(self, name: str, error: Exception) -> NodeAwayError:
        """Note that a node doesn't answer, and look for it; returns the error to raise."""
        self.silent_nodes.note_loss(name, error)
        self.look_for_lost_nodes()
        return NodeAwayError(str(error))

    def pubsub(
        self,
        node: Client = None,
        host: Client = None,
        port: Client = None,
        **kwargs: Option,  # redis-py's
    ) -> ClusterPubSub:
        """A subscription at any node: each receives what is published anywhere on the cluster. It ends
        with ConnectionError when that node dies; the next one may be at another."""
        return super().pubsub(node=node or self._any_primary(), **kwargs)

    async def close_for_good(self) -> None:
        """Close every connection, and look for lost nodes no more. `aclose`, which redis-py calls itself to begin anew,
        leaves those that were opened since it took the map of the slots for unknown."""
        if self._repair is not None:
            self._repair.cancel()
            await asyncio.wait({self._repair})  # else it may open one more
        await self.aclose()
        nodes: Client = self.nodes_manager
        for known in ("nodes_cache", "startup_nodes"):
            await nodes.aclose(known)

    def look_for_lost_nodes(self) -> None:
        """In the background, until none is lost and each slot has a node: ask for the map of the slots, and silent nodes
        for an answer."""
        if self._repair is None or self._repair.done():
            self._repair = asyncio.create_task(self._find_lost_nodes())

    async def _find_lost_nodes(self) -> None:
        nodes: Client = self.nodes_manager
        while (lost := self.silent_nodes.names()) or len(nodes.slots_cache) < REDIS_CLUSTER_HASH_SLOTS:
            silent = next(iter(self.silent_nodes.silent_names()), None)  # it is asked last
            with suppress(RedisError, OSError):
                await nodes.initialize(last_failed_node_name=silent)
                self.silent_nodes.keep({node.name for node in self.get_primaries()})
            await asyncio.gather(*(self._ask(name) for name in lost))
            await asyncio.sleep(REFRESH_S)

    async def _ask(self, name: str) -> None:
        node: Client = self.nodes_manager.get_node(node_name=name)
        if node is not None and name in self.silent_nodes.names():
            with suppress(RedisError, OSError):
                await node.execute_command("PING")
                self.silent_nodes.note_answer(name)

    def _any_primary(self) -> Client:
        lost, primaries = self.silent_nodes.names(), self.get_primaries()
        candidates = [primary for primary in primaries if primary.name not in lost] or primaries
        return random.choice(candidates)  # noqa: S311 - any will do


class AsyncPipeline(AsyncCommandMethods):
    """Commands for many nodes, sent as `cluster.Pipeline` sends them."""

    def __init__(self, cluster: AsyncCluster) -> None:
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
                *(self._exchange_with_node(node, share) for node, share in commands_by_node.items())
            )
            to_send, moved = plan_next_round(to_send)
            for error in moved:
                await self._nodes.move_slot(error)
            if not to_send:
                break
        if self._cluster.silent_nodes.names() or is_node_lost(commands):
            self._cluster.look_for_lost_nodes()
        return collect_replies(commands, raise_on_error)

    def _node_by_name(self, name: str) -> Client:
        return self._nodes.get_node(node_name=name)

    async def _exchange_with_node(self, node: ClusterNode, share: list[ClusterCommand]) -> None:
        """Send one node its share of a round, and read the replies."""
        silent_nodes = self._cluster.silent_nodes
        if node.name in silent_nodes.silent_names():
            _fail(share, f"{node.name} doesn't answer")
            return
        for command in share:
            command.result = None
        try:
            await node.execute_pipeline(share)  # type: ignore[arg-type]  # a ClusterCommand has what it looks for
        except (RedisError, OSError) as error:  # before the first reply
            for command in share:
                command.result = error if isinstance(error, RedisError) else ConnectionError(str(error))
        lost = [command for command in share if isinstance(command.result, ConnectionError | TimeoutError)]
        if not lost:
            silent_nodes.note_answer(node.name)
            return
        silent_nodes.note_loss(node.name, lost[0].result)
        _fail(lost, str(lost[0].result))


def _fail(commands: list[ClusterCommand], why: str) -> None:
    for command in commands:
        command.result = NodeAwayError(why)
