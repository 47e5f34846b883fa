"""Connections that confirm how safe an entry is: to one node each, with what its engine can do."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable, Coroutine, Sequence
from typing import Final, NamedTuple, TypeVar

from redis.asyncio.cluster import RedisCluster
from redis.asyncio.retry import Retry
from redis.backoff import NoBackoff
from redis.exceptions import ConnectionError, RedisClusterException, ResponseError

from services.ledger.acknowledgements.ack_levels import DURABLE, AckLevel
from services.ledger.engine.errors import NodeAwayError
from services.ledger.engine.queries import Argument, Client, Reply
from services.ledger.engine.silent_nodes import NODE_TIMEOUT_S
from services.ledger.operations.engine_settings import (
    NOT_SHOWN,
    PROMISE_SETTINGS,
    EngineCapabilities,
    is_aof_in_force,
    parse_settings,
)

ROUND_TIMEOUT_MS: Final = 5_000  # below a socket's time-out; a longer wait takes another round
REPLACED_CHECK_S: Final = 0.25  # how often a round looks whether its node is still a primary
Result = TypeVar("Result")


class EngineNode(NamedTuple):
    """The node that holds a key, and how to open another connection to it."""

    name: str
    make_connection: Callable[[], Client]


async def find_node(client: Client, key: str) -> EngineNode:
    """The node that holds a key, of a cluster or a single engine. Raises ConnectionError: none does."""
    if not isinstance(client, RedisCluster):
        return EngineNode("", client.connection_pool.make_connection)
    await client.initialize()
    try:
        node = client.get_node_from_key(key)
    except RedisClusterException as error:
        raise ConnectionError(f"no node has {key}: {error}") from None
    assert node is not None, "only a replica may be missing"
    wait_s = ROUND_TIMEOUT_MS / 1000 + NODE_TIMEOUT_S
    options = {**node.connection_kwargs, "socket_timeout": wait_s, "retry": Retry(NoBackoff(), 0)}
    return EngineNode(node.name, lambda: node.connection_class(**options))


async def unless_replaced(
    work: Coroutine[object, object, Result],  # what it yields is asyncio's own
    is_replaced: Callable[[], Awaitable[bool]] | None,
) -> Result:
    """The result of this work on a node, for as long as no other node took over; without `is_replaced` none can.
    An engine may take long to sync, and one that hangs never answers: what tells them apart is a fail-over.

    Raises NodeAwayError: another one took over."""
    if is_replaced is None:
        return await work
    task = asyncio.ensure_future(work)
    try:
        while not (await asyncio.wait({task}, timeout=REPLACED_CHECK_S))[0]:
            if await is_replaced():
                raise NodeAwayError("another node of the cluster took over")
        return task.result()
    finally:
        if not task.done():
            task.cancel()
            await asyncio.wait({task})


class ConfirmationConnection(NamedTuple):
    """A connection, and what its engine can do, as it was found when it was opened."""

    connection: Client
    capabilities: EngineCapabilities

    def proof_commands(self, level: AckLevel) -> list[tuple[Argument, ...]]:
        """The commands whose replies prove that everything before them has the level."""
        if level != DURABLE:
            return [("WAIT", level.replicas, ROUND_TIMEOUT_MS)]
        is_shown = self.capabilities.settings.fsync_policy != NOT_SHOWN
        settings = ("CONFIG", "GET", PROMISE_SETTINGS) if is_shown else ("INFO", "memory")
        if self.capabilities.waitaof_error:
            return [("INFO",), settings]
        return [("WAITAOF", 1, 0, ROUND_TIMEOUT_MS), settings]

    def is_proved_by(self, level: AckLevel, replies: Sequence[Reply]) -> bool:
        """Whether the replies to `proof_commands` prove the level."""
        if any(isinstance(reply, ResponseError) for reply in replies):
            return False
        if level != DURABLE:
            return bool(replies[0] >= level.replicas)
        proof, shown = replies
        probed = self.capabilities.settings
        is_shown = probed.fsync_policy != NOT_SHOWN
        now = parse_settings(shown, {}) if is_shown else parse_settings(ResponseError(), shown)
        if now.may_drop_keys or now.eviction == NOT_SHOWN:
            return False
        if self.capabilities.waitaof_error:
            return now.syncs_before_it_answers and is_aof_in_force(proof)
        is_unchanged = (now.fsync_policy, now.is_synced_in_rewrites) == (
            probed.fsync_policy,
            probed.is_synced_in_rewrites,
        )
        return bool(proof[0] >= 1) and (now.syncs_before_it_answers or is_unchanged)
