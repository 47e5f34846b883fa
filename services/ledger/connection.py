"""Connections to the engine, and what was fixed when it first met us.

redis-py retries by itself, and one lost reply then makes two entries of one XADD. So no
client made here retries: what is sent again is sent by us, under the same command id.
"""

from __future__ import annotations

import asyncio
from typing import Any, Final

import redis
import redis.asyncio
from redis.asyncio.retry import Retry as AsyncRetry
from redis.backoff import NoBackoff
from redis.retry import Retry

from schemas import keys
from schemas.contract import Malformed

SOCKET_TIMEOUT_S: Final = 10.0  # every blocking read blocks for less
BLOCK_MS_MOST: Final = 5_000


class EngineUnavailable(Exception):
    """The engine doesn't answer, or isn't one that we can use."""


class EngineAway(EngineUnavailable):
    """The engine doesn't answer now; it may later."""


def check_url(url: str) -> None:
    """Raise Malformed unless a connection can be made of this address."""
    try:
        redis.ConnectionPool.from_url(url).make_connection()
    except (ValueError, TypeError, redis.RedisError) as error:
        raise Malformed("LEDGERLINE_REDIS_URL", f"is no address of an engine: {error}") from None


def connect(url: str) -> redis.Redis:
    """A client for referees, bots and replays."""
    check_url(url)
    return redis.Redis.from_url(
        url,
        protocol=2,
        retry=Retry(NoBackoff(), 0),
        socket_timeout=SOCKET_TIMEOUT_S,
        socket_connect_timeout=5,
    )


def connect_async(url: str) -> redis.asyncio.Redis:
    """A client for the gateway."""
    client = redis.asyncio.Redis.from_url(
        url,
        protocol=2,
        retry=AsyncRetry(NoBackoff(), 0),
        socket_timeout=SOCKET_TIMEOUT_S,
        socket_connect_timeout=5,
        max_connections=1000,
    )
    pool: Any = client.connection_pool
    pool.connection_class = type("Connection", (Cancellable, pool.connection_class), {})
    return client


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
        call.hsetnx(keys.BIRTH, "partitions", wanted)
        fixed = int(call.hget(keys.BIRTH, "partitions"))
    except redis.RedisError as error:
        raise EngineAway(f"the engine doesn't answer: {error}") from None
    if partitions is not None and fixed != partitions:
        raise EngineUnavailable(
            f"partitions: this engine was born with {fixed}, the setting says {partitions}; "
            "the number can't change, so leave the setting out or use another engine"
        )
    return fixed
