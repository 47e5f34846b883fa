"""What a gateway asks of the ledger, without blocking its event loop."""

from __future__ import annotations

from collections.abc import AsyncIterator, Mapping, Sequence
from typing import Any, NamedTuple

import redis.asyncio
from redis.exceptions import NoScriptError, TryAgainError

from schemas import keys
from schemas.codec import Corrupt, join_view
from schemas.commands import Letter
from schemas.views import ViewEntry
from schemas.words import Seat
from services.ledger.async_cluster import AsyncCluster
from services.ledger.confirming import Confirming, node_of
from services.ledger.joining import joined
from services.ledger.knocks import channel
from services.ledger.levels import Level
from services.ledger.port import WAITING_MOST, Answer, Full, Gap
from services.ledger.redis_ledger import numbered, read_answer, submit_call
from services.ledger.scripts import SUBMIT, Script

PAGE: int = 500


class Wanted(NamedTuple):
    """Which viewers want a game's entries after a number."""

    game: str
    after: int
    viewers: Sequence[Seat | None]


class Ring(NamedTuple):
    """A bell: something happened in a game. Where that is a new entry, the bell brings it."""

    game: str
    number: int  # of the entry; 0 for a command that was answered without one
    public: bytes | None = None
    parts: Mapping[Seat, bytes] = {}
    before: bytes = b""  # the public entry that it follows; empty for the first

    def entry_for(self, viewer: Seat | None) -> ViewEntry:
        assert self.public is not None, "only a new entry is brought"
        return join_view(self.number, self.public, self.parts.get(viewer) if viewer is not None else None)


def read_ring(data: bytes) -> Ring:
    """A ring as append.lua and dismiss.lua write it."""
    head, _, body = data.partition(b"\n")
    game, number, *told = head.decode().split(" ")
    if not told:
        return Ring(game, int(number))
    first, second, *sizes = told
    start = int(first)
    end = start + int(second)
    public, parts = body[start:end], {}
    for size in sizes:
        seat, length = (int(figure) for figure in size.split(":"))
        parts[seat] = body[end : end + length]
        end += length
    return Ring(game, int(number), public, parts, body[:start])


class AsyncLedger:
    """The gateway's side of the ledger: it submits, and reads views. It can't read a log."""

    def __init__(
        self, client: redis.asyncio.Redis, partitions: int, waiting_most: int = WAITING_MOST
    ) -> None:
        self._client: Any = client  # redis-py types replies for both of its clients at once
        self.partitions, self.waiting_most = partitions, waiting_most
        self._confirming: dict[tuple[str, Level], Confirming] = {}

    async def submit(self, letter: Letter) -> None:
        """Put a command on its way. Sending it again with the same id is harmless. Raises Full."""
        knock = channel(self._client, keys.REFEREES)
        called, told = submit_call(letter, self.partitions, self.waiting_most, knock)
        try:
            taken = await self._run(SUBMIT, called, told)
        except TryAgainError:  # the partition moves to another node: a key by itself is always somewhere
            await self._client.delete(called[1])
            taken = await self._run(SUBMIT, called[:1], told)
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

    async def seen(self, game: str, viewer: Seat | None, after: int, most: int = PAGE) -> list[ViewEntry]:
        """A viewer's entries after a number. Raises Gap if one is missing, Corrupt if one can't be read."""
        (views,) = await self.seen_many([Wanted(game, after, (viewer,))], most)
        if isinstance(views, Gap | Corrupt):
            raise views
        return views[viewer]

    async def seen_many(
        self, wanted: Sequence[Wanted], most: int = PAGE
    ) -> list[Mapping[Seat | None, list[ViewEntry]] | Gap | Corrupt]:
        """The same for many games and viewers in one round trip; a game's damage is its own."""
        pipe = self._client.pipeline(transaction=False)
        for game, after, viewers in wanted:
            partition, first, last = self._partition(game), f"{after + 1}-0", f"{after + most}-0"
            pipe.xrange(keys.public(partition, game), first, last)
            for seat in viewers:  # after the public one, so that no part is older than its entry
                if seat is not None:
                    pipe.xrange(keys.seat(partition, game, seat), first, last)
        replies = iter(await pipe.execute())
        views: list[Mapping[Seat | None, list[ViewEntry]] | Gap | Corrupt] = []
        for game, after, viewers in wanted:
            told = next(replies)  # all of a game's replies are taken before one of them can be damaged
            parts = {viewer: next(replies) if viewer is not None else () for viewer in viewers}
            try:
                public = numbered(told)
                views.append({viewer: joined(after, public, numbered(own)) for viewer, own in parts.items()})
            except (Gap, Corrupt) as damage:
                views.append(damage)
            except KeyError as field:
                views.append(Corrupt(f"an entry of {game}'s view has no field {field}"))
        return views

    async def bells(self) -> AsyncIterator[Ring]:
        """Every ring of every game. One may be lost: it is only a doorbell."""
        if isinstance(self._client, AsyncCluster):
            await self._client.initialize()  # else it knows no node
        async with self._client.pubsub(ignore_subscribe_messages=True) as pubsub:
            await pubsub.psubscribe(keys.EVERY_BELL)
            async for message in pubsub.listen():
                yield read_ring(message["data"])

    async def games(self, most: int = 100) -> list[str]:
        """The games that the engine holds, the latest first."""
        pipe = self._client.pipeline(transaction=False)
        for partition in range(self.partitions):
            pipe.zrevrange(keys.games(partition), 0, most - 1, withscores=True)
        found = [pair for part in await pipe.execute() for pair in part]
        return [game.decode() for game, _ in sorted(found, key=lambda pair: -pair[1])[:most]]

    async def ping(self) -> None:
        await self._client.ping()

    async def close(self) -> None:
        for confirming in self._confirming.values():
            await confirming.close()
        await self._client.aclose()

    async def _run(self, script: Script, called: Sequence[str], told: Sequence[Any]) -> Any:
        told = (len(called), *called, *told)
        try:
            return await self._one("EVALSHA", script.sha, *told)
        except NoScriptError:  # the engine forgot the script; it ran nothing
            return await self._one("EVAL", script.text, *told)

    async def _one(self, *command: Any) -> Any:
        pipe = self._client.pipeline(transaction=False)
        pipe.execute_command(*command)
        return (await pipe.execute())[0]

    def _partition(self, game: str) -> int:
        return keys.partition_of(game, self.partitions)

    async def _confirming_of(self, game: str, level: Level) -> Confirming:
        node = await node_of(self._client, keys.mark(self._partition(game)))
        if (node.name, level) not in self._confirming:
            self._confirming[node.name, level] = Confirming(node, level)
        return self._confirming[node.name, level]
