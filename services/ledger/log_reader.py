"""Logs with their heads, many in one round trip."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from schemas.hash_chain import first_head, next_head
from services.ledger import keys
from services.ledger.ports import History
from services.ledger.replies import headed, of_game, whole


def read_histories(client: Any, partitions: int, games: Sequence[str]) -> list[History | Exception]:
    """Each log and the head after its last entry, or what is wrong with it. A head that isn't there
    though there are entries (the view is damaged) is empty."""
    pipe = client.pipeline(transaction=False)
    for game in games:
        partition = keys.partition_of(game, partitions)
        pipe.xrevrange(keys.public(partition, game), count=1)
        pipe.xrange(keys.log(partition, game))
    replies = iter(pipe.execute(raise_on_error=False))
    found: list[History | Exception] = []
    for game in games:
        last, log = next(replies), next(replies)
        try:
            entries = whole(game, of_game(game, log))
            stream = keys.public(keys.partition_of(game, partitions), game)
            found.append(History(entries, _head(client, game, stream, len(entries), of_game(game, last))))
        except Exception as error:
            found.append(error)
    return found


def _head(client: Any, game: str, stream: str, length: int, last: Any) -> bytes:
    shown = headed(last)
    if shown and shown[0][0] < length:  # the log grew between the two, or its view is damaged
        shown = headed(client.xrange(stream, f"{length}-0", f"{length}-0"))
    if not shown:
        return b"" if length else first_head(game)
    return shown[0][2] or _chained(game, headed(client.xrange(stream)))


def _chained(game: str, shown: Sequence[tuple[int, bytes, bytes]]) -> bytes:
    """The head of a game whose last entry was written before there was a chain."""
    head = first_head(game)
    for number, public, _ in shown:
        head = next_head(head, number, public)
    return head
