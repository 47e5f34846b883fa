"""A client of Redis Cluster or Valkey Cluster, whose pipeline sends nothing twice by itself.

A pipeline's commands go to all nodes in one round trip; a node that is away costs only the
replies of its own commands. See cluster_pipeline.py for what is sent again, and why.
"""

from __future__ import annotations

import random
import time
from collections import deque
from contextlib import suppress

from redis.client import PubSub
from redis.cluster import PRIMARY, RedisCluster
from redis.exceptions import ConnectionError, RedisError, TimeoutError

from services.fast_path.engine_connection import CommandMethods
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
from services.ledger.engine.silent_nodes import NODE_TIMEOUT_S, SilentNodes
from services.ledger.ports import NodeAwayError


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
