"""The names of a game's players, beside its log: what was erased here is shown to nobody any more.

A hash by commitment; each value is the salt and the name. append_entry.lua writes the names that an entry commits to,
with that entry. See `queries`.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence

from redis.exceptions import RedisError

from schemas.errors import CorruptDataError
from schemas.stored.player_names import SALT_BYTES, SaltedName, SaltedNames, by_commitment
from services.ledger.engine import keys
from services.ledger.engine.queries import Query, Reply, command, require_game_reply, require_reply


def try_read_names(
    partitions: int, games: Sequence[str]
) -> Query[dict[str, SaltedNames | CorruptDataError | RedisError]]:
    """The names of each of these games, or what is wrong with the game. What isn't as it was written stands for no
    name."""
    if not games:
        return {}
    replies = yield [
        command("HGETALL", keys.player_names(keys.partition_of(game, partitions), game)) for game in games
    ]
    return {game: parse_names(game, reply) for game, reply in zip(games, replies, strict=True)}


def read_names(partitions: int, game: str) -> Query[SaltedNames]:
    """The names of one game. Raises CorruptDataError: the key isn't one of ours."""
    [names] = (yield from try_read_names(partitions, [game])).values()
    if isinstance(names, Exception):
        raise names
    return names


def erase_names(partitions: int, game: str, commitments: Collection[str]) -> Query[int]:
    """Erase names; returns how many there were."""
    if not commitments:
        return 0
    key = keys.player_names(keys.partition_of(game, partitions), game)
    [reply] = yield [command("HDEL", key, *(bytes.fromhex(commitment) for commitment in commitments))]
    return int(require_reply(reply))


def parse_names(game: str, reply: Reply) -> SaltedNames | CorruptDataError | RedisError:
    """The names in a reply with all fields of the hash, or what is wrong with it."""
    try:
        fields: Mapping[bytes, bytes] = require_game_reply(game, reply)
    except (CorruptDataError, RedisError) as error:
        return error
    names = by_commitment(
        [
            SaltedName(value[:SALT_BYTES], value[SALT_BYTES:].decode(errors="replace"))
            for value in fields.values()
        ]
    )
    return {commitment: salted for commitment, salted in names.items() if bytes.fromhex(commitment) in fields}
