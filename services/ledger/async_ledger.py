"""What a gateway asks of the ledger, without blocking its event loop."""

from __future__ import annotations

import re
from collections.abc import AsyncIterator, Mapping, Sequence
from itertools import accumulate, pairwise
from typing import Any, Final, NamedTuple

import redis.asyncio
from redis.exceptions import RedisError, TryAgainError

from schemas.codec import Corrupt, join_view
from schemas.commands import Letter
from schemas.entries import ViewEntry
from schemas.field_types import Seat
from services.ledger import keys
from services.ledger.ack_confirmation import Confirming, node_of
from services.ledger.ack_levels import Level
from services.ledger.async_cluster import AsyncCluster
from services.ledger.batching import Bag
from services.ledger.dispute_store import AsyncDisputes
from services.ledger.ports import WAITING_MOST, Answer, Full, Gap
from services.ledger.replies import headed, numbered, of_game, read_answer
from services.ledger.script_calls import submit_call
from services.ledger.scripts import SUBMIT, Call, attempt_async
from services.ledger.view_merge import Headed, TakenBack, joined, unchanged
from services.ledger.wakeups import channel
from services.runtime.logging_setup import get_log

log = get_log("gateway")
PAGE: int = 500
_RING: Final = re.compile(rb"([!-~]+) (\d{1,15})(?: (\d{1,9}) (\d{1,9}) (\d{1,9})((?: \d{1,9}:\d{1,9})*))?")


class Wanted(NamedTuple):
    """Which viewers want a game's entries after a number. With `head`, the entry of that number is
    read again and must have that head; where it is empty, the entry must be there."""

    game: str
    after: int
    viewers: Sequence[Seat | None]
    head: bytes | None = None

    @property
    def first(self) -> int:
        """The first public entry to read."""
        return self.after + (self.head is None or not self.after)


class Page(NamedTuple):
    """What was found, the head after the last entry that was, and the one before the first; empty
    where it isn't known."""

    views: Mapping[Seat | None, list[ViewEntry]]
    head: bytes
    before: bytes


Found = (
    Page | Gap | Corrupt | TakenBack | RedisError
)  # of one game: what is there, its damage, or nothing now


class Latest(NamedTuple):
    """The last entry of a game, 0 where there is none, and the head after it, empty where it has none."""

    number: int
    head: bytes


class Ring(NamedTuple):
    """A bell: something happened in a game. Where that is a new entry, the bell brings it."""

    game: str
    number: int  # of the entry; 0 for a command that was answered without one
    public: bytes | None = None
    parts: Mapping[Seat, bytes] = {}
    before: bytes = b""  # the head before it; empty for the first
    head: bytes = b""  # and after it

    def entry_for(self, viewer: Seat | None) -> ViewEntry:
        assert self.public is not None, "only a new entry is brought"
        part = self.parts.get(viewer) if viewer is not None else None
        return join_view(self.number, self.public, part, self.head)


def read_ring(data: bytes) -> Ring | None:
    """A ring as append_entry.lua and reject_command.lua write it; None for what isn't one."""
    line, _, body = data.partition(b"\n")
    told = _RING.fullmatch(line)
    if told is None:
        return None
    game, number = told[1].decode(), int(told[2])
    if told[3] is None:
        return Ring(game, number)
    parts = [(int(seat), int(size)) for seat, size in (part.split(b":") for part in told[6].split())]
    sizes = (*map(int, told.group(3, 4, 5)), *(size for _, size in parts))
    ends = [*accumulate(sizes, initial=0)]
    if ends[-1] != len(body):
        return None
    before, head, public, *own = [body[start:end] for start, end in pairwise(ends)]
    seats = {seat: part for (seat, _), part in zip(parts, own, strict=True)}
    return Ring(game, number, public, seats, before, head)


class AsyncLedger:
    """The gateway's side of the ledger: it submits, and reads views. It can't read a log."""

    def __init__(
        self, client: redis.asyncio.Redis, partitions: int, waiting_most: int = WAITING_MOST
    ) -> None:
        self._client: Any = client  # redis-py types replies for both of its clients at once
        self.partitions, self.waiting_most = partitions, waiting_most
        self._confirming: dict[tuple[str, Level], Confirming] = {}
        self._bags: dict[str, Bag] = {}  # one for each node: a node that is away holds up no other's

    async def submit(self, letter: Letter) -> None:
        """Put a command on its way. Sending it again with the same id is harmless. Raises Full."""
        knock = channel(self._client, keys.REFEREES)
        called, told = submit_call(letter, self.partitions, self.waiting_most, knock)
        bag = await self._bag_for(letter.game)
        try:
            taken = await bag.put((called, told))
        except TryAgainError:  # the partition moves to another node: a key by itself is always somewhere
            await self._client.delete(called[1])
            taken = await bag.put((called[:1], told))
        if not taken:
            raise Full(f"{self.waiting_most} letters wait in the partition of game {letter.game}")

    async def answer(self, game: str, speaker: Seat | None, command_id: str) -> Answer | None:
        """What became of a command, or None while that isn't known."""
        partition = self._partition(game)
        pipe = self._client.pipeline(transaction=False)
        pipe.hget(keys.verdicts(partition, game, speaker), command_id)
        pipe.get(keys.dismissed(partition, game, speaker, command_id))
        return read_answer(*await pipe.execute())

    async def lack(self, game: str, level: Level) -> str:
        """Why the game's engine can't give this level, and what to do about it; '' where it can."""
        return await (await self._confirming_of(game, level)).lack() if level.confirmed else ""

    async def confirm(
        self, game: str, speaker: Seat | None, command_id: str, level: Level
    ) -> ViewEntry | None:
        """The verdict on a command as its speaker sees it, once it is durable or replicated; None
        where that isn't known. Raises Gap or Corrupt."""
        partition = self._partition(game)
        called = [
            keys.verdicts(partition, game, speaker),
            keys.public(partition, game),
            keys.mark(partition),
            *(() if speaker is None else (keys.seat(partition, game, speaker),)),
        ]
        return await (await self._confirming_of(game, level)).confirm(called, command_id)

    async def length(self, game: str) -> int:
        """How many entries the game has; 0 for a game that there isn't."""
        length: int = await self._client.xlen(keys.public(self._partition(game), game))
        return length

    async def seen(
        self, game: str, viewer: Seat | None, after: int, most: int = PAGE, head: bytes | None = None
    ) -> list[ViewEntry]:
        """A viewer's entries after a number; with `head`, that entry's own must be this one still.
        Raises Gap if one is missing, Corrupt if one can't be read, TakenBack."""
        (page,) = await self.seen_many([Wanted(game, after, (viewer,), head)], most)
        if not isinstance(page, Page):
            raise page
        return page.views[viewer]

    async def seen_many(self, wanted: Sequence[Wanted], most: int = PAGE) -> list[Found]:
        """The same for many games and viewers in one round trip. A game's damage is its own, and so
        is a RedisError: its part of the cluster is away, say, and nothing is known of it now."""
        pipe = self._client.pipeline(transaction=False)
        for one in wanted:
            partition, last = self._partition(one.game), f"{one.after + most}-0"
            pipe.xrange(keys.public(partition, one.game), f"{one.first}-0", last)
            for seat in one.viewers:  # after the public one, so that no part is older than its entry
                if seat is not None:
                    pipe.xrange(keys.seat(partition, one.game, seat), f"{one.after + 1}-0", last)
        replies = iter(await pipe.execute(raise_on_error=False))
        found: list[Found] = []
        for one in wanted:
            told = next(replies)  # all of a game's replies are taken before one of them can be damaged
            parts = {viewer: next(replies) if viewer is not None else () for viewer in one.viewers}
            found.append(_found(one, told, parts))
        return found

    async def latest(self, games: Sequence[str]) -> list[Latest | Corrupt | RedisError]:
        """The last entry of each of these games, in one round trip; what is wrong is each game's own."""
        pipe = self._client.pipeline(transaction=False)
        for game in games:
            pipe.xrevrange(keys.public(self._partition(game), game), count=1)
        replies = await pipe.execute(raise_on_error=False) if games else []
        return [_latest(game, reply) for game, reply in zip(games, replies, strict=True)]

    async def bells(self) -> AsyncIterator[Ring]:
        """Every ring of every game. One may be lost: it is only a doorbell. What isn't a ring is passed
        over, with one line in the log: whoever publishes such a thing may do so often."""
        if isinstance(self._client, AsyncCluster):
            await self._client.initialize()  # else it knows no node
        async with self._client.pubsub(ignore_subscribe_messages=True) as pubsub:
            await pubsub.psubscribe(keys.EVERY_BELL)
            told = False
            async for message in pubsub.listen():
                if (ring := read_ring(message["data"])) is not None:
                    yield ring
                elif not told:
                    told = True
                    log.warning("a bell that is no ring", channel=str(message["channel"]))

    async def games(self, most: int = 100) -> list[str]:
        """The games that the engine holds, the latest first."""
        pipe = self._client.pipeline(transaction=False)
        for partition in range(self.partitions):
            pipe.zrevrange(keys.games(partition), 0, most - 1, withscores=True)
        found = [pair for part in await pipe.execute() for pair in part]
        return [game.decode() for game, _ in sorted(found, key=lambda pair: -pair[1])[:most]]

    def disputes(self) -> AsyncDisputes:
        """Disputed moves, on the same connection."""
        return AsyncDisputes(self._client, self.partitions)

    async def ping(self) -> None:
        await self._client.ping()

    async def close(self) -> None:
        for bag in self._bags.values():
            await bag.close()
        for confirming in self._confirming.values():
            await confirming.close()
        await self._client.aclose()

    def _partition(self, game: str) -> int:
        return keys.partition_of(game, self.partitions)

    async def _bag_for(self, game: str) -> Bag:
        node = await node_of(self._client, keys.commands(self._partition(game)))
        if node.name not in self._bags:
            self._bags[node.name] = Bag(self._submit_all)
        return self._bags[node.name]

    async def _submit_all(self, calls: Sequence[Call]) -> Sequence[Any]:
        """Run submit_command.lua for each; what it replied, or why it didn't."""
        return await attempt_async(self._client, SUBMIT, calls)

    async def _confirming_of(self, game: str, level: Level) -> Confirming:
        node = await node_of(self._client, keys.mark(self._partition(game)))
        if (node.name, level) not in self._confirming:
            self._confirming[node.name, level] = Confirming(node, level)
        return self._confirming[node.name, level]


def _found(wanted: Wanted, told: Any, parts: Mapping[Seat | None, Any]) -> Found:
    """What a game's replies come to. One that is an error makes the whole game's answer that: a view
    without a seat's part would be another view."""
    try:
        for reply in (told, *parts.values()):
            of_game(wanted.game, reply)
        return _page(wanted, told, parts)
    except (Gap, Corrupt, TakenBack, RedisError) as trouble:
        return trouble


def _latest(game: str, reply: Any) -> Latest | Corrupt | RedisError:
    try:
        found = headed(of_game(game, reply))
    except (Corrupt, RedisError) as trouble:
        return trouble
    return Latest(found[-1][0], found[-1][2]) if found else Latest(0, b"")


def _page(wanted: Wanted, told: Any, parts: Mapping[Seat | None, Any]) -> Page:
    """What the streams' replies come to. Raises Gap, Corrupt or TakenBack."""
    found = headed(told)
    public: Sequence[Headed] = found
    before = wanted.head or b""
    if wanted.first == wanted.after:
        public = unchanged(wanted.after, before, found)
        before = found[0][2]
    views = {viewer: joined(wanted.after, public, numbered(own)) for viewer, own in parts.items()}
    return Page(views, found[-1][2] if found else b"", before)
