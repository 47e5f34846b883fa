"""The channels of the games that somebody here follows or waits for: subscribed to for as long as anybody does.

Where a subscription begins, or begins anew after a connection was lost, `on_subscribed` is called with the game: what was
published before isn't heard, so who follows the game reads it then.
"""

from __future__ import annotations

import asyncio
from collections import Counter
from collections.abc import Coroutine
from typing import Final

from services.fast_path.engine_connection import DirectConnection
from services.ledger.engine import keys
from services.ledger.engine.async_cluster import AsyncCluster
from services.ledger.engine.cancellable_send import has_cancellable_send
from services.ledger.engine.queries import Client
from services.ledger.notifications.channel_listener import ChannelListener, OnNotification, OnSubscribed
from services.ledger.notifications.cluster_listener import ClusterListener

LINGER_S: Final = 1.0  # that a channel stays at least when nobody wants it: clients come back


class GameChannels:
    """Counts who wants which game, and has the listener while `listen` runs."""

    def __init__(self, client: Client, partitions: int) -> None:
        self._client, self._partitions = client, partitions
        # An engine in memory is no server: it has no connections of its own.
        self._hear = listen_directly if has_cancellable_send(client) else listen_by_pubsub
        self._wants: Counter[str] = Counter()  # how many want each game
        self._unwanted: set[str] = set()  # since the last sweep
        self._leaving: set[str] = set()  # since the one before
        self._sweep_timer: asyncio.TimerHandle | None = None
        self._listener: ChannelListener | ClusterListener | None = None

    def want(self, game: str) -> bool:
        """Hear of a game until `release`. Whether `on_subscribed` will be called for it soon: else it was subscribed to
        before, or nobody listens now."""
        self._wants[game] += 1
        self._unwanted.discard(game)
        self._leaving.discard(game)
        if self._listener is None:
            return False
        channel = self._channel(game)
        if channel not in self._listener.games:
            self._listener.add(channel, game)
        return self._listener.is_awaited(channel)

    def release(self, game: str) -> None:
        """One fewer wants to hear of this game."""
        self._wants[game] -= 1
        if not self._wants[game]:
            del self._wants[game]
            self._unwanted.add(game)
            self._sweep_later()

    async def listen(self, on_notification: OnNotification, on_subscribed: OnSubscribed) -> None:
        """Call these until the connection ends: raises one of ENGINE_ERRORS, or what they raised. Nodes of a cluster that
        are away are waited for."""
        if isinstance(self._client, AsyncCluster):
            at_nodes = ClusterListener(self._client, on_notification, on_subscribed)
            await self._run(at_nodes, at_nodes.run())
            return
        listener = ChannelListener(on_notification, on_subscribed)
        await self._run(listener, self._hear(self._client, listener))

    async def _run(
        self, listener: ChannelListener | ClusterListener, running: Coroutine[object, object, None]
    ) -> None:  # what it yields is asyncio's own
        for game in self._wants:
            listener.add(self._channel(game), game)
        self._listener = listener
        try:
            await running
        finally:
            self._listener = None

    def _sweep_later(self) -> None:
        if self._sweep_timer is None:
            self._sweep_timer = asyncio.get_running_loop().call_later(LINGER_S, self._sweep)

    def _sweep(self) -> None:
        """End the subscriptions that nobody has wanted since the last sweep."""
        self._sweep_timer = None
        if self._listener is not None:
            self._listener.remove([self._channel(game) for game in self._leaving])
        self._leaving, self._unwanted = self._unwanted, set()
        if self._leaving:
            self._sweep_later()

    def _channel(self, game: str) -> bytes:
        return keys.notification_channel(keys.partition_of(game, self._partitions), game).encode()


async def listen_directly(client: Client, listener: ChannelListener) -> None:
    """Let a listener hear by a direct connection, until that ends: raises that error."""
    connection = await DirectConnection.open(client.connection_pool.make_connection(), listener.take)
    try:
        listener.start(connection.send)
        await connection.ended
    finally:
        await connection.close()


async def listen_by_pubsub(client: Client, listener: ChannelListener) -> None:
    """Let a listener hear by redis-py's client, until the subscription ends: raises that error."""
    commands: asyncio.Queue[tuple[str | bytes, ...]] = asyncio.Queue()
    async with client.pubsub() as pubsub:
        listener.start(commands.put_nowait)
        await _send(pubsub, await commands.get())  # before that, redis-py has no connection
        tasks = [
            asyncio.ensure_future(_send_all(pubsub, commands)),
            asyncio.ensure_future(_hear(pubsub, listener)),
        ]
        try:
            ended, _ = await asyncio.wait(tasks, return_when=asyncio.FIRST_COMPLETED)
            ended.pop().result()
        finally:
            for task in tasks:
                task.cancel()
            await asyncio.gather(*tasks, return_exceptions=True)


async def _send(pubsub: Client, command: tuple[str | bytes, ...]) -> None:
    name, *channels = command
    await (pubsub.subscribe if name == "SUBSCRIBE" else pubsub.unsubscribe)(*channels)


async def _send_all(pubsub: Client, commands: asyncio.Queue[tuple[str | bytes, ...]]) -> None:
    while True:
        await _send(pubsub, await commands.get())


async def _hear(pubsub: Client, listener: ChannelListener) -> None:
    while True:
        if (message := await pubsub.get_message(timeout=None)) is not None:
            listener.take([message["type"].encode(), message["channel"], message["data"]])
        await asyncio.sleep(0)  # others have their turn
