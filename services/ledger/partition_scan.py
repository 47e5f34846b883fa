"""Sorted sets of which every partition has one: gone round a page at a time, and asked about games."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, Final

from services.ledger import keys
from services.ledger.cluster_pipeline import present

PAGE: Final = 100


class Circuit:
    """Goes round the members of such sets. A member that stays is met in every round."""

    def __init__(self, client: Any, partitions: int, kind: Callable[[int], str]) -> None:
        self._client, self._places = client, [kind(partition) for partition in range(partitions)]
        self._cursors = [0] * partitions

    def more(self) -> list[str]:
        """Some more members, about a page of each partition. A partition that is away is passed over."""
        pipe = self._client.pipeline(transaction=False)
        for place, cursor in zip(self._places, self._cursors, strict=True):
            pipe.zscan(place, cursor, count=PAGE)
        members: list[str] = []
        for partition, reply in enumerate(present(pipe.execute(raise_on_error=False))):
            if reply:
                self._cursors[partition] = int(reply[0])
                members += [member.decode(errors="replace") for member, _ in reply[1]]
        return members


def lengths_and_scores(
    client: Any, partitions: int, games: Sequence[str], kind: Callable[[int], str]
) -> list[tuple[int, float | None] | None]:
    """How long each of these games' logs is, and its score in such a set; None where that isn't known now."""
    pipe = client.pipeline(transaction=False)
    for game in games:
        partition = keys.partition_of(game, partitions)
        pipe.execute_command("XLEN", keys.log(partition, game))
        pipe.zscore(kind(partition), game)
    replies = iter(pipe.execute(raise_on_error=False) if games else ())
    return [
        None if isinstance(length, Exception) or isinstance(score, Exception) else (int(length), score)
        for _, length, score in zip(games, replies, replies, strict=True)
    ]
