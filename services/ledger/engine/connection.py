"""Makes the clients of the engine, and fixes its number of partitions.

The URL decides: `redis://`, `rediss://` and `unix://` name one engine, `redis+cluster://` and
`rediss+cluster://` some nodes of a cluster, by which the others are found.

redis-py retries by itself, and one lost reply then makes two entries of one XADD. So no client
made here retries: a command is sent again by its sender only, under the same command id. On a
cluster, a command is sent on to the node that a redirection names: nothing was done then.
"""

from __future__ import annotations

from typing import Final, NamedTuple, cast

import redis
import redis.asyncio
from redis.asyncio.cluster import ClusterNode as AsyncNode
from redis.asyncio.retry import Retry as AsyncRetry
from redis.backoff import NoBackoff
from redis.cluster import ClusterNode
from redis.driver_info import DriverInfo
from redis.exceptions import ClusterCrossSlotError, RedisClusterException
from redis.retry import Retry

from schemas.errors import InvalidInputError, LedgerlineError
from services import VERSION
from services.ledger.engine import keys
from services.ledger.engine.cluster import NODE_TIMEOUT_S, AsyncCluster, Cluster
from services.ledger.engine.partitions import is_mistyped
from services.ledger.engine.queries import AsyncEngineClient, Client, Option, with_cancellable_send

SOCKET_TIMEOUT_S: Final = 10.0  # every blocking read blocks for less
MAX_CONNECTIONS: Final = 1_000  # of a gateway, to each engine
URL_SETTING: Final = "LEDGERLINE_REDIS_URL"
CLUSTER_SUFFIX: Final = "+cluster"
CONNECTION_OPTIONS: Final[Option] = {
    "protocol": 2,
    "driver_info": DriverInfo().add_upstream_driver("ledgerline", VERSION),  # in CLIENT LIST: see `doctor`
    "socket_timeout": SOCKET_TIMEOUT_S,
    "socket_connect_timeout": 5,
}
CLUSTER_OPTIONS: Final[Option] = {  # nothing blocks for long there: a node answers soon, or is away
    **CONNECTION_OPTIONS,
    "socket_timeout": NODE_TIMEOUT_S,
    "socket_connect_timeout": NODE_TIMEOUT_S,
}


EngineClient = redis.Redis  # or a cluster, behind the same methods


class EngineUnavailableError(LedgerlineError):
    """The engine doesn't answer, or can't be used."""


class EngineUnreachableError(EngineUnavailableError):
    """The engine doesn't answer now; it may later."""


class SeedNodes(NamedTuple):
    """Some nodes of a cluster, by which the others are found."""

    first_url: str  # as the URL of a single engine, with what all nodes share: user, password, TLS
    addresses: list[tuple[str, int]]

    def __str__(self) -> str:
        return ", ".join(f"{host}:{port}" for host, port in self.addresses)


def require_engine_url(url: str) -> None:
    """Raises InvalidInputError unless this is the URL of an engine or a cluster."""
    if parse_seed_nodes(url) is None:
        _require_single_engine_url(url)


def parse_seed_nodes(url: str) -> SeedNodes | None:
    """The nodes that a cluster's URL names; None for the URL of a single engine.

    Raises InvalidInputError: it can't be parsed."""
    scheme, _, rest = url.partition("://")
    if not scheme.endswith(CLUSTER_SUFFIX):
        return None
    credentials, at_sign, host_list = rest.rpartition("@")
    hosts_end = min(
        (index for delimiter in "/?" if (index := host_list.find(delimiter)) >= 0), default=len(host_list)
    )
    scheme = scheme.removesuffix(CLUSTER_SUFFIX)
    if scheme not in {"redis", "rediss"}:
        raise InvalidInputError(URL_SETTING, "of a cluster only begins redis+cluster:// or rediss+cluster://")
    if not all(host_list[:hosts_end].split(",")):
        raise InvalidInputError(
            URL_SETTING, "names no node where it should: redis+cluster://host:port,host:port"
        )
    node_urls = [
        f"{scheme}://{credentials}{at_sign}{node}{host_list[hosts_end:]}"
        for node in host_list[:hosts_end].split(",")
    ]
    for node in node_urls:
        _require_single_engine_url(node)
    parse_url: Client = redis.connection.parse_url  # it has no types
    node_options = [parse_url(node) for node in node_urls]
    if any(option.get("db") for option in node_options):
        raise InvalidInputError(
            URL_SETTING, "names a database, and a cluster has none: leave out what follows the nodes"
        )
    return SeedNodes(
        node_urls[0], [(option.get("host", "localhost"), option.get("port", 6379)) for option in node_options]
    )


def _require_single_engine_url(url: str) -> None:
    try:
        redis.ConnectionPool.from_url(url).make_connection()
    except (ValueError, TypeError, redis.RedisError) as error:
        raise InvalidInputError(URL_SETTING, f"is no address of an engine: {error}") from None


def connect(url: str, name: str | None = None) -> redis.Redis:
    """A blocking client, which the engine lists under this name. Raises InvalidInputError; EngineUnavailableError: no node of the cluster
    answers, and without one the slots aren't known."""
    require_engine_url(url)
    if (nodes := parse_seed_nodes(url)) is not None:
        cluster: object = _connect_cluster(nodes, name)  # with the methods of a single engine's client
        return cast(redis.Redis, cluster)
    return redis.Redis.from_url(url, retry=Retry(NoBackoff(), 0), client_name=name, **CONNECTION_OPTIONS)


def _connect_cluster(nodes: SeedNodes, name: str | None) -> Cluster:
    node_class: Client = ClusterNode  # it has no types
    try:
        return Cluster(
            url=nodes.first_url,
            startup_nodes=[node_class(host, port) for host, port in nodes.addresses[1:]],
            retry=Retry(NoBackoff(), 0),
            require_full_coverage=False,  # the games of the other nodes go on
            client_name=name,
            **CLUSTER_OPTIONS,
        )
    except RedisClusterException as error:
        if "not enabled" in str(error):
            reason = f"{nodes}: no cluster; a single engine's address begins with redis:// or rediss://"
            raise EngineUnavailableError(reason) from None
        raise EngineUnreachableError(f"no node of the cluster answers ({nodes}): {error}") from None


def connect_async(url: str, name: str | None = None) -> redis.asyncio.Redis:
    """An asyncio client, which the engine lists under this name. Raises InvalidInputError."""
    if (nodes := parse_seed_nodes(url)) is not None:
        cluster: object = _connect_async_cluster(nodes, name)
        return cast(redis.asyncio.Redis, cluster)
    client = AsyncEngineClient.from_url(
        url,
        retry=AsyncRetry(NoBackoff(), 0),
        max_connections=MAX_CONNECTIONS,
        client_name=name,
        **CONNECTION_OPTIONS,
    )
    pool: Client = client.connection_pool  # its class is that of every pool
    pool.connection_class = with_cancellable_send(pool.connection_class)
    return client


def _connect_async_cluster(nodes: SeedNodes, name: str | None) -> AsyncCluster:
    client: Client = AsyncCluster.from_url(  # it has no types
        nodes.first_url,
        startup_nodes=[AsyncNode(host, port) for host, port in nodes.addresses[1:]],
        retry=AsyncRetry(NoBackoff(), 0),
        require_full_coverage=False,
        max_connections=MAX_CONNECTIONS,
        client_name=name,
        **CLUSTER_OPTIONS,
    )
    connection_class = with_cancellable_send(client.connection_kwargs["connection_class"])
    client.connection_kwargs["connection_class"] = connection_class  # of nodes that are found later
    for node in client.startup_nodes:
        node.connection_class = connection_class
    return cast(AsyncCluster, client)


def init_partition_count(client: redis.Redis, partitions: int | None = None) -> int:
    """The number of partitions, which the first service of an engine fixes; None accepts any.

    Raises EngineUnreachableError: the engine doesn't answer; EngineUnavailableError: it has another
    number, or none where it should be."""
    requested = keys.DEFAULT_PARTITIONS if partitions is None else partitions
    if not 1 <= requested <= keys.MAX_PARTITIONS:
        raise EngineUnavailableError(f"partitions: {requested} isn't between 1 and {keys.MAX_PARTITIONS}")
    untyped_client: Client = client
    try:
        untyped_client.exists(keys.PARTITION_COUNT_KEY, "of another slot")  # a cluster's node refuses that
        stored = untyped_client.hget(keys.PARTITION_COUNT_KEY, "partitions")
        if stored is None:  # else nothing is written: an engine that refuses writes is still looked at
            untyped_client.hsetnx(keys.PARTITION_COUNT_KEY, "partitions", requested)
            stored = untyped_client.hget(keys.PARTITION_COUNT_KEY, "partitions")
        stored_count = int(stored)
    except ClusterCrossSlotError:
        reason = "the engine is a node of a cluster: its address begins with redis+cluster://"
        raise EngineUnavailableError(reason) from None
    except (ValueError, redis.RedisError) as error:
        if isinstance(error, ValueError) or is_mistyped(error):
            reason = f"the key {keys.PARTITION_COUNT_KEY} holds no number of partitions, but something else"
            raise EngineUnavailableError(reason) from None
        raise EngineUnreachableError(f"the engine doesn't answer: {error}") from None
    if partitions is not None and stored_count != partitions:
        raise EngineUnavailableError(
            f"partitions: this engine was born with {stored_count}, the setting says {partitions}; "
            "the number can't change, so leave the setting out or use another engine"
        )
    return stored_count
