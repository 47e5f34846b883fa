"""A client of Redis Cluster or Valkey Cluster, whose pipeline sends nothing twice by itself.

A pipeline's commands go to all nodes in one round trip; a node that is away costs only the
replies of its own commands. See cluster_pipeline.py for what is sent again, and why.
"""

from __future__ import annotations

import random
import time
from collections import deque
from contextlib import suppress
from typing import Any

from redis.client import PubSub
from redis.cluster import PRIMARY, RedisCluster
from redis.commands import CoreCommands
from redis.exceptions import ConnectionError, RedisError, TimeoutError

from services.ledger.cluster_pipeline import (
    RETRY_PAUSES_S,
    ClusterCommand,
    collect_replies,
    group_by_node,
    is_node_lost,
    plan_next_round,
)
from services.ledger.queries import Argument, Client, Reply


class Cluster(RedisCluster):
    """redis-py's client with this pipeline, and a subscription at any primary."""

    def pipeline(self, transaction: bool | None = False, shard_hint: object = None) -> Any:  # not redis-py's
        """A pipeline that may name keys of many nodes."""
        assert not transaction, "what must be atomic is a script"
        return Pipeline(self)

    def pubsub(
        self, node: Client = None, host: object = None, port: object = None, **kwargs: Any
    ) -> PubSub:  # redis-py's
        """A subscription at any node: each receives what is published anywhere on the cluster. It ends
        with ConnectionError when that node dies; the next one may be at another."""
        nodes: Client = self.nodes_manager
        primary = node or random.choice(nodes.get_nodes_by_server_type(PRIMARY))  # noqa: S311 - any will do
        return PubSub(primary.redis_connection.connection_pool, **kwargs)


class Pipeline(CoreCommands):
    """Commands for many nodes, each about keys of one slot; WAIT follows what it waits for."""

    _event_dispatcher: Any = None  # redis-py's base of all commands names it; nothing here has one

    def __init__(self, cluster: RedisCluster) -> None:
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
            with suppress(RedisError):
                self._nodes.initialize()
        return collect_replies(commands, raise_on_error)

    def _send(self, commands: list[ClusterCommand]) -> None:
        """Write to all nodes before the first reply is read."""
        commands_by_node = group_by_node(commands, self._nodes.get_node_from_slot, self._node_by_name)
        exchanges = [NodeExchange(node.redis_connection, share) for node, share in commands_by_node.items()]
        try:
            for exchange in exchanges:
                exchange.write()
            for exchange in exchanges:
                exchange.read()
        finally:
            for exchange in exchanges:
                exchange.close()

    def _node_by_name(self, name: str) -> Client:
        return self._nodes.get_node(node_name=name)


class NodeExchange:
    """One node's share of a round: written at once, read afterwards."""

    def __init__(self, client: Client, share: list[ClusterCommand]) -> None:
        self._client, self._unanswered = client, deque(share)
        self._connection: Client = None

    def write(self) -> None:
        """Send the commands. A lost connection is the reply to each."""
        try:
            self._connection = connection = self._client.connection_pool.get_connection()
            connection.send_packed_command(
                connection.pack_commands([command.args for command in self._unanswered])
            )
        except (ConnectionError, TimeoutError) as error:
            self._fail_remaining(error)

    def read(self) -> None:
        """Read the replies; an error reply is the reply of its command alone."""
        while self._unanswered:
            command = self._unanswered[0]
            try:
                command.result = self._client.parse_response(
                    self._connection, command.args[0], **command.kwargs
                )
            except (ConnectionError, TimeoutError) as error:
                self._fail_remaining(error)
                return
            except RedisError as error:
                command.result = error
            self._unanswered.popleft()

    def close(self) -> None:
        """Give the connection back; one with unread replies is closed."""
        if self._connection is not None:
            if self._unanswered:
                self._connection.disconnect()
            self._client.connection_pool.release(self._connection)

    def _fail_remaining(self, error: Exception) -> None:
        for command in self._unanswered:
            command.result = error
        if self._connection is not None:
            self._connection.disconnect()
        self._unanswered.clear()
