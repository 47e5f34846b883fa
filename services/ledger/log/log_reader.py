"""Reads logs with their heads, many in one round trip."""

from __future__ import annotations

from collections.abc import Sequence

from schemas.stored.hash_chain import initial_head
from services.ledger.engine import keys
from services.ledger.engine.queries import Client
from services.ledger.ports.records import GameLog
from services.ledger.scripts.replies import require_game_reply
from services.ledger.scripts.stored_entries import head_after, join_log, parse_stored


def read_game_logs(client: Client, partitions: int, games: Sequence[str]) -> list[GameLog | Exception]:
    """Each log and the head after its last entry, or what is wrong with it. Where there are entries
    but no head (the view is damaged), the head is empty. A game that is stored has no log here."""
    pipe = client.pipeline(transaction=False)
    for game in games:  # the log comes first: the view may have grown meanwhile
        partition = keys.partition_of(game, partitions)
        pipe.xrange(keys.log(partition, game))
        pipe.xrange(keys.public_view(partition, game))
        pipe.exists(keys.game_file(partition, game))  # last: a log that was removed before leaves no doubt
    replies = iter(pipe.execute(raise_on_error=False))
    logs: list[GameLog | Exception] = []
    for game in games:
        log_reply, view_reply, file_reply = next(replies), next(replies), next(replies)
        try:
            log_entries = require_game_reply(game, log_reply)
            if require_game_reply(game, file_reply) and not (log_entries and view_reply):
                logs.append(GameLog([], initial_head(game), is_stored=True))
                continue
            stored = parse_stored(require_game_reply(game, view_reply))
            entries = join_log(game, log_entries, stored)
            logs.append(GameLog(entries, head_after(game, len(entries), stored)))
        except Exception as error:
            logs.append(error)
    return logs


def read_entries(client: Client, partitions: int, game: str, after: int) -> list[bytes]:
    """The log's entries after a number. Raises MissingEntryError or CorruptDataError."""
    partition, first = keys.partition_of(game, partitions), f"{after + 1}-0"
    pipe = client.pipeline(transaction=False)
    pipe.xrange(keys.log(partition, game), first)
    pipe.xrange(keys.public_view(partition, game), first)
    log_reply, view_reply = pipe.execute(raise_on_error=False)
    log_entries = require_game_reply(game, log_reply)
    if all(b"e" in fields for _, fields in log_entries):  # whole: nothing of the view is needed
        return join_log(game, log_entries, (), after)
    if not view_reply and not client.exists(keys.log(partition, game)):  # the streams were removed meanwhile
        return []
    return join_log(game, log_entries, parse_stored(require_game_reply(game, view_reply)), after)
