"""Who shares the bots' time to think, and which tables get less of it than they could use.

A gateway records who created a game, and bots workers, which share their processes by that, whose bots wait.
"""

from __future__ import annotations

from collections.abc import Collection, Sequence
from typing import Final

from schemas.web.tokens import DAY_S
from services.ledger.engine import keys
from services.ledger.engine.queries import Query, command, require_reply

CREATOR_S: Final = 30 * DAY_S  # then a game's bots share with those of all games whose creators aren't known
LATE_S: Final = 60


def record_creator(partitions: int, game: str, creator: str) -> Query[None]:
    """Record who created a game."""
    key = keys.creator(keys.partition_of(game, partitions), game)
    [reply] = yield [command("SET", key, creator, "EX", CREATOR_S)]
    require_reply(reply)


def read_creators(partitions: int, games: Sequence[str]) -> Query[list[str]]:
    """The creator of each game; the same, empty word for all whose creator can't be known."""
    replies = yield [
        command("GET", keys.creator(keys.partition_of(game, partitions), game)) for game in games
    ]
    return [reply.decode() if isinstance(reply, bytes) else "" for reply in replies]


def record_late_bots(partitions: int, games: Collection[str]) -> Query[None]:
    """Record for a minute that bots of these games wait, where the nodes that have them answer."""
    yield [
        command("SET", keys.late_bots(keys.partition_of(game, partitions), game), "1", "EX", LATE_S)
        for game in games
    ]


def has_late_bots(partitions: int, game: str) -> Query[bool]:
    """Whether bots of a game had to wait within the last minute."""
    [reply] = yield [command("GET", keys.late_bots(keys.partition_of(game, partitions), game))]
    return bool(require_reply(reply))
