"""Subscriptions as redis-py offers them, on an engine in memory."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from typing import Any

import redis

from tests.simulator.engine import Connection, Engine

Message = dict[str, Any]


class Ear:
    """`PubSub` to who uses it. It never waits: no message is None."""

    def __init__(self, engine: Engine, ignore_subscribe_messages: bool = False) -> None:
        self._engine, self._quiet = engine, ignore_subscribe_messages
        self._connection = Connection(engine)
        self._told: list[Message] = []  # of subscriptions, to be said first

    def psubscribe(self, *patterns: str | bytes) -> None:
        self._listen("psubscribe", patterns)

    def subscribe(self, *channels: str | bytes) -> None:
        self._listen("subscribe", channels)

    def get_message(
        self, ignore_subscribe_messages: bool = False, timeout: float | None = 0.0
    ) -> Message | None:
        """What was heard first and not returned yet. Raises ConnectionError once the engine went down."""
        if self._told:
            result = self._told.pop(0)
            return None if ignore_subscribe_messages else result
        if self._connection.life != self._engine.life:
            raise redis.ConnectionError("the engine went away")
        if not self._connection.heard:
            return None
        pattern, channel, message = self._connection.heard.popleft()
        kind = "message" if pattern is None else "pmessage"
        return {"type": kind, "pattern": pattern, "channel": channel, "data": message}

    def close(self) -> None:
        self._engine.deafen(self._connection)

    def __enter__(self) -> Ear:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def _listen(self, kind: str, names: tuple[str | bytes, ...]) -> None:
        if self._connection.life != self._engine.life:
            self._connection = Connection(self._engine)
        channels = [name.encode() if isinstance(name, str) else name for name in names]
        self._engine.execute(self._connection, kind.encode(), *channels)
        if not self._quiet:
            self._told += [
                {"type": kind, "pattern": None, "channel": channel, "data": number}
                for number, channel in enumerate(channels, len(self._connection.patterns) - len(channels) + 1)
            ]


class AsyncEar:
    """The same for the asynchronous client, where a task may wait for a message."""

    def __init__(self, engine: Engine, ignore_subscribe_messages: bool = False) -> None:
        self._ear = Ear(engine, ignore_subscribe_messages)
        self._rung = asyncio.Event()

    async def psubscribe(self, *patterns: str | bytes) -> None:
        self._ear.psubscribe(*patterns)
        self._ear._connection.bell = self._rung.set

    async def subscribe(self, *channels: str | bytes) -> None:
        self._ear.subscribe(*channels)
        self._ear._connection.bell = self._rung.set

    async def get_message(
        self,
        ignore_subscribe_messages: bool = False,
        timeout: float | None = 0.0,  # noqa: ASYNC109 - redis-py's name
    ) -> Message | None:
        """The next message, waited for so long (None: for ever)."""
        try:
            async with asyncio.timeout(timeout):
                return await self._next(ignore_subscribe_messages)
        except TimeoutError:
            return None

    async def listen(self) -> AsyncIterator[Message]:
        """Every message, for ever. Raises ConnectionError once the engine went down."""
        while True:
            yield await self._next(False)

    async def _next(self, ignore_subscribe_messages: bool) -> Message:
        while True:
            self._rung.clear()
            message = self._ear.get_message(ignore_subscribe_messages)
            if message is not None:
                return message
            await self._rung.wait()

    async def aclose(self) -> None:
        self._ear.close()

    async def __aenter__(self) -> AsyncEar:
        return self

    async def __aexit__(self, *_: object) -> None:
        await self.aclose()
