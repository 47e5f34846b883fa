"""Sorted sets that every partition has one of: scanned a page at a time, and read for given games."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Final

from services.ledger.engine import keys
from services.ledger.engine.cluster_pipeline import available_replies
from services.ledger.engine.mistyped_keys import MistypedKeyLog
from services.ledger.engine.queries import Client

PAGE_SIZE: Final = 100


class PartitionScanner:
    """Goes round the members of such sets. A member that stays is found in every round."""

    def __init__(self, client: Client, partitions: int, key_of: Callable[[int], str]) -> None:
        self._client, self._set_keys = client, [key_of(partition) for partition in range(partitions)]
        self._cursors = [0] * partitions
        self._mistyped = MistypedKeyLog()

    def next_page(self) -> list[str]:
        """Some more members, about a page of each partition. A partition that is away is skipped, and so is a key
        of another type."""
        pipe = self._client.pipeline(transaction=False)
        for set_key, cursor in zip(self._set_keys, self._cursors, strict=True):
            pipe.zscan(set_key, cursor, count=PAGE_SIZE)
        members: list[str] = []
        replies = self._mistyped.leave_out(self._set_keys, pipe.execute(raise_on_error=False))
        for partition, reply in enumerate(available_replies(replies)):
            if reply:
                self._cursors[partition] = int(reply[0])
                members += [member.decode(errors="replace") for member, _ in reply[1]]
        return members


def read_lengths_and_scores(
    client: Client, partitions: int, games: Sequence[str], key_of: Callable[[int], str]
) -> list[tuple[int, float | None] | None]:
    """The length of each of these games' logs and its score in such a set; None where that isn't known now."""
    pipe = client.pipeline(transaction=False)
    for game in games:
        partition = keys.partition_of(game, partitions)
        pipe.execute_command("XLEN", keys.log(partition, game))
        pipe.zscore(key_of(partition), game)
    replies = iter(pipe.execute(raise_on_error=False) if games else ())
    return [
        None if isinstance(length, Exception) or isinstance(score, Exception) else (int(length), score)
        for _, length, score in zip(games, replies, replies, strict=True)
    ]
