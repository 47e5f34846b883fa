"""A single connection as redis-py offers it to callers that send commands themselves."""

from __future__ import annotations

from collections import deque
from collections.abc import Awaitable, Callable, Sequence
from typing import Any

import redis

from tests.simulator.engine import Connection, Engine

Calls = Sequence[Sequence[Any]]
Trip = Callable[[Connection, Calls], Awaitable[list[Any]]]


class AsyncLine:
    """Stands for `redis.asyncio.Connection`. What is sent is answered at once, and read later."""

    def __init__(self, engine: Engine, trip: Trip) -> None:
        self._engine, self._trip = engine, trip
        self._connection: Connection | None = None
        self._replies: deque[Any] = deque()

    @property
    def is_connected(self) -> bool:
        return self._connection is not None

    async def connect(self) -> None:
        self._connection = self._connection or Connection(self._engine)

    async def disconnect(self, nowait: bool = False) -> None:
        self._connection = None
        self._replies.clear()

    def pack_commands(self, calls: Calls) -> Calls:
        """There is no wire: nothing is packed."""
        return list(calls)

    async def send_command(self, *call: Any) -> None:
        await self.send_packed_command([call])

    async def send_packed_command(self, calls: Calls) -> None:
        if self._connection is None:
            await self.connect()
        assert self._connection is not None
        if self._connection.generation != self._engine.generation:
            await self.disconnect()
            raise redis.ConnectionError("the engine went away")
        self._replies.extend(await self._trip(self._connection, calls))

    async def read_response(self) -> Any:
        """The next reply. Raises it if it is an error."""
        reply = self._replies.popleft()
        if isinstance(reply, Exception):
            raise reply
        return reply


class Pool:
    """The one use of a client's connection pool: it makes connections."""

    def __init__(self, engine: Engine, trip: Trip) -> None:
        self._engine, self._trip = engine, trip

    def make_connection(self) -> AsyncLine:
        return AsyncLine(self._engine, self._trip)
