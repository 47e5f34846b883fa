"""Which games of the engine are in the archive, and how far.

The mark lies beside the game's own keys, and leaves with them. A referee that is told so keeps a
finished game until all of it is marked; whoever puts games into the archive marks them, and says
how much longer they stay.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import redis

from services.ledger import keys
from services.ledger.partition_scan import Circuit, lengths_and_scores
from services.ledger.ports import Gap
from services.ledger.replies import headed, of_game
from services.ledger.view_merge import Headed, in_row


class Unplayed(NamedTuple):
    """A game that isn't being played: it is over, or was never started."""

    game: str
    length: int  # of its log
    archived: int  # entries of it that the archive has


class Archived:
    def __init__(self, client: redis.Redis, partitions: int) -> None:
        self._client: Any = client  # redis-py types replies for both of its clients at once
        self.partitions = partitions
        self._circuit = Circuit(client, partitions, keys.over)

    def length(self, game: str) -> int:
        """How many entries of a game the archive has; 0 for none."""
        return int(self._client.zscore(keys.archived(self._partition(game)), game) or 0)

    def mark(self, game: str, length: int, leaves: int) -> None:
        """The archive has so many entries of this game, which may leave the engine at that time, by the
        wall clock, or as soon as it might before."""
        partition = self._partition(game)
        pipe = self._client.pipeline(transaction=False)
        pipe.zadd(keys.archived(partition), {game: length})
        pipe.zadd(keys.over(partition), {game: leaves}, xx=True, lt=True)
        pipe.execute()

    def public(self, game: str, number: int) -> list[Headed]:
        """A game's first public entries, so many, as they are stored, each with the head that was told
        after it. Raises Gap or Corrupt."""
        pipe = self._client.pipeline(transaction=False)
        pipe.xrange(keys.public(self._partition(game), game), "1-0", f"{number}-0")
        [reply] = pipe.execute(raise_on_error=False)
        found = headed(of_game(game, reply))
        in_row(f"public view of {game}", 0, ((place, data) for place, data, _ in found))
        if len(found) != number:
            raise Gap(f"public view of {game}: entry {len(found) + 1} of {number} is missing")
        return found

    def unplayed(self) -> list[Unplayed]:
        """Some more games that nobody plays, about a page of each partition; asked again and again,
        it goes round all of them. A partition that is away is passed over."""
        games = self._circuit.more()
        found = lengths_and_scores(self._client, self.partitions, games, keys.archived)
        return [Unplayed(game, of[0], int(of[1] or 0)) for game, of in zip(games, found, strict=True) if of]

    def _partition(self, game: str) -> int:
        return keys.partition_of(game, self.partitions)
