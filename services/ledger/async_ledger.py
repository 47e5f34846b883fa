"""What a gateway asks of the ledger, without blocking its event loop."""

from __future__ import annotations

import re
from collections.abc import AsyncIterator, Mapping, Sequence
from itertools import accumulate, pairwise
from typing import Any, Final, NamedTuple

import redis.asyncio
from redis.exceptions import RedisError, TryAgainError

from schemas.codec import build_view_entry
from schemas.commands import CommandEnvelope
from schemas.entries import ViewEntry
from schemas.errors import CorruptDataError
from schemas.field_types import Seat
from services.ledger import keys
from services.ledger.ack_confirmation import ConfirmationBatcher, find_node
from services.ledger.ack_levels import AckLevel
from services.ledger.async_cluster import AsyncCluster
from services.ledger.batching import RequestBatcher
from services.ledger.dispute_store import AsyncDisputeStore
from services.ledger.ports import MAX_WAITING_COMMANDS, CommandResult, MissingEntryError, QueueFullError
from services.ledger.replies import parse_entries, parse_public_entries, parse_result, require_game_reply
from services.ledger.script_calls import build_submit_call
from services.ledger.scripts import SUBMIT_COMMAND, ScriptCall, try_script_async
from services.ledger.view_merge import LogRewoundError, PublicEntry, merge_view, require_same_head
from services.ledger.wakeups import wakeup_channel_of
from services.runtime.logging_setup import get_logger

log = get_logger("gateway")
PAGE_SIZE: int = 500
_NOTIFICATION: Final = re.compile(
    rb"([!-~]+) (\d{1,15})(?: (\d{1,9}) (\d{1,9}) (\d{1,9})((?: \d{1,9}:\d{1,9})*))?"
)


class ViewRequest(NamedTuple):
    """Which viewers want a game's entries after a number. With `head`, the entry of that number is
    read again and must have that head; where it is empty, the entry must be there."""

    game: str
    after: int
    viewers: Sequence[Seat | None]
    head: bytes | None = None

    @property
    def first_sequence(self) -> int:
        """The first public entry to read."""
        return self.after + (self.head is None or not self.after)


class ViewPage(NamedTuple):
    """What was found, the head after the last entry that was, and the one before the first; empty
    where it isn't known."""

    views: Mapping[Seat | None, list[ViewEntry]]
    head: bytes
    previous_head: bytes


# Of one game: what is there, its damage, or nothing now.
ViewPageOrError = ViewPage | MissingEntryError | CorruptDataError | LogRewoundError | RedisError


class LogHead(NamedTuple):
    """The last entry of a game, 0 where there is none, and the head after it, empty where it has none."""

    sequence: int
    head: bytes


class EntryNotification(NamedTuple):
    """A bell: something happened in a game. Where that is a new entry, the bell brings it."""

    game: str
    sequence: int  # of the entry; 0 for a command that was answered without one
    public: bytes | None = None
    private_parts: Mapping[Seat, bytes] = {}
    previous_head: bytes = b""  # the head before it; empty for the first
    head: bytes = b""  # and after it

    def entry_for(self, viewer: Seat | None) -> ViewEntry:
        assert self.public is not None, "only a new entry is brought"
        private_part = self.private_parts.get(viewer) if viewer is not None else None
        return build_view_entry(self.sequence, self.public, private_part, self.head)


def parse_notification(data: bytes) -> EntryNotification | None:
    """A ring as append_entry.lua and reject_command.lua write it; None for what isn't one."""
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
    private_parts = {seat: part for (seat, _), part in zip(seat_sizes, seat_bytes, strict=True)}
    return EntryNotification(game, sequence, public, private_parts, previous_head, head)


class AsyncLedger:
    """The gateway's side of the ledger: it submits, and reads views. It can't read a log."""

    def __init__(
        self, client: redis.asyncio.Redis, partitions: int, max_waiting: int = MAX_WAITING_COMMANDS
    ) -> None:
        self._client: Any = client  # redis-py types replies for both of its clients at once
        self.partitions, self.max_waiting = partitions, max_waiting
        self._confirmation_batchers: dict[tuple[str, AckLevel], ConfirmationBatcher] = {}
        self._submit_batchers: dict[
            str, RequestBatcher
        ] = {}  # one for each node: a node that is away holds up no other's

    async def submit(self, envelope: CommandEnvelope) -> None:
        """Put a command on its way. Sending it again with the same id is harmless. Raises Full."""
        wakeup_channel = wakeup_channel_of(self._client, keys.REFEREE_GROUP)
        script_keys, arguments = build_submit_call(
            envelope, self.partitions, self.max_waiting, wakeup_channel
        )
        batcher = await self._submit_batcher_of(envelope.game)
        try:
            is_accepted = await batcher.submit((script_keys, arguments))
        except TryAgainError:  # the partition moves to another node: a key by itself is always somewhere
            await self._client.delete(script_keys[1])
            is_accepted = await batcher.submit((script_keys[:1], arguments))
        if not is_accepted:
            raise QueueFullError(f"{self.max_waiting} letters wait in the partition of game {envelope.game}")

    async def read_result(self, game: str, sender: Seat | None, command_id: str) -> CommandResult | None:
        """What became of a command, or None while that isn't known."""
        partition = self._partition(game)
        pipe = self._client.pipeline(transaction=False)
        pipe.hget(keys.command_results(partition, game, sender), command_id)
        pipe.get(keys.rejection(partition, game, sender, command_id))
        return parse_result(*await pipe.execute())

    async def unavailable_reason(self, game: str, level: AckLevel) -> str:
        """Why the game's engine can't give this level, and what to do about it; '' where it can."""
        return (
            await (await self._confirmation_batcher_of(game, level)).unavailable_reason()
            if level.needs_confirmation
            else ""
        )

    async def confirm(
        self, game: str, sender: Seat | None, command_id: str, level: AckLevel
    ) -> ViewEntry | None:
        """The verdict on a command as its speaker sees it, once it is durable or replicated; None
        where that isn't known. Raises Gap or Corrupt."""
        partition = self._partition(game)
        script_keys = [
            keys.command_results(partition, game, sender),
            keys.public_view(partition, game),
            keys.confirmation_mark(partition),
            *(() if sender is None else (keys.private_view(partition, game, sender),)),
        ]
        return await (await self._confirmation_batcher_of(game, level)).confirm(script_keys, command_id)

    async def read_length(self, game: str) -> int:
        """How many entries the game has; 0 for a game that there isn't."""
        length: int = await self._client.xlen(keys.public_view(self._partition(game), game))
        return length

    async def read_view(
        self, game: str, viewer: Seat | None, after: int, limit: int = PAGE_SIZE, head: bytes | None = None
    ) -> list[ViewEntry]:
        """A viewer's entries after a number; with `head`, that entry's own must be this one still.
        Raises Gap if one is missing, Corrupt if one can't be read, TakenBack."""
        (page,) = await self.read_views([ViewRequest(game, after, (viewer,), head)], limit)
        if not isinstance(page, ViewPage):
            raise page
        return page.views[viewer]

    async def read_views(
        self, requests: Sequence[ViewRequest], limit: int = PAGE_SIZE
    ) -> list[ViewPageOrError]:
        """The same for many games and viewers in one round trip. A game's damage is its own, and so
        is a RedisError: its part of the cluster is away, say, and nothing is known of it now."""
        pipe = self._client.pipeline(transaction=False)
        for request in requests:
            partition, last = self._partition(request.game), f"{request.after + limit}-0"
            pipe.xrange(keys.public_view(partition, request.game), f"{request.first_sequence}-0", last)
            for seat in request.viewers:  # after the public one, so that no part is older than its entry
                if seat is not None:
                    pipe.xrange(
                        keys.private_view(partition, request.game, seat), f"{request.after + 1}-0", last
                    )
        replies = iter(await pipe.execute(raise_on_error=False))
        pages: list[ViewPageOrError] = []
        for request in requests:
            public_reply = next(
                replies
            )  # all of a game's replies are taken before one of them can be damaged
            private_replies = {
                viewer: next(replies) if viewer is not None else () for viewer in request.viewers
            }
            pages.append(_page_or_error(request, public_reply, private_replies))
        return pages

    async def read_heads(self, games: Sequence[str]) -> list[LogHead | CorruptDataError | RedisError]:
        """The last entry of each of these games, in one round trip; what is wrong is each game's own."""
        pipe = self._client.pipeline(transaction=False)
        for game in games:
            pipe.xrevrange(keys.public_view(self._partition(game), game), count=1)
        replies = await pipe.execute(raise_on_error=False) if games else []
        return [_parse_head(game, reply) for game, reply in zip(games, replies, strict=True)]

    async def subscribe(self) -> AsyncIterator[EntryNotification]:
        """Every ring of every game. One may be lost: it is only a doorbell. What isn't a ring is passed
        over, with one line in the log: whoever publishes such a thing may do so often."""
        if isinstance(self._client, AsyncCluster):
            await self._client.initialize()  # else it knows no node
        async with self._client.pubsub(ignore_subscribe_messages=True) as pubsub:
            await pubsub.psubscribe(keys.NOTIFICATION_PATTERN)
            was_logged = False
            async for message in pubsub.listen():
                if (notification := parse_notification(message["data"])) is not None:
                    yield notification
                elif not was_logged:
                    was_logged = True
                    log.warning("a bell that is no ring", channel=str(message["channel"]))

    async def games(self, limit: int = 100) -> list[str]:
        """The games that the engine holds, the latest first."""
        pipe = self._client.pipeline(transaction=False)
        for partition in range(self.partitions):
            pipe.zrevrange(keys.games(partition), 0, limit - 1, withscores=True)
        scored_games = [pair for pairs in await pipe.execute() for pair in pairs]
        return [game.decode() for game, _ in sorted(scored_games, key=lambda pair: -pair[1])[:limit]]

    def disputes(self) -> AsyncDisputeStore:
        """Disputed moves, on the same connection."""
        return AsyncDisputeStore(self._client, self.partitions)

    async def ping(self) -> None:
        await self._client.ping()

    async def close(self) -> None:
        for submit_batcher in self._submit_batchers.values():
            await submit_batcher.close()
        for confirmation_batcher in self._confirmation_batchers.values():
            await confirmation_batcher.close()
        await self._client.aclose()

    def _partition(self, game: str) -> int:
        return keys.partition_of(game, self.partitions)

    async def _submit_batcher_of(self, game: str) -> RequestBatcher:
        node = await find_node(self._client, keys.commands(self._partition(game)))
        if node.name not in self._submit_batchers:
            self._submit_batchers[node.name] = RequestBatcher(self._submit_all)
        return self._submit_batchers[node.name]

    async def _submit_all(self, calls: Sequence[ScriptCall]) -> Sequence[Any]:
        """Run submit_command.lua for each; what it replied, or why it didn't."""
        return await try_script_async(self._client, SUBMIT_COMMAND, calls)

    async def _confirmation_batcher_of(self, game: str, level: AckLevel) -> ConfirmationBatcher:
        node = await find_node(self._client, keys.confirmation_mark(self._partition(game)))
        if (node.name, level) not in self._confirmation_batchers:
            self._confirmation_batchers[node.name, level] = ConfirmationBatcher(node, level)
        return self._confirmation_batchers[node.name, level]


def _page_or_error(
    request: ViewRequest, public_reply: Any, private_replies: Mapping[Seat | None, Any]
) -> ViewPageOrError:
    """What a game's replies come to. One that is an error makes the whole game's answer that: a view
    without a seat's part would be another view."""
    try:
        for reply in (public_reply, *private_replies.values()):
            require_game_reply(request.game, reply)
        return _build_page(request, public_reply, private_replies)
    except (MissingEntryError, CorruptDataError, LogRewoundError, RedisError) as error:
        return error


def _parse_head(game: str, reply: Any) -> LogHead | CorruptDataError | RedisError:
    try:
        entries = parse_public_entries(require_game_reply(game, reply))
    except (CorruptDataError, RedisError) as error:
        return error
    return LogHead(entries[-1][0], entries[-1][2]) if entries else LogHead(0, b"")


def _build_page(
    request: ViewRequest, public_reply: Any, private_replies: Mapping[Seat | None, Any]
) -> ViewPage:
    """What the streams' replies come to. Raises Gap, Corrupt or TakenBack."""
    entries = parse_public_entries(public_reply)
    public: Sequence[PublicEntry] = entries
    previous_head = request.head or b""
    if request.first_sequence == request.after:
        public = require_same_head(request.after, previous_head, entries)
        previous_head = entries[0][2]
    views = {
        viewer: merge_view(request.after, public, parse_entries(private_reply))
        for viewer, private_reply in private_replies.items()
    }
    return ViewPage(views, entries[-1][2] if entries else b"", previous_head)
