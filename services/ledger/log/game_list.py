"""The list of games, of all partitions that can be read. See `queries`."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import NamedTuple

from redis.exceptions import RedisError

from services.ledger.engine import keys
from services.ledger.engine.cluster_pipeline import available_replies
from services.ledger.engine.errors import NodeAwayError
from services.ledger.engine.mistyped_keys import MistypedKeyLog, is_mistyped
from services.ledger.engine.queries import Query, command


class GameIds(NamedTuple):
    """Games, the latest first, without those of the partitions that can't be read, each with the error."""

    games: list[str]
    unread: Mapping[int, RedisError]


def list_games(partitions: int, limit: int, mistyped: MistypedKeyLog, *, listed_only: bool) -> Query[GameIds]:
    """The games that the engine holds: all of them, or those that are public. Raises RedisError where no node
    answers."""
    sets_of_games = (keys.games,) if listed_only else (keys.games, keys.unlisted_games)
    names = [key_of(partition) for key_of in sets_of_games for partition in range(partitions)]
    replies = yield [
        command(
            *("ZREVRANGE", name, 0, limit - 1, "WITHSCORES"),
            withscores=True,
            score_cast_func=float,
        )
        for name in names
    ]
    unread = {
        index % partitions: reply
        for index, reply in enumerate(replies)
        if is_mistyped(reply) or isinstance(reply, NodeAwayError)
    }
    scored_games: list[tuple[bytes, float]] = [
        pair for reply in available_replies(mistyped.leave_out(names, replies)) for pair in reply
    ]
    if all(isinstance(reply, NodeAwayError) for reply in replies):
        raise replies[0]
    return GameIds(
        [game.decode() for game, _ in sorted(scored_games, key=_score, reverse=True)[:limit]], unread
    )


def _score(pair: Sequence[bytes | float]) -> float:
    return float(pair[1])
