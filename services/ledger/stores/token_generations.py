"""How often the tokens of a seat were withdrawn, or the seat was freed: a token of an earlier generation opens nothing any
more.

The record lies beside its game's own keys, and outlives them: the archive has the game, and a token that was
withdrawn must not open it there. It leaves when no token of an earlier generation can be valid any more.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping
from typing import Final, NamedTuple

from schemas.field_types import Seat
from schemas.web.tokens import DAY_S, HOST
from services.ledger.engine import keys
from services.ledger.engine.queries import (
    Query,
    QueryClient,
    RedisCommand,
    Reply,
    awaited,
    command,
    require_reply,
)
from services.ledger.scripts.lua_scripts import WITHDRAW_TOKEN, call_script

KEPT_S: Final = 400 * DAY_S  # longer than any token lives

_FREED: Final = "freed:"  # before a seat: the field of how often it was freed


class Generations(NamedTuple):
    """How often tokens of a game's holders (None: the host) were withdrawn, and how often its seats were freed; 0 for those
    that these lack."""

    withdrawn: Mapping[Seat | None, int]
    freed: Mapping[Seat, int]

    def of(self, holder: Seat | None) -> int:
        """The generation of a holder's tokens that is valid."""
        return self.withdrawn.get(holder, 0) + (0 if holder is None else self.freed.get(holder, 0))


UNKNOWN: Final = Generations({}, {})  # voids nothing


def read_generations(partitions: int, game: str) -> Query[Generations]:
    """The generations of a game's holders."""
    [reply] = yield [_ask(partitions, game)]
    return _parse(require_reply(reply))


def read_many(partitions: int, games: Collection[str]) -> Query[dict[str, Generations]]:
    """The generations of many games, without those that can't be read, or of which nothing was withdrawn: nearly all, so
    each partition is asked first whether it has any of them."""
    by_partition: dict[int, list[str]] = {}
    for game in games:
        by_partition.setdefault(keys.partition_of(game, partitions), []).append(game)
    counts = yield [
        command("EXISTS", *[keys.token_generations(partition, game) for game in there])
        for partition, there in by_partition.items()
    ]
    asked = [
        game for there, count in zip(by_partition.values(), counts, strict=True) if count for game in there
    ]
    replies = (yield [_ask(partitions, game) for game in asked]) if asked else ()
    return {
        game: _parse(reply)
        for game, reply in zip(asked, replies, strict=True)
        if not isinstance(reply, Exception)
    }


def _ask(partitions: int, game: str) -> RedisCommand:
    return command("HGETALL", keys.token_generations(keys.partition_of(game, partitions), game))


def withdraw(
    partitions: int, game: str, seat: Seat | None, generation: int | None = None
) -> Query[int | None]:
    """Begin the next generation of a holder's tokens, and return it; None, and nothing changes, where those of `generation`
    are void already."""
    key = keys.token_generations(keys.partition_of(game, partitions), game)
    holder = HOST if seat is None else seat
    arguments = [holder, f"{_FREED}{holder}", "" if generation is None else generation, KEPT_S]
    [reply] = yield from call_script(WITHDRAW_TOKEN, [([key], arguments)])
    begun: int = require_reply(reply)
    return begun or None


def record_freed_seat(partitions: int, game: str, seat: Seat, times: int) -> Query[None]:
    """Record how often a seat was freed. It may be recorded again."""
    key = keys.token_generations(keys.partition_of(game, partitions), game)
    replies = yield [command("HSET", key, f"{_FREED}{seat}", times), command("EXPIRE", key, KEPT_S)]
    for reply in replies:
        require_reply(reply)


class AsyncTokenGenerations(QueryClient):
    """The generations of all games' tokens, as a gateway reads and raises them."""

    read = awaited(read_generations)
    read_many = awaited(read_many)
    withdraw = awaited(withdraw)


def _parse(reply: Reply) -> Generations:
    if not reply:
        return UNKNOWN
    stored: Mapping[bytes, bytes] = reply
    counts = {field.decode(): int(count) for field, count in stored.items()}
    freed = {int(field.removeprefix(_FREED)): n for field, n in counts.items() if field.startswith(_FREED)}
    withdrawn = {_read_holder(field): n for field, n in counts.items() if not field.startswith(_FREED)}
    return Generations(withdrawn, freed)


def _read_holder(field: str) -> Seat | None:
    return None if field == HOST else int(field)
