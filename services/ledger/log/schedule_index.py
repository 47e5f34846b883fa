"""Sorted sets of games by time: implements `ports.DeadlineIndex` and `ports.EvictionIndex`."""

from __future__ import annotations

from collections.abc import Callable, Iterable

from services.ledger.consumers.redis_roles import RedisRole
from services.ledger.engine import keys
from services.ledger.scripts.lua_scripts import EVICT_GAME, run_script
from services.ledger.scripts.script_calls import build_evict_call
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
