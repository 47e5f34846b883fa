"""The indexes over games: their list, when each needs the referee or leaves, which have a file, and which are archived.

`RedisGameFiles` implements `ports.DeadlineIndex`, `ports.EvictionIndex` and `ports.StreamRemovalIndex`. An auditor
stores a file beside the game's streams, and sets when those may go; a referee removes them. From then on the game is
its file, and the names beside it.

An archive's mark lies beside the game's own keys, and leaves with them. Where an archive is set, a referee keeps
a finished game until all of it is marked; the archive job marks games, and sets how much longer they
stay.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from heapq import merge
from itertools import islice
from typing import Final, NamedTuple

from redis.exceptions import RedisError

from schemas.errors import CorruptDataError
from services.ledger.engine import keys
from services.ledger.engine.cluster_pipeline import available_replies
from services.ledger.engine.partitions import MistypedKeyLog, PartitionScanner, is_mistyped
from services.ledger.engine.queries import (
    Client,
    Query,
    QueryClient,
    RedisCommand,
    blocking,
    command,
    require_game_reply,
    require_reply,
)
from services.ledger.log.views import parse_names
from services.ledger.ports import GameLog, MissingEntryError, NodeAwayError, StoredGame
from services.ledger.queues.consumer_groups import RedisRole
from services.ledger.scripts.lua_scripts import EVICT_GAME, REMOVE_STREAMS, ScriptCall, run_script
from services.ledger.scripts.stored_entries import parse_head, parse_stored, require_contiguous, with_heads
from services.runtime.logging_setup import get_logger

LEAST_CHUNK: Final = 4  # games that are read of each set at first: a page has one of each, or less
CHUNK_GROWTH: Final = 4


class GamePlace(NamedTuple):
    """Where a game stands in the list, for as long as it is in it: the latest created come first, those of one
    millisecond by the set that they are in, and there by their ids backwards."""

    at_ms: int
    set_index: int
    game: str

    def order(self) -> tuple[int, int]:
        """By which sets are merged, each of which is in order."""
        return -self.at_ms, self.set_index


class GameIds(NamedTuple):
    """Games, the latest first, without those of the partitions that can't be read, each with the error. `next_after` is
    the last one's place, where more follow."""

    games: list[str]
    unread: Mapping[int, RedisError]
    next_after: GamePlace | None = None


def list_games(
    partitions: int,
    limit: int,
    mistyped: MistypedKeyLog,
    *,
    listed_only: bool,
    after: GamePlace | None = None,
) -> Query[GameIds]:
    """The games that the engine holds, after a place: all of them, or those that are public. It takes a chunk of each set,
    and more of those that had no more than their chunk has. Raises RedisError where no node answers."""
    sets_of_games = (keys.games,) if listed_only else (keys.games, keys.unlisted_games)
    names = [key_of(partition) for key_of in sets_of_games for partition in range(partitions)]
    found, unread = dict[int, list[GamePlace]](), dict[int, RedisError]()
    wanted, chunk = list(range(len(names))), max(LEAST_CHUNK, limit // len(names))
    page = list[GamePlace]()
    while wanted:
        replies = yield [_range_command(names[index], index, after, chunk) for index in wanted]
        if len(wanted) == len(names) and all(isinstance(reply, NodeAwayError) for reply in replies):
            raise replies[0]
        usable = available_replies(mistyped.leave_out([names[index] for index in wanted], replies))
        may_have_more = list[int]()
        for index, reply, pairs in zip(wanted, replies, usable, strict=True):
            if is_mistyped(reply) or isinstance(reply, NodeAwayError):
                unread[index % partitions] = reply
                continue
            places = [GamePlace(int(score), index, game.decode()) for game, score in pairs]
            found[index] = [place for place in places if after is None or _follows(place, after)]
            if len(places) == chunk:
                may_have_more.append(index)
        page = list(islice(merge(*found.values(), key=GamePlace.order), limit + 1))
        is_in_page = set(page)
        wanted = [index for index in may_have_more if not found[index] or found[index][-1] in is_in_page]
        chunk *= CHUNK_GROWTH
    games = [place.game for place in page[:limit]]
    return GameIds(games, unread, page[limit - 1] if len(page) > limit else None)


def _range_command(name: str, index: int, after: GamePlace | None, chunk: int) -> RedisCommand:
    """The command that reads a chunk of a set: those before it have nothing more of the place's millisecond."""
    highest = "+inf" if after is None else after.at_ms if index >= after.set_index else f"({after.at_ms}"
    return command(
        *("ZREVRANGEBYSCORE", name, highest, "-inf", "WITHSCORES", "LIMIT", 0, chunk),
        withscores=True,
        score_cast_func=float,
    )


def _follows(place: GamePlace, after: GamePlace) -> bool:
    """Whether a game of the set that was asked for it comes after a place."""
    if place.order() != after.order():
        return place.order() > after.order()
    return place.game < after.game


class IdleGame(NamedTuple):
    """A game that isn't being played: it is over, or was never started."""

    game: str
    length: int  # of its log; 0 where it has its file alone
    archived_length: int  # entries of it that the archive has
    has_file: bool = False  # beside its log, or alone


class ArchiveIndex(QueryClient):
    """Reads and writes the marks."""

    def __init__(self, client: Client, partitions: int) -> None:
        super().__init__(client, partitions)
        self._scanner = PartitionScanner(client, partitions, keys.evictions)

    def archived_length(self, game: str) -> int:
        """How many entries of a game the archive has; 0 for none. Raises CorruptDataError."""
        pipe = self._client.pipeline(transaction=False)
        pipe.zscore(keys.archived_lengths(self._partition(game)), game)
        return int(require_game_reply(game, pipe.execute(raise_on_error=False)[0]) or 0)

    def mark_archived(self, game: str, length: int, evict_at_ms: int) -> None:
        """Note that the archive has so many entries of this game, which may leave the engine at that
        time, by the wall clock, or earlier if it might before."""
        partition = self._partition(game)
        pipe = self._client.pipeline(transaction=False)
        pipe.zadd(keys.archived_lengths(partition), {game: length})
        pipe.zadd(keys.evictions(partition), {game: evict_at_ms}, xx=True, lt=True)
        pipe.execute()

    def read_heads(self, game: str, count: int) -> list[bytes]:
        """The chain head after each of a game's first `count` entries. Raises MissingEntryError or CorruptDataError."""
        pipe = self._client.pipeline(transaction=False)
        pipe.get(keys.chain_head(self._partition(game), game))
        pipe.xrange(keys.public_view(self._partition(game), game), "1-0", f"{count}-0")
        head_reply, entries_reply = pipe.execute(raise_on_error=False)
        end, end_head = parse_head(require_game_reply(game, head_reply)) or (0, b"")
        stored = parse_stored(require_game_reply(game, entries_reply))
        entries = [
            (entry.number, entry.public, entry.head or (end_head if entry.number == end else b""))
            for entry in stored
        ]
        require_contiguous(f"public view of {game}", 0, entries)
        if len(entries) != count:
            raise MissingEntryError(f"public view of {game}: entry {len(entries) + 1} of {count} is missing")
        return [head for _, _, head in with_heads(game, entries)]

    def next_idle_games(self) -> list[IdleGame]:
        """Some more games that nobody plays, about a page of each partition; called again and again,
        it goes round all of them. A partition that is away is skipped."""
        return self.read_idle_games(self._scanner.next_page())

    def read_idle_games(self, games: Sequence[str]) -> list[IdleGame]:
        """How far each of these games is, without those that can't be read now."""
        pipe = self._client.pipeline(transaction=False)
        for game in games:
            partition = self._partition(game)
            pipe.execute_command("XLEN", keys.log(partition, game))
            pipe.zscore(keys.archived_lengths(partition), game)
            pipe.zscore(keys.stream_removals(partition), game)
        replies = iter(pipe.execute(raise_on_error=False) if games else ())
        return [
            IdleGame(game, int(length), int(archived_length or 0), stored is not None)
            for game, length, archived_length, stored in zip(games, replies, replies, replies, strict=True)
            if not any(isinstance(reply, Exception) for reply in (length, archived_length, stored))
        ]

    def _partition(self, game: str) -> int:
        return keys.partition_of(game, self.partitions)


log = get_logger("bots")


class RedisScheduleIndex(RedisRole):
    """Deadlines by the game clock, evictions by the wall clock."""

    def due_deadlines(self, game_time_ms: int, partitions: Iterable[int]) -> list[tuple[str, int]]:
        """Games whose deadline has passed, with the deadline."""
        return self._members_up_to(keys.deadlines, game_time_ms, partitions)

    def has_deadline(self, game: str) -> bool:
        """Whether the game has a deadline, passed or not."""
        return self._client.zscore(keys.deadlines(self.partition_of(game)), game) is not None

    def set_deadline(self, game: str, deadline_ms: int | None) -> None:
        """Set a game's deadline; None removes it."""
        self._set_score(keys.deadlines(self.partition_of(game)), game, deadline_ms)

    def evictable(self, now_ms: int, partitions: Iterable[int]) -> list[str]:
        """Games that may leave by now: finished long ago, or never started."""
        return [game for game, _ in self._members_up_to(keys.evictions, now_ms, partitions)]

    def schedule_eviction(self, game: str, evict_at_ms: int | None) -> None:
        """Set when a game may leave; None for one that is being played."""
        self._set_score(keys.evictions(self.partition_of(game)), game, evict_at_ms)

    def evict(self, game: str, seats: int, length: int) -> bool:
        """Remove every key of a game whose log has this length; False if it has another."""
        call = _evict_call(game, self.partition_of(game), seats, length)
        return bool(run_script(self._client, EVICT_GAME, [call])[0])

    def _members_up_to(
        self, key_of: Callable[[int], str], max_score: int, partitions: Iterable[int]
    ) -> list[tuple[str, int]]:
        """The games with the lowest scores in these partitions' sorted sets, up to a score."""
        pipe, usable = self._client.pipeline(transaction=False), self._usable.among(partitions)
        set_keys = [key_of(partition) for partition in usable]
        for set_key in set_keys:
            pipe.zrangebyscore(set_key, "-inf", max_score, start=0, num=1000, withscores=True)
        replies = self._usable.replies(usable, pipe.execute(raise_on_error=False))
        scored_games = []
        for set_key, pairs in zip(set_keys, replies, strict=True):
            for member, score in pairs:
                try:
                    scored_games.append((member.decode(), int(max(score, 0))))
                except ValueError:
                    log.error("no game has such a name", key=set_key, name=member)
                    self._client.zrem(set_key, member)
        return scored_games

    def _set_score(self, set_key: str, member: str, score: int | None) -> None:
        if score is None:
            self._client.zrem(set_key, member)
        else:
            self._client.zadd(set_key, {member: score})


def read_stored_game(partitions: int, game: str) -> Query[StoredGame | None]:
    """What the engine has of a finished game as one value; None while it has none. Raises CorruptDataError."""
    partition = keys.partition_of(game, partitions)
    data, names_reply = yield [
        command("GET", keys.game_file(partition, game)),
        command("HGETALL", keys.player_names(partition, game)),
    ]
    if require_game_reply(game, data) is None:
        return None
    names = parse_names(game, names_reply)
    if isinstance(names, CorruptDataError):  # they stop no game
        names = {}
    return StoredGame(data, require_reply(names))


class RedisGameFiles(RedisScheduleIndex):
    """Stores files of finished games, and removes the streams that they were made of."""

    read_stored_game = blocking(read_stored_game)

    def store_game_file(self, game: str, data: bytes, removable_at_ms: int) -> None:
        """Store the file of a game. Its streams may go at that time, by the wall clock."""
        partition = self.partition_of(game)
        pipe = self._client.pipeline(transaction=False)
        pipe.set(keys.game_file(partition, game), data)
        pipe.zadd(keys.stream_removals(partition), {game: removable_at_ms})
        pipe.execute()

    def removable_streams(self, now_ms: int, partitions: Iterable[int]) -> list[str]:
        """Games whose streams may go by now: their file is there."""
        return [game for game, _ in self._members_up_to(keys.stream_removals, now_ms, partitions)]

    def schedule_removal(self, game: str, at_ms: int | None) -> None:
        """Set when the streams of a game may go; None keeps them until an auditor stores the file anew."""
        self._set_score(keys.stream_removals(self.partition_of(game)), game, at_ms)

    def remove_streams(self, game: str, seats: int, game_log: GameLog, data: bytes) -> bool:
        """Remove the streams of a game whose file is `data`, made of this log. False, and nothing changes, where the
        log or the file isn't that any more."""
        call = _removal_call(game, self.partition_of(game), seats, game_log, data)
        return bool(run_script(self._client, REMOVE_STREAMS, [call])[0])


def _evict_call(game: str, partition: int, seats: int, length: int) -> ScriptCall:
    """The keys and arguments of evict_game.lua."""
    script_keys = [
        keys.log(partition, game),
        keys.deadlines(partition),
        keys.games(partition),
        keys.evictions(partition),
        keys.unlisted_games(partition),
        keys.archived_lengths(partition),
        keys.stream_removals(partition),
        keys.webhook_games(partition),
        keys.player_names(partition, game),
        keys.webhooks(partition, game),
        keys.creator(partition, game),
        keys.late_bots(partition, game),
        keys.game_file(partition, game),
        *_stream_keys(game, partition, seats),
    ]
    return script_keys, [game, length]


def _removal_call(game: str, partition: int, seats: int, game_log: GameLog, data: bytes) -> ScriptCall:
    """The keys and arguments of remove_streams.lua: `data` is the game's file, made of this log."""
    script_keys = [
        keys.log(partition, game),
        keys.public_view(partition, game),
        keys.game_file(partition, game),
        keys.stream_removals(partition),
        *_stream_keys(game, partition, seats),
    ]
    return script_keys, [game, len(game_log.entries), game_log.head, data]


def _stream_keys(game: str, partition: int, seats: int) -> list[str]:
    """What a game of so many seats has besides its log while it has streams: its view, and results of commands."""
    return [
        keys.chain_head(partition, game),
        keys.public_view(partition, game),
        keys.command_results(partition, game, None),
        *(keys.command_results(partition, game, seat) for seat in range(seats)),
    ]
