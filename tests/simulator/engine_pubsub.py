"""Subscriptions as redis-py offers them, on an engine in memory."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from typing import Any

import redis

from tests.simulator.engine import Connection, Engine

Message = dict[str, Any]


class Subscription:
    """Stands for `redis.client.PubSub`. It never waits: no message is None."""

    def __init__(self, engine: Engine, ignore_subscribe_messages: bool = False) -> None:
        self._engine, self._quiet = engine, ignore_subscribe_messages
        self._connection = Connection(engine)
        self._confirmations: list[Message] = []  # of subscriptions, returned first

    def psubscribe(self, *patterns: str | bytes) -> None:
        self._listen("psubscribe", patterns)

    def subscribe(self, *channels: str | bytes) -> None:
        self._listen("subscribe", channels)

    def unsubscribe(self, *channels: str | bytes) -> None:
        self._listen("unsubscribe", channels)

    def get_message(
        self, ignore_subscribe_messages: bool = False, timeout: float | None = 0.0
    ) -> Message | None:
        """The oldest message not returned yet. Raises ConnectionError once the engine went down."""
        if self._confirmations:
            result = self._confirmations.pop(0)
            return None if ignore_subscribe_messages else result
        if self._connection.generation != self._engine.generation:
            raise redis.ConnectionError("the engine went away")
        if not self._connection.messages:
            return None
        pattern, channel, message = self._connection.messages.popleft()
        kind = "message" if pattern is None else "pmessage"
        return {"type": kind, "pattern": pattern, "channel": channel, "data": message}

    def close(self) -> None:
        self._engine.unsubscribe_all(self._connection)

    def __enter__(self) -> Subscription:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def _listen(self, kind: str, names: tuple[str | bytes, ...]) -> None:
        if self._connection.generation != self._engine.generation:
            if self._connection.patterns:
                raise redis.ConnectionError("the engine went away")
            self._connection = Connection(self._engine)
        for name in names:
            channel = name.encode() if isinstance(name, str) else name
            self._engine.execute(self._connection, kind.encode(), channel)
            if not self._quiet:
                count = len(self._connection.patterns)
                self._confirmations.append({"type": kind, "pattern": None, "channel": channel, "data": count})


class AsyncSubscription:
    """The same for the asynchronous client, where a task may wait for a message."""

    def __init__(self, engine: Engine, ignore_subscribe_messages: bool = False) -> None:
        self._subscription = Subscription(engine, ignore_subscribe_messages)
        self._message_arrived = asyncio.Event()

    async def psubscribe(self, *patterns: str | bytes) -> None:
        self._subscription.psubscribe(*patterns)
        self._subscription._connection.on_message = self._message_arrived.set

    async def subscribe(self, *channels: str | bytes) -> None:
        self._subscription.subscribe(*channels)
        self._subscription._connection.on_message = self._message_arrived.set
        self._message_arrived.set()  # its confirmation

    async def unsubscribe(self, *channels: str | bytes) -> None:
        self._subscription.unsubscribe(*channels)
        self._message_arrived.set()

    async def get_message(
        self,
        ignore_subscribe_messages: bool = False,
        timeout: float | None = 0.0,  # noqa: ASYNC109 - redis-py's name
    ) -> Message | None:
        """The next message, or None after the timeout in seconds (None: no timeout)."""
        try:
            async with asyncio.timeout(timeout):
                return await self._next(ignore_subscribe_messages)
        except TimeoutError:
            return None

    async def listen(self) -> AsyncIterator[Message]:
        """Every message, without end. Raises ConnectionError once the engine went down."""
        while True:
            yield await self._next(False)

    async def _next(self, ignore_subscribe_messages: bool) -> Message:
        while True:
            self._message_arrived.clear()
            message = self._subscription.get_message(ignore_subscribe_messages)
            if message is not None:
                return message
            await self._message_arrived.wait()

    async def aclose(self) -> None:
        self._subscription.close()

    async def __aenter__(self) -> AsyncSubscription:
        return self

    async def __aexit__(self, *_: object) -> None:
        await self.aclose()
