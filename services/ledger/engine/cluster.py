"""A client of Redis Cluster or Valkey Cluster, whose pipeline sends nothing twice by itself.

A pipeline's commands go to all nodes in one round trip; a node that is away costs only the
replies of its own commands. See cluster_pipeline.py for what is sent again, and why.
"""

from __future__ import annotations

import asyncio
import random
import time
from collections import deque
from collections.abc import Callable, Collection
from contextlib import suppress
from threading import Lock
from typing import Final

from redis.asyncio.cluster import ClusterNode, ClusterPubSub
from redis.asyncio.cluster import RedisCluster as AsyncRedisCluster
from redis.client import PubSub
from redis.cluster import PRIMARY, RedisCluster
from redis.crc import REDIS_CLUSTER_HASH_SLOTS
from redis.exceptions import ConnectionError, RedisError, TimeoutError

from services.fast_path.engine_connection import AsyncCommandMethods, CommandMethods
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
from services.ledger.ports import NodeAwayError
from services.runtime.logging_setup import get_logger

log = get_logger("ledger")
NODE_TIMEOUT_S: Final = 0.5  # in which a node of a cluster has to answer
RETRY_S: Final = 5.0  # before a silent node is asked again though nothing was heard from it
REFRESH_S: Final = 0.25  # between two questions for the map of the slots, while a node is away


class LostNode:
    """A node that didn't answer. `unanswered` is the connection on which its answer would come."""

    __slots__ = ("close", "is_silent", "retry_s", "since_s", "unanswered")

    def __init__(self, since_s: float, is_silent: bool) -> None:
        self.since_s, self.retry_s, self.is_silent = since_s, since_s + RETRY_S, is_silent
        self.unanswered: Client = None
        self.close: Callable[[], object] = lambda: None

    def is_heard(self) -> bool:
        """Whether something came on that connection, if only its end."""
        try:
            return self.unanswered is not None and bool(self.unanswered.can_read(0))
        except (RedisError, OSError):
            return True


class SilentNodes:
    """The nodes that are away, by name. Two threads may use it."""

    def __init__(self, clock_s: Callable[[], float] = time.monotonic) -> None:
        self._clock_s = clock_s
        self._lost: dict[str, LostNode] = {}
        self._lock = Lock()
        self._refreshed_s = float("-inf")

    def names(self) -> set[str]:
        """All that are away."""
        return {*self._lost}

    def silent_names(self) -> set[str]:
        """Those that take connections, and don't answer."""
        return {name for name, lost in [*self._lost.items()] if lost.is_silent}

    def is_skipped(self, name: str) -> bool:
        """Whether to ask this node nothing now."""
        with self._lock:
            lost = self._lost.get(name)
            if lost is None or not lost.is_silent:
                return False
            if not lost.is_heard() and self._clock_s() < lost.retry_s:
                return True
            lost.close()
            lost.unanswered, lost.close = None, lambda: None
            lost.retry_s = self._clock_s() + RETRY_S
            return False

    def note_loss(
        self,
        name: str,
        error: Exception,
        unanswered: Client = None,
        close: Callable[[], object] = lambda: None,
    ) -> None:
        """A node didn't answer: a TimeoutError means that it hangs. `close` ends the connection that waits."""
        with self._lock:
            if name not in self._lost:
                log.warning(
                    "cluster node away, its partitions wait until another takes over",
                    node=name,
                    error=str(error),
                )
            else:
                self._lost[name].close()
            since_s = self._lost[name].since_s if name in self._lost else self._clock_s()
            lost = self._lost[name] = LostNode(since_s, isinstance(error, TimeoutError))
            lost.retry_s = self._clock_s() + RETRY_S
            lost.unanswered, lost.close = unanswered, close

    def note_answer(self, name: str) -> None:
        """A node answered."""
        if name in self._lost:
            self._end(name, "cluster node back")

    def keep(self, primaries: Collection[str]) -> None:
        """Forget those that have no slots any more."""
        for name in self.names() - {*primaries}:
            self._end(name, "another cluster node took over")

    def is_refresh_due(self) -> bool:
        """Whether to ask for the map of the slots now: at once the first time, then now and then."""
        with self._lock:
            now_s = self._clock_s()
            if now_s - self._refreshed_s < REFRESH_S:
                return False
            self._refreshed_s = now_s
            return True

    def _end(self, name: str, event: str) -> None:
        with self._lock:
            if (lost := self._lost.pop(name, None)) is not None:
                lost.close()
                log.warning(event, node=name, away_s=round(self._clock_s() - lost.since_s, 1))


class Cluster(RedisCluster):
    """redis-py's client with this pipeline, and a subscription at any primary."""

    def __init__(self, *args: Option, **kwargs: Option) -> None:
        self.silent_nodes = SilentNodes()
        super().__init__(*args, **kwargs)

    def pipeline(self, transaction: bool | None = False, shard_hint: object = None) -> Client:
        """A pipeline that may name keys of many nodes."""
        assert not transaction, "what must be atomic is a script"
        return Pipeline(self)

    def execute_command(self, *args: Option, **kwargs: Option) -> Reply:
        """One command. Raises NodeAwayError where the node of its key doesn't answer in time."""
        if args[0] not in KEYED_COMMANDS or "target_nodes" in kwargs:
            base: Client = super()  # it has no types
            return base.execute_command(*args, **kwargs)
        [reply] = Pipeline(self).execute_command(*args, **kwargs).execute()
        return reply

    def pubsub(
        self, node: Client = None, host: object = None, port: object = None, **kwargs: Option
    ) -> PubSub:  # redis-py's
        """A subscription at any node: each receives what is published anywhere on the cluster. It ends
        with ConnectionError when that node dies; the next one may be at another."""
        silent = self.silent_nodes.names()
        nodes: Client = self.nodes_manager
        primaries: list[Client] = nodes.get_nodes_by_server_type(PRIMARY)
        candidates = [primary for primary in primaries if primary.name not in silent] or primaries
        primary = node or random.choice(candidates)  # noqa: S311 - any will do
        return PubSub(self.client_of(primary).connection_pool, **kwargs)

    def client_of(self, node: Client) -> Client:
        """The client of one node. One that was met only now, by a slot that moved there, has none yet."""
        base: Client = self  # it has no types
        return base.get_redis_connection(node)

    def refresh_slots(self) -> None:
        """Ask for the map of the slots, of the nodes that answer; not too often. A node that left it loses its idle
        connections: redis-py forgets it and leaves them open."""
        if not self.silent_nodes.is_refresh_due():
            return
        nodes: Client = self.nodes_manager
        known = nodes.nodes_cache
        silent = next(iter(self.silent_nodes.silent_names()), None)  # it is asked last
        with suppress(RedisError):
            nodes.initialize(disconnect_startup_nodes_pools=False, last_failed_node_name=silent)
            self.silent_nodes.keep({node.name for node in nodes.get_nodes_by_server_type(PRIMARY)})
            for name in known.keys() - nodes.nodes_cache.keys():
                if (client := known[name].redis_connection) is not None:
                    client.connection_pool.disconnect(inuse_connections=False)

    def close(self) -> None:
        """Close every connection. redis-py's own leaves all of them open to the nodes of a client that was made by URL:
        they stay until garbage is collected."""
        base: Client = super()  # it has no types
        base.close()
        base.disconnect_connection_pools()


class Pipeline(CommandMethods):
    """Commands for many nodes, each about keys of one slot; WAIT follows what it waits for."""

    def __init__(self, cluster: Cluster) -> None:
        self._cluster = cluster
        self._nodes: Client = cluster.nodes_manager
        self._commands: list[ClusterCommand] = []

    def execute_command(self, *args: Argument, **options: object) -> Pipeline:
        """Queue a command until `execute`; redis-py's methods for single commands call this."""
        self._commands.append(ClusterCommand(args, options))
        return self

    def execute(self, raise_on_error: bool = True) -> list[Reply]:
        """Send everything; the replies in the order of the commands."""
        commands, self._commands = self._commands, []
        to_send = commands
        for pause_s in (0.0, *RETRY_PAUSES_S):
            time.sleep(pause_s)
            self._send(to_send)
            to_send, moved = plan_next_round(to_send)
            for error in moved:
                self._nodes.move_slot(error)
            if not to_send:
                break
        if is_node_lost(commands):
            self._cluster.refresh_slots()
        return collect_replies(commands, raise_on_error)

    def _send(self, commands: list[ClusterCommand]) -> None:
        """Write to all nodes before the first reply is read. No node is waited for longer than NODE_TIMEOUT_S, and
        all of them together little longer."""
        commands_by_node = group_by_node(commands, self._nodes.get_node_from_slot, self._node_by_name)
        exchanges = [NodeExchange(self._cluster, node, share) for node, share in commands_by_node.items()]
        try:
            for exchange in exchanges:
                exchange.write()
            deadline_s = time.monotonic() + NODE_TIMEOUT_S
            for exchange in exchanges:
                exchange.read(deadline_s)
        finally:
            for exchange in exchanges:
                exchange.close()

    def _node_by_name(self, name: str) -> Client:
        return self._nodes.get_node(node_name=name)


class NodeExchange:
    """One node's share of a round: written at once, read afterwards."""

    def __init__(self, cluster: Cluster, node: Client, share: list[ClusterCommand]) -> None:
        self._name, self._client, self._unanswered = node.name, cluster.client_of(node), deque(share)
        self._silent_nodes = cluster.silent_nodes
        self._connection: Client = None

    def write(self) -> None:
        """Send the commands. A lost connection is the reply to each."""
        if self._silent_nodes.is_skipped(self._name):
            self._fail_remaining(f"{self._name} doesn't answer")
            return
        try:
            self._connection = connection = self._client.connection_pool.get_connection()
            connection.send_packed_command(
                connection.pack_commands([command.args for command in self._unanswered])
            )
        except (ConnectionError, TimeoutError) as error:
            self._lose(error)

    def read(self, deadline_s: float) -> None:
        """Read the replies; an error reply is the reply of its command alone."""
        if not self._unanswered:
            return
        try:
            if not self._connection.can_read(max(0.01, deadline_s - time.monotonic())):
                self._wait_elsewhere()
                return
            while self._unanswered:
                self._read_one(self._unanswered[0])
                self._unanswered.popleft()
        except (ConnectionError, TimeoutError) as error:
            self._lose(error)
        else:
            self._silent_nodes.note_answer(self._name)

    def _read_one(self, command: ClusterCommand) -> None:
        try:
            command.result = self._client.parse_response(self._connection, command.args[0], **command.kwargs)
        except (ConnectionError, TimeoutError):
            raise
        except RedisError as error:
            command.result = error

    def close(self) -> None:
        """Give the connection back; one with unread replies is closed."""
        if self._connection is not None:
            if self._unanswered:
                self._connection.disconnect()
            self._client.connection_pool.release(self._connection)

    def _wait_elsewhere(self) -> None:
        """The node hangs. Its connection is kept, and read no more: an answer there shows that it is back."""
        connection, pool, self._connection = self._connection, self._client.connection_pool, None

        def close() -> None:
            connection.disconnect()
            pool.release(connection)

        error = TimeoutError(f"no answer within {NODE_TIMEOUT_S} s")
        self._silent_nodes.note_loss(self._name, error, connection, close)
        self._fail_remaining(str(error))

    def _lose(self, error: Exception) -> None:
        if self._connection is not None:
            self._connection.disconnect()
        self._silent_nodes.note_loss(self._name, error)
        self._fail_remaining(str(error))

    def _fail_remaining(self, why: str) -> None:
        for command in self._unanswered:
            command.result = NodeAwayError(why)
        self._unanswered.clear()


class AsyncCluster(AsyncRedisCluster):
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
