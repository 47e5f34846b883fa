"""The hearing of one connection: the channels of games that it is subscribed to, at an engine or at one node of a cluster.

A channel of a cluster is sharded: its messages stay at the node of its slot. Where a node knows no such channels (before
Redis 7), an ordinary one stands for it; the script that publishes goes by the same node's word.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Collection, Iterable
from itertools import groupby
from typing import Final

from redis.exceptions import ConnectionError, MovedError

from services.ledger.engine.cluster_pipeline import hash_slot
from services.ledger.engine.queries import Reply
from services.ledger.notifications.entry_notifications import EntryNotification, parse_notification
from services.runtime.logging_setup import get_logger

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
                self._take_message(channel, data)
            case [b"subscribe" | b"ssubscribe", channel, _]:
                self._confirm(channel)
            case [b"unsubscribe" | b"sunsubscribe", channel, _]:
                if channel in self.games and channel not in self._unconfirmed:  # nobody asked for it
                    self._forget([channel], None)
            case Exception():
                self._take_error(reply)

    def _take_message(self, channel: bytes, data: bytes) -> None:
        if (notification := parse_notification(data)) is not None:
            self._on_notification(notification)
        elif not self._was_logged:  # its publisher may send it often
            self._was_logged = True
            log.warning(UNREADABLE, channel=str(channel))

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
