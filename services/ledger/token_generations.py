"""How often the tokens of a seat were withdrawn: a token of an earlier generation opens nothing any more.

The record lies beside its game's own keys, and outlives them: the archive has the game, and a token that was
withdrawn must not open it there. It leaves when no token of an earlier generation can be valid any more.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Final

from schemas.field_types import Seat
from schemas.tokens import DAY_S, HOST
from services.ledger import keys
from services.ledger.queries import Query, RedisCommand, Reply, command, require_reply

KEPT_S: Final = 400 * DAY_S  # longer than any token lives

Generations = Mapping[Seat | None, int]  # of a game's holders (None: the host); 0 for those that it lacks


def read_generations(partitions: int, game: str) -> Query[Generations]:
    """The generations of a game's holders."""
    [reply] = yield [_ask(partitions, game)]
    return _parse(require_reply(reply))


def read_many(partitions: int, games: Sequence[str]) -> Query[dict[str, Generations]]:
    """The same of many games, without those that can't be read."""
    replies = yield [_ask(partitions, game) for game in games]
    return {
        game: _parse(reply)
        for game, reply in zip(games, replies, strict=True)
        if not isinstance(reply, Exception)
    }


def _ask(partitions: int, game: str) -> RedisCommand:
    return command("HGETALL", keys.token_generations(keys.partition_of(game, partitions), game))


def _parse(reply: Reply) -> Generations:
    stored: Mapping[bytes, bytes] = reply or {}
    return {_read_holder(field.decode()): int(count) for field, count in stored.items()}


def withdraw(partitions: int, game: str, seat: Seat | None) -> Query[int]:
    """Begin the next generation of a holder's tokens, and return it."""
    key = keys.token_generations(keys.partition_of(game, partitions), game)
    replies = yield [
        command("HINCRBY", key, HOST if seat is None else seat, 1),
        command("EXPIRE", key, KEPT_S),
    ]
    generation, _ = map(require_reply, replies)
    return int(generation)


def _read_holder(field: str) -> Seat | None:
    return None if field == HOST else int(field)
