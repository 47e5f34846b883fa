"""Listening to the channels of games on a cluster, each at the node that has its slot.

A connection for each node that has any: a node that is away silences only its own games, until it is back or a replica
took over. When a slot moves, its node ends the subscriptions, or refuses them, and they begin anew at the other one.
"""

from __future__ import annotations

import asyncio
from collections.abc import Collection, Coroutine, Iterable
from typing import Final

from redis.asyncio.cluster import ClusterNode
from redis.asyncio.retry import Retry
from redis.backoff import NoBackoff
from redis.exceptions import MovedError, SlotNotCoveredError, TimeoutError

from services.fast_path.engine_connection import DirectConnection
from services.ledger.engine.async_cluster import AsyncCluster
from services.ledger.engine.cluster_pipeline import hash_slot
from services.ledger.engine.errors import ENGINE_ERRORS
from services.ledger.engine.queries import Client
from services.ledger.engine.silent_nodes import NODE_TIMEOUT_S, REFRESH_S
from services.ledger.notifications.channel_listener import ChannelListener, OnNotification, OnSubscribed

QUIET_S: Final = NODE_TIMEOUT_S / 2  # after which a node is asked whether it is there


class ClusterListener:
    """A `ChannelListener` for each node, with the same methods for all of them, while `run` runs."""

    def __init__(
        self, client: AsyncCluster, on_notification: OnNotification, on_subscribed: OnSubscribed
    ) -> None:
        self._client, self._on_notification, self._on_subscribed = client, on_notification, on_subscribed
        self.games: dict[bytes, str] = {}  # by channel
        self._listeners: dict[str, ChannelListener] = {}  # by the node's name
        self._listener_by_channel: dict[bytes, ChannelListener] = {}
        self._unplaced: set[bytes] = set()  # channels without a listener
        self._moves: list[MovedError] = []
        self._tasks: set[asyncio.Task[None]] = set()
        self._placing: asyncio.Task[None] | None = None
        self._failed: asyncio.Future[None] | None = None

    async def run(self) -> None:
        """Listen until cancelled. Raises one of ENGINE_ERRORS where no node answers at first; later ones are waited for."""
        await self._client.initialize()
        self._failed = asyncio.get_running_loop().create_future()
        try:
            self._place([*self.games])
            await self._failed
        finally:
            for task in self._tasks:
                task.cancel()
            await asyncio.gather(*self._tasks, return_exceptions=True)

    def add(self, channel: bytes, game: str) -> None:
        """Subscribe to a channel that isn't here."""
        self.games[channel] = game
        if self._failed is not None:
            self._place([channel])

    def is_awaited(self, channel: bytes) -> bool:
        """Whether `on_subscribed` will be called for this channel soon."""
        listener = self._listener_by_channel.get(channel)
        return listener is not None and listener.is_awaited(channel)

    def remove(self, channels: Collection[bytes]) -> None:
        """End the subscriptions to these channels."""
        for channel in channels:
            self.games.pop(channel, None)
            self._listener_by_channel.pop(channel, None)
        self._unplaced.difference_update(channels)
        for listener in self._listeners.values():
            listener.remove(channels)

    def _place(self, channels: Iterable[bytes]) -> None:
        """Subscribe at the node that has the slot of each channel, as far as is known."""
        nodes: Client = self._client.nodes_manager
        for channel in channels:
            try:
                node = nodes.get_node_from_slot(hash_slot(channel))
            except (SlotNotCoveredError, KeyError):  # KeyError: redis-py's asyncio client
                self._client.look_for_lost_nodes()
                self._place_later([channel])
                continue
            listener = self._listeners.get(node.name) or self._listen_at(node)
            self._listener_by_channel[channel] = listener
            listener.add(channel, self.games[channel])

    def _place_later(self, channels: Iterable[bytes]) -> None:
        self._unplaced.update(channels)
        if self._placing is None and self._unplaced:
            self._placing = self._start(self._place_again())

    async def _place_again(self) -> None:
        await asyncio.sleep(REFRESH_S)
        moves, self._moves = self._moves, []
        nodes: Client = self._client.nodes_manager
        for move in moves:
            await nodes.move_slot(move)
        unplaced, self._unplaced, self._placing = self._unplaced, set(), None
        self._place(unplaced)

    def _on_moved(self, move: MovedError | None, channels: Collection[bytes]) -> None:
        if move is not None:
            self._moves.append(move)
        for channel in channels:
            del self._listener_by_channel[channel]
        self._place_later(channels)

    def _listen_at(self, node: ClusterNode) -> ChannelListener:
        listener = ChannelListener(self._on_notification, self._on_subscribed, self._on_moved)
        self._listeners[node.name] = listener
        self._start(self._serve(node, listener))
        return listener

    async def _serve(self, node: ClusterNode, listener: ChannelListener) -> None:
        try:
            await _hear(node, listener)
        except ENGINE_ERRORS as error:
            self._client.lose(node.name, error)
            del self._listeners[node.name]
            for channel in listener.games:
                del self._listener_by_channel[channel]
            self._place_later(listener.games)

    def _start(self, work: Coroutine[object, object, None]) -> asyncio.Task[None]:
        task: asyncio.Task[None] = asyncio.ensure_future(work)
        self._tasks.add(task)
        task.add_done_callback(self._note_end)
        return task

    def _note_end(self, task: asyncio.Task[None]) -> None:
        self._tasks.discard(task)
        if not task.cancelled() and (error := task.exception()) is not None:
            assert self._failed is not None, "tasks are started by `run`"
            if not self._failed.done():
                self._failed.set_exception(error)


async def _hear(node: ClusterNode, listener: ChannelListener) -> None:
    """Let a listener hear at a node, until the connection ends or the node doesn't answer: raises that error."""
    options = {**node.connection_kwargs, "retry": Retry(NoBackoff(), 0)}
    connection = await DirectConnection.open(node.connection_class(**options), listener.take)
    try:
        listener.start(connection.send)
        is_asked = False
        while not (await asyncio.wait({connection.ended}, timeout=QUIET_S))[0]:
            if listener.was_heard:
                listener.was_heard = is_asked = False
            elif is_asked:
                raise TimeoutError("no answer on the notification channel")
            else:
                connection.send(("PING",))
                is_asked = True
        await connection.ended
    finally:
        await connection.close()
