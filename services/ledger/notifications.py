"""Notifications: a pub/sub message for each new entry, which carries the entry itself.

A message may be lost. It saves a round trip and a wait; what it announces can always be read.
"""

from __future__ import annotations

import re
from collections.abc import AsyncIterator, Callable, Mapping
from itertools import accumulate, pairwise
from typing import Final, NamedTuple

from redis.exceptions import TimeoutError

from schemas.codec import build_view_entry
from schemas.entries import ViewEntry
from schemas.field_types import Seat
from services.ledger import keys
from services.ledger.async_cluster import AsyncCluster
from services.ledger.direct_connection import DirectConnection, pack_command
from services.ledger.queries import Client, Reply
from services.ledger.silent_nodes import NODE_TIMEOUT_S
from services.runtime.logging_setup import get_logger

log = get_logger("gateway")
UNREADABLE: Final = "notification can't be parsed"
_NOTIFICATION: Final = re.compile(
    rb"([!-~]+) (\d{1,15})(?: (\d{1,9}) (\d{1,9}) (\d{1,9})((?: \d{1,9}:\d{1,9})*))?"
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
    line, _, body = data.partition(b"\n")
    matched = _NOTIFICATION.fullmatch(line)
    if matched is None:
        return None
    game, sequence = matched[1].decode(), int(matched[2])
    if matched[3] is None:
        return EntryNotification(game, sequence)
    seat_sizes = [(int(seat), int(size)) for seat, size in (part.split(b":") for part in matched[6].split())]
    sizes = (*map(int, matched.group(3, 4, 5)), *(size for _, size in seat_sizes))
    ends = [*accumulate(sizes, initial=0)]
    if ends[-1] != len(body):
        return None
    previous_head, head, public, *seat_bytes = [body[start:end] for start, end in pairwise(ends)]
    return EntryNotification(
        game=game,
        sequence=sequence,
        public=public,
        private_parts={seat: part for (seat, _), part in zip(seat_sizes, seat_bytes, strict=True)},
        previous_head=previous_head,
        head=head,
    )


async def listen_directly(client: Client, on_notification: Callable[[EntryNotification], object]) -> None:
    """Call this with the notifications of every game, until the connection ends: raises that error, or what it raised.
    The client has direct connections."""
    was_logged = False

    def take(reply: Reply) -> None:
        nonlocal was_logged
        if isinstance(reply, Exception):
            raise reply
        if reply[0] != b"pmessage":
            return
        if (notification := parse_notification(reply[3])) is not None:
            on_notification(notification)
        elif not was_logged:
            was_logged = True
            log.warning(UNREADABLE, channel=str(reply[2]))

    connection = await DirectConnection.open(client, take)
    try:
        connection.send(pack_command(("PSUBSCRIBE", keys.NOTIFICATION_PATTERN)))
        await connection.ended
    finally:
        await connection.close()


async def subscribe(client: Client) -> AsyncIterator[EntryNotification]:
    """The notifications of every game. What can't be parsed is skipped, and logged once: its
    publisher may send it often."""
    if isinstance(client, AsyncCluster):
        await client.initialize()  # before that, it knows no node
    async with client.pubsub(ignore_subscribe_messages=True) as pubsub:
        await pubsub.psubscribe(keys.NOTIFICATION_PATTERN)
        was_logged = False
        messages = _messages(client, pubsub) if isinstance(client, AsyncCluster) else pubsub.listen()
        async for message in messages:
            if (notification := parse_notification(message["data"])) is not None:
                yield notification
            elif not was_logged:
                was_logged = True
                log.warning(UNREADABLE, channel=str(message["channel"]))


async def _messages(client: AsyncCluster, pubsub: Client) -> AsyncIterator[Mapping[str, Reply]]:
    """The messages of a subscription at one node of a cluster. A node that says nothing for a while is asked
    whether it is there. Raises NodeAwayError: it doesn't answer, and others may."""
    is_asked = False
    while True:
        message = await pubsub.get_message(timeout=NODE_TIMEOUT_S / 2)
        if message is not None:
            is_asked = False
            if "message" in message["type"]:
                yield message
        elif is_asked:
            raise client.lose(pubsub.node.name, TimeoutError("no answer on the notification channel"))
        else:
            await pubsub.ping()
            is_asked = True
