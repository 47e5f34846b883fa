"""How full the engine's memory is, and how much of it games take: what strangers' creations are measured by."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final, NamedTuple

from schemas.field_types import MAX_SEATS
from services.ledger.engine import keys
from services.ledger.engine.queries import Query, command
from services.ledger.operations.engine_settings import info_fields

FULL_SHARE: Final = 0.8  # of the memory, from which on no game is created: the rest is for moves
SEATS: Final = (None, *range(MAX_SEATS))


class EngineMemory(NamedTuple):
    """The bytes that an engine, or the node of a game, uses, and may use; 0 is no limit."""

    used: int
    most: int

    @property
    def is_nearly_full(self) -> bool:
        """Whether what is left is kept for the games that there are."""
        return self.most > 0 and self.used >= FULL_SHARE * self.most


def read_memory(partitions: int, game: str) -> Query[EngineMemory]:
    """The memory of the node that has this game, or will have it. One that doesn't show it seems to have no limit."""
    partition = keys.partition_of(game, partitions)
    _, info = yield [command("XLEN", keys.commands(partition)), command("INFO", "memory")]
    fields = info_fields(info)
    return EngineMemory(int(fields.get("used_memory", 0)), int(fields.get("maxmemory", 0)))


def read_stored_bytes(partitions: int, games: Sequence[str]) -> Query[list[int]]:
    """The bytes of the engine that each game takes: its log, view, file, names and verdicts; 0 for one that has left, or
    where the engine doesn't tell."""
    names = [_keys_of(keys.partition_of(game, partitions), game) for game in games]
    replies = iter((yield [command("MEMORY", "USAGE", key) for of_game in names for key in of_game]))
    return [sum(size for _ in of_game if isinstance(size := next(replies), int)) for of_game in names]


def _keys_of(partition: int, game: str) -> list[str]:
    results = [keys.command_results(partition, game, sender) for sender in SEATS]
    kept = (keys.log, keys.public_view, keys.game_file, keys.player_names)
    return [*(key(partition, game) for key in kept), *results]
