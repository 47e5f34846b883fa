"""Connections to the engine, and what was fixed when it first met us.

The address chooses: `redis://`, `rediss://` and `unix://` name one engine, `redis+cluster://`
and `rediss+cluster://` some nodes of a cluster, by which the others are found.

redis-py retries by itself, and one lost reply then makes two entries of one XADD. So no
client made here retries: what is sent again is sent by us, under the same command id. On a
cluster, a command is sent on to where a node says that its slot is: nothing was done then.
"""

from __future__ import annotations

import asyncio
from typing import Any, Final, NamedTuple, cast

import redis
import redis.asyncio
from redis.asyncio.cluster import ClusterNode as AsyncNode
from redis.asyncio.retry import Retry as AsyncRetry
from redis.backoff import NoBackoff
from redis.cluster import ClusterNode
from redis.exceptions import ClusterCrossSlotError, RedisClusterException
from redis.retry import Retry

from schemas.contract import Malformed
from services.ledger import keys
from services.ledger.async_cluster import AsyncCluster
from services.ledger.cluster import Cluster

SOCKET_TIMEOUT_S: Final = 10.0  # every blocking read blocks for less
BLOCK_MS_MOST: Final = 5_000
CONNECTIONS_MOST: Final = 1_000  # of a gateway, to each engine
SETTING: Final = "LEDGERLINE_REDIS_URL"
CLUSTER: Final = "+cluster"
LIMITS: Final[Any] = {"protocol": 2, "socket_timeout": SOCKET_TIMEOUT_S, "socket_connect_timeout": 5}


class EngineUnavailable(Exception):
    """The engine doesn't answer, or isn't one that we can use."""


class EngineAway(EngineUnavailable):
    """The engine doesn't answer now; it may later."""


class Nodes(NamedTuple):
    """Some nodes of a cluster, by which all are found."""

    first: str  # as the address of a single engine, with what holds for all: user, password, TLS
    addresses: list[tuple[str, int]]

    def __str__(self) -> str:
        return ", ".join(f"{host}:{port}" for host, port in self.addresses)


def check_url(url: str) -> None:
    """Raise Malformed unless a connection can be made of this address."""
    if cluster_nodes(url) is None:
        _check_engine(url)


def cluster_nodes(url: str) -> Nodes | None:
    """The nodes that a cluster's address names; None for the address of a single engine.

    Raises Malformed where it can't be read."""
    scheme, _, rest = url.partition("://")
    if not scheme.endswith(CLUSTER):
        return None
    who, at, named = rest.rpartition("@")
    end = min((place for mark in "/?" if (place := named.find(mark)) >= 0), default=len(named))
    scheme = scheme.removesuffix(CLUSTER)
    if scheme not in {"redis", "rediss"}:
        raise Malformed(SETTING, "of a cluster only begins redis+cluster:// or rediss+cluster://")
    if not all(named[:end].split(",")):
        raise Malformed(SETTING, "names no node where it should: redis+cluster://host:port,host:port")
    each = [f"{scheme}://{who}{at}{node}{named[end:]}" for node in named[:end].split(",")]
    for node in each:
        _check_engine(node)
    parse_url: Any = redis.connection.parse_url  # it has no types
    options = [parse_url(node) for node in each]
    if any(option.get("db") for option in options):
        raise Malformed(SETTING, "names a database, and a cluster has none: leave out what follows the nodes")
    return Nodes(each[0], [(option.get("host", "localhost"), option.get("port", 6379)) for option in options])


def _check_engine(url: str) -> None:
    try:
        redis.ConnectionPool.from_url(url).make_connection()
    except (ValueError, TypeError, redis.RedisError) as error:
        raise Malformed(SETTING, f"is no address of an engine: {error}") from None


def connect(url: str) -> redis.Redis:
    """A client for referees, bots and replays. Raises EngineUnavailable for a cluster of which
    no node answers: without one, there is no telling what is where."""
    check_url(url)
    if (nodes := cluster_nodes(url)) is not None:
        whole: Any = _connect_cluster(nodes)  # whoever has a client needn't know of what
        return cast(redis.Redis, whole)
    return redis.Redis.from_url(url, retry=Retry(NoBackoff(), 0), **LIMITS)


def _connect_cluster(nodes: Nodes) -> Cluster:
    node: Any = ClusterNode  # it has no types
    try:
        return Cluster(
            url=nodes.first,
            startup_nodes=[node(host, port) for host, port in nodes.addresses[1:]],
            retry=Retry(NoBackoff(), 0),
            require_full_coverage=False,  # the games of the other nodes go on
            **LIMITS,
        )
    except RedisClusterException as error:
        if "not enabled" in str(error):
            why = f"{nodes}: no cluster; a single engine's address begins with redis:// or rediss://"
            raise EngineUnavailable(why) from None
        raise EngineAway(f"no node of the cluster answers ({nodes}): {error}") from None


def connect_async(url: str) -> redis.asyncio.Redis:
    """A client for the gateway."""
    if (nodes := cluster_nodes(url)) is not None:
        whole: Any = _connect_async_cluster(nodes)
        return cast(redis.asyncio.Redis, whole)
    client = redis.asyncio.Redis.from_url(
        url, retry=AsyncRetry(NoBackoff(), 0), max_connections=CONNECTIONS_MOST, **LIMITS
    )
    pool: Any = client.connection_pool
    pool.connection_class = cancellable(pool.connection_class)
    return client


def _connect_async_cluster(nodes: Nodes) -> AsyncCluster:
    client: Any = AsyncCluster.from_url(
        nodes.first,
        startup_nodes=[AsyncNode(host, port) for host, port in nodes.addresses[1:]],
        retry=AsyncRetry(NoBackoff(), 0),
        require_full_coverage=False,
        max_connections=CONNECTIONS_MOST,
        **LIMITS,
    )
    kind = cancellable(client.connection_kwargs["connection_class"])
    client.connection_kwargs["connection_class"] = kind  # of nodes that are found later
    for node in client.startup_nodes:
        node.connection_class = kind
    return cast(AsyncCluster, client)


def cancellable(connection_class: type) -> Any:
    return type("Connection", (Cancellable, connection_class), {})


class Cancellable:
    """Laid over a connection of redis-py's: a task may be cancelled while it sends.

    redis-py sends under `asyncio.wait_for`, which before Python 3.12 swallows a cancellation
    that comes just as the sending ends: a busy gateway then never stopped (129 of 300 times)."""

    socket_timeout: float | None

    async def send_packed_command(self, command: Any, check_health: bool = True) -> None:
        limit, self.socket_timeout = self.socket_timeout, None
        base: Any = super()
        try:
            async with asyncio.timeout(limit):
                await base.send_packed_command(command, check_health)
        except TimeoutError:
            await base.disconnect(nowait=True)
            raise redis.TimeoutError("Timeout writing to socket") from None
        finally:
            self.socket_timeout = limit


def birth(client: redis.Redis, partitions: int | None = None) -> int:
    """The number of partitions, fixed by whoever comes first; None takes what is there.

    Raises EngineAway when the engine doesn't answer, EngineUnavailable when it was born with
    another number."""
    wanted = keys.PARTITIONS_DEFAULT if partitions is None else partitions
    if not 1 <= wanted <= keys.PARTITIONS_MOST:
        raise EngineUnavailable(f"partitions: {wanted} isn't between 1 and {keys.PARTITIONS_MOST}")
    call: Any = client  # redis-py types replies for both of its clients at once
    try:
        call.exists(keys.BIRTH, "of another slot")  # which a cluster's node by itself refuses
        call.hsetnx(keys.BIRTH, "partitions", wanted)
        fixed = int(call.hget(keys.BIRTH, "partitions"))
    except ClusterCrossSlotError:
        why = "the engine is a node of a cluster: its address begins with redis+cluster://"
        raise EngineUnavailable(why) from None
    except redis.RedisError as error:
        raise EngineAway(f"the engine doesn't answer: {error}") from None
    if partitions is not None and fixed != partitions:
        raise EngineUnavailable(
            f"partitions: this engine was born with {fixed}, the setting says {partitions}; "
            "the number can't change, so leave the setting out or use another engine"
        )
    return fixed
