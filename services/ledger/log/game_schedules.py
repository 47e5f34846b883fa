"""When games need the referee and when they leave, and the files that finished ones leave as (docs/archive.md).

Implements `ports.DeadlineIndex`, `ports.EvictionIndex` and `ports.StreamRemovalIndex`. An auditor stores a file beside the
game's streams, and sets when those may go; a referee removes them. From then on the game is its file, and the names beside it.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable

from schemas.errors import CorruptDataError
from services.ledger.engine import keys
from services.ledger.engine.queries import Query, command, require_game_reply, require_reply
from services.ledger.engine.round_trips import run
from services.ledger.log.player_names import parse_names
from services.ledger.ports.records import GameLog, StoredGame
from services.ledger.queues.redis_roles import RedisRole
from services.ledger.scripts.lua_scripts import EVICT_GAME, REMOVE_STREAMS, run_script
from services.ledger.scripts.script_calls import build_evict_call, build_removal_call
from services.runtime.logging_setup import get_logger

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
        call = build_evict_call(game, self.partition_of(game), seats, length)
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

    def read_stored_game(self, game: str) -> StoredGame | None:
        """The file of a finished game, with names; None where the engine has no file of it. Raises CorruptDataError."""
        return run(self._client, read_stored_game(self.partitions, game))

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
        call = build_removal_call(game, self.partition_of(game), seats, game_log, data)
        return bool(run_script(self._client, REMOVE_STREAMS, [call])[0])
