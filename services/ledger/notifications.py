"""Notifications of new entries: a message for each on its game's channel, which carries the entry, and who listens to it.

A message may be lost. It saves a round trip and a wait; what it announces can always be read.

A channel of a cluster is sharded: its messages stay at the node of its slot. Where a node knows no such channels
(before Redis 7), an ordinary one stands for it; the script that publishes goes by the same node's word.

A cluster has a connection to each node that has such a game: a node that is away silences only its own games, until it is back or a replica
took over. When a slot moves, its node ends the subscriptions, or refuses them, and they begin anew at the other one.

Where a subscription begins, or begins anew after a connection was lost, `on_subscribed` is called with the game: what
was published before isn't heard, so who follows the game reads it then.
"""

from __future__ import annotations

import asyncio
import re
from collections import Counter
from collections.abc import Callable, Collection, Coroutine, Iterable, Mapping
from itertools import groupby
from typing import Final, NamedTuple

from redis.asyncio.cluster import ClusterNode
from redis.asyncio.retry import Retry
from redis.backoff import NoBackoff
from redis.exceptions import ConnectionError, MovedError, SlotNotCoveredError, TimeoutError

from schemas.field_types import Seat
from schemas.stored.codec import build_view_entry
from schemas.stored.entries import ViewEntry
from services.fast_path.engine_connection import DirectConnection
from services.ledger.engine import keys
from services.ledger.engine.cluster import NODE_TIMEOUT_S, REFRESH_S, AsyncCluster
from services.ledger.engine.cluster_pipeline import hash_slot
from services.ledger.engine.queries import Client, Reply
from services.ledger.ports import ENGINE_ERRORS
from services.runtime.logging_setup import get_logger

_NOTIFICATION: Final = re.compile(
    rb"([!-~]+) (\d{1,15})(?: (\d{1,9}) (\d{1,9}) (\d{1,9})((?: \d{1,9}:\d{1,9})*))?(?:\n|\Z)"
)


class EntryNotification(NamedTuple):
    """Something happened in a game. For a new entry, the notification carries it."""

    game: str
    sequence: int  # of the entry; 0 for a command that was rejected without one
    public: bytes | None = None
    private_parts: Mapping[Seat, bytes] = {}
    previous_head: bytes = b""  # the head before the entry; empty for the first
    head: bytes = b""  # and after it

    def entry_for(self, viewer: Seat | None) -> ViewEntry:
        """The entry as this viewer sees it. Raises CorruptDataError."""
        assert self.public is not None, "only a new entry is carried"
        return build_view_entry(self.sequence, self.public, self.private_part(viewer), self.head)

    def private_part(self, viewer: Seat | None) -> bytes | None:
        """What this viewer alone sees of the entry; None where that is nothing."""
        return None if viewer is None else self.private_parts.get(viewer)


def parse_notification(data: bytes) -> EntryNotification | None:
    """A message as append_entry.lua and reject_command.lua write it; None for any other."""
    matched = _NOTIFICATION.match(data)
    if matched is None:
        return None
    game, sequence, previous_size, head_size, public_size, seat_sizes = matched.groups()
    if previous_size is None:
        return EntryNotification(game.decode(), int(sequence))
    begin = matched.end()
    previous_end = begin + int(previous_size)
    head_end = previous_end + int(head_size)
    end = public_end = head_end + int(public_size)
    private_parts = {}
    for seat_size in seat_sizes.split():
        seat, _, size = seat_size.partition(b":")
        part_begin, end = end, end + int(size)
        private_parts[int(seat)] = data[part_begin:end]
    if end != len(data):
        return None
    return EntryNotification(
        game.decode(),
        int(sequence),
        data[head_end:public_end],
        private_parts,
        data[begin:previous_end],
        data[previous_end:head_end],
    )


log = get_logger("gateway")
UNREADABLE: Final = "notification can't be parsed"
MAX_CHANNELS_AT_ONCE: Final = 500  # that one command names: a longer one would keep others from the engine
Send = Callable[[tuple[str | bytes, ...]], object]  # sends one command
OnNotification = Callable[[EntryNotification], object]
OnSubscribed = Callable[[str], object]  # gets the game
OnMoved = Callable[[MovedError | None, Collection[bytes]], object]  # gets the channels, and the node's answer


class ChannelListener:
    """Subscribes to channels, and takes in what the engine sends: `take` gets each reply.

    `on_subscribed` is called when nothing of a game is missed any more. At a node of a cluster `on_moved` is called when
    another one has some of the channels, which this one then forgets."""

    def __init__(
        self, on_notification: OnNotification, on_subscribed: OnSubscribed, on_moved: OnMoved | None = None
    ) -> None:
        self._on_notification, self._on_subscribed, self._on_moved = on_notification, on_subscribed, on_moved
        self._is_sharded = on_moved is not None
        self.games: dict[bytes, str] = {}  # by channel: those that are subscribed to, or soon
        self.was_heard = False  # since somebody set this to False
        self._unconfirmed: set[bytes] = set()
        self._unsent: list[bytes] = []
        self._send: Send | None = None
        self._was_logged = False

    def start(self, send: Send) -> None:
        """The connection is open: subscribe to what was added so far."""
        self._send = send
        self._subscribe_later(self.games)

    def add(self, channel: bytes, game: str) -> None:
        """Subscribe to a channel that isn't here, now or when the connection is open."""
        self.games[channel] = game
        self._unconfirmed.add(channel)
        self._subscribe_later((channel,))

    def is_awaited(self, channel: bytes) -> bool:
        """Whether `on_subscribed` will be called for this channel soon."""
        return self._send is not None and channel in self._unconfirmed

    def remove(self, channels: Iterable[bytes]) -> None:
        """End the subscriptions to these channels."""
        gone = [channel for channel in channels if self.games.pop(channel, None) is not None]
        self._unconfirmed.difference_update(gone)
        self._name_channels("UNSUBSCRIBE", gone)

    def take(self, reply: Reply) -> None:
        """Take in a reply, or what was published. Raises what the engine refuses."""
        self.was_heard = True
        match reply:
            case [b"message" | b"smessage", channel, data]:
                if (notification := parse_notification(data)) is not None:
                    self._on_notification(notification)
                elif not self._was_logged:  # its publisher may send it often
                    self._was_logged = True
                    log.warning(UNREADABLE, channel=str(channel))
            case [b"subscribe" | b"ssubscribe", channel, _]:
                self._confirm(channel)
            case [b"unsubscribe" | b"sunsubscribe", channel, _]:
                if channel in self.games and channel not in self._unconfirmed:  # nobody asked for it
                    self._forget([channel], None)
            case Exception():
                self._take_error(reply)

    def _confirm(self, channel: bytes) -> None:
        self._unconfirmed.discard(channel)
        if (game := self.games.get(channel)) is not None:
            self._on_subscribed(game)

    def _take_error(self, error: Exception) -> None:
        if isinstance(error, MovedError):
            self._forget(
                [channel for channel in self._unconfirmed if hash_slot(channel) == error.slot_id], error
            )
        elif self._is_sharded and "unknown command" in str(error):
            self._is_sharded = False
            self._subscribe_later(self._unconfirmed)
        elif "unknown command" not in str(error):  # else it is one more that was sent before that was known
            raise error

    def _forget(self, channels: Collection[bytes], error: MovedError | None) -> None:
        if self._on_moved is None:
            raise ConnectionError(f"the engine ended a subscription: {error}")
        self._unconfirmed.difference_update(channels)
        for channel in channels:
            del self.games[channel]
        self._on_moved(error, channels)

    def _subscribe_later(self, channels: Iterable[bytes]) -> None:
        """All channels of one turn of the event loop share a command."""
        if self._send is None:
            return
        if not self._unsent:
            asyncio.get_running_loop().call_soon(self._subscribe)
        self._unsent += channels

    def _subscribe(self) -> None:
        unsent, self._unsent = self._unsent, []
        self._name_channels("SUBSCRIBE", [channel for channel in unsent if channel in self.games])

    def _name_channels(self, command: str, channels: list[bytes]) -> None:
        """Send a command about channels; sharded ones of several slots need several."""
        if self._send is None:
            return
        shares = [channels]
        if self._is_sharded:
            command = f"S{command}"
            shares = [[*share] for _, share in groupby(sorted(channels), hash_slot)]
        for share in shares:
            for first in range(0, len(share), MAX_CHANNELS_AT_ONCE):
                self._send((command, *share[first : first + MAX_CHANNELS_AT_ONCE]))


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
            await _hear_at_node(node, listener)
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


async def _hear_at_node(node: ClusterNode, listener: ChannelListener) -> None:
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


LINGER_S: Final = 1.0  # that a channel stays at least when nobody wants it: clients come back


class GameChannels:
    """Counts who wants which game, and has the listener while `listen` runs."""

    def __init__(self, client: Client, partitions: int) -> None:
        self._client, self._partitions = client, partitions
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
        await self._run(listener, listen_directly(self._client, listener))

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
