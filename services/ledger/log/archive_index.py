"""Which games of the engine have a file there, and which are in the archive, and how far.

The mark lies beside the game's own keys, and leaves with them. Where an archive is set, a referee keeps
a finished game until all of it is marked; the archive job marks games, and sets how much longer they
stay.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import redis

from services.ledger.engine import keys
from services.ledger.engine.partition_scan import PartitionScanner
from services.ledger.engine.queries import Client, require_game_reply
from services.ledger.ports.protocols import MissingEntryError
from services.ledger.scripts.stored_entries import PublicEntry, parse_head, parse_stored, require_contiguous


class IdleGame(NamedTuple):
    """A game that isn't being played: it is over, or was never started."""

    game: str
    length: int  # of its log; 0 where it has its file alone
    archived_length: int  # entries of it that the archive has
    has_file: bool = False  # beside its log, or alone


class ArchiveIndex:
    """Reads and writes the marks."""

    def __init__(self, client: redis.Redis, partitions: int) -> None:
        self._client: Client = client
        self.partitions = partitions
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

    def read_public(self, game: str, count: int) -> list[PublicEntry]:
        """A game's first `count` public entries, each with the head after it as far as it is stored.

        Raises MissingEntryError or CorruptDataError."""
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
        require_contiguous(f"public view of {game}", 0, ((sequence, data) for sequence, data, _ in entries))
        if len(entries) != count:
            raise MissingEntryError(f"public view of {game}: entry {len(entries) + 1} of {count} is missing")
        return entries

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
