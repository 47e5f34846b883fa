"""Reads logs with their heads, many in one round trip."""

from __future__ import annotations

from collections.abc import Sequence

from schemas.hash_chain import initial_head, next_head
from services.ledger import keys
from services.ledger.queries import Client, Reply
from services.ledger.records import GameLog
from services.ledger.replies import parse_log, parse_public_entries, require_game_reply


def read_game_logs(client: Client, partitions: int, games: Sequence[str]) -> list[GameLog | Exception]:
    """Each log and the head after its last entry, or what is wrong with it. Where there are entries
    but no head (the view is damaged), the head is empty. A game that is filed has no log here."""
    pipe = client.pipeline(transaction=False)
    for game in games:
        partition = keys.partition_of(game, partitions)
        pipe.xrevrange(keys.public_view(partition, game), count=1)
        pipe.xrange(keys.log(partition, game))
        pipe.exists(keys.game_file(partition, game))  # last: a log that was removed before leaves no doubt
    replies = iter(pipe.execute(raise_on_error=False))
    logs: list[GameLog | Exception] = []
    for game in games:
        head_reply, log_reply, file_reply = next(replies), next(replies), next(replies)
        try:
            entries = parse_log(game, require_game_reply(game, log_reply))
            if not entries and require_game_reply(game, file_reply):
                logs.append(GameLog([], initial_head(game), is_filed=True))
                continue
            stream = keys.public_view(keys.partition_of(game, partitions), game)
            logs.append(
                GameLog(
                    entries,
                    _read_head(client, game, stream, len(entries), require_game_reply(game, head_reply)),
                )
            )
        except Exception as error:
            logs.append(error)
    return logs


def _read_head(client: Client, game: str, stream: str, length: int, head_reply: Reply) -> bytes:
    public_entries = parse_public_entries(head_reply)
    # The log grew between the two, or its view is damaged.
    if public_entries and public_entries[0][0] < length:
        public_entries = parse_public_entries(client.xrange(stream, f"{length}-0", f"{length}-0"))
    if not public_entries:
        return b"" if length else initial_head(game)
    return public_entries[0][2] or _recompute_head(game, parse_public_entries(client.xrange(stream)))


def _recompute_head(game: str, public_entries: Sequence[tuple[int, bytes, bytes]]) -> bytes:
    """The head of a game whose last entry was written before there was a hash chain."""
    head = initial_head(game)
    for sequence, public, _ in public_entries:
        head = next_head(head, sequence, public)
    return head
