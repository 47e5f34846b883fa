"""The files of finished games in the engine: one value each, from which logs and views follow (docs/archive.md).

An auditor stores a file beside the game's streams, and sets when those may go; a referee removes them. From then
on the game is its file, and the names beside it. Implements `ports.StreamRemovalIndex`.
"""

from __future__ import annotations

from collections.abc import Iterable

from schemas.errors import CorruptDataError
from services.ledger.engine import keys
from services.ledger.engine.queries import Query, command, require_reply, run
from services.ledger.log.schedule_index import RedisScheduleIndex
from services.ledger.ports.records import GameLog, StoredGame
from services.ledger.scripts.lua_scripts import REMOVE_STREAMS, run_script
from services.ledger.scripts.player_names import parse_names
from services.ledger.scripts.replies import require_game_reply
from services.ledger.scripts.script_calls import build_removal_call


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
