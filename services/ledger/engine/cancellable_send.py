"""Connections of redis-py's asyncio client whose sending can be cancelled."""

from __future__ import annotations

import asyncio
from typing import Any

import redis
import redis.asyncio


def with_cancellable_send(connection_class: type) -> Any:  # a class that redis-py has no type for
    """A connection class whose sending can be cancelled."""
    return type("Connection", (CancellableSend, connection_class), {})


def has_cancellable_send(client: object) -> bool:
    """Whether this is a client of `connect_async`, of one engine."""
    connection_class = getattr(getattr(client, "connection_pool", None), "connection_class", object)
    return issubclass(connection_class, CancellableSend)


class CancellableSend:
    """A mixin over a connection of redis-py's: a task may be cancelled while it sends.

    redis-py sends under `asyncio.wait_for`, which before Python 3.12 swallows a cancellation
    that comes just as the sending ends: a busy gateway then never stopped (129 of 300 times)."""

    socket_timeout: float | None

    async def send_packed_command(self, command: object, check_health: bool = True) -> None:
        """Send a command, within the socket's timeout. Raises redis.TimeoutError."""
        timeout_s, self.socket_timeout = self.socket_timeout, None
        base: Any = super()  # whichever class this one is mixed into
        try:
            async with asyncio.timeout(timeout_s):
                await base.send_packed_command(command, check_health)
        except TimeoutError:
            await base.disconnect(nowait=True)
            raise redis.TimeoutError("Timeout writing to socket") from None
        finally:
            self.socket_timeout = timeout_s
