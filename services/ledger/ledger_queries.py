"""What both ledgers ask: submitting a command, its result, the list of games. See `queries`."""

from __future__ import annotations

from collections.abc import Sequence

from redis.exceptions import TryAgainError

from schemas.commands import CommandEnvelope
from schemas.field_types import Seat
from services.ledger import keys
from services.ledger.mistyped_keys import MistypedKeyLog
from services.ledger.ports import QueueFullError
from services.ledger.queries import Query, command, require_reply
from services.ledger.records import CommandResult
from services.ledger.replies import parse_result, require_game_reply
from services.ledger.script_calls import build_submit_call
from services.ledger.scripts import SUBMIT_COMMAND, call_script


def submit_command(
    envelope: CommandEnvelope, partitions: int, max_waiting: int, wakeup_channel: str, *, ask_verdict: bool
) -> Query[CommandResult | None]:
    """Queue a command. Returns an earlier verdict on its id, if that is asked for and there is one.

    Raises QueueFullError; InvalidInputError: the envelope is too large."""
    script_keys, arguments = build_submit_call(
        envelope, partitions, max_waiting, wakeup_channel, ask_verdict=ask_verdict
    )
    [reply] = yield from call_script(SUBMIT_COMMAND, [(script_keys, arguments)])
    if isinstance(reply, TryAgainError):  # the slot is moving: a single key is always on one of its nodes
        [deleted] = yield [command("DEL", script_keys[1])]
        require_reply(deleted)
        [reply] = yield from call_script(SUBMIT_COMMAND, [(script_keys[:1], arguments)])
    if not require_reply(reply):
        raise QueueFullError(f"{max_waiting} commands wait in the partition of game {envelope.game}")
    return None if isinstance(reply, int) else parse_result(reply, None)


def read_result(
    partitions: int, game: str, sender: Seat | None, command_id: str
) -> Query[CommandResult | None]:
    """The result of a command; None while it isn't known. Raises CorruptDataError."""
    partition = keys.partition_of(game, partitions)
    replies = yield [
        command("HGET", keys.command_results(partition, game, sender), command_id),
        command("GET", keys.rejection(partition, game, sender, command_id)),
    ]
    return parse_result(*(require_game_reply(game, reply) for reply in replies))


def list_games(
    partitions: int, limit: int, mistyped: MistypedKeyLog, *, listed_only: bool
) -> Query[list[str]]:
    """The games that the engine holds, the latest first: all of them, or those that are public."""
    sets_of_games = (keys.games,) if listed_only else (keys.games, keys.unlisted_games)
    names = [key_of(partition) for key_of in sets_of_games for partition in range(partitions)]
    replies = yield [
        command(
            *("ZREVRANGE", name, 0, limit - 1, "WITHSCORES"),
            withscores=True,
            score_cast_func=float,
        )
        for name in names
    ]
    scored_games: list[tuple[bytes, float]] = [
        pair for reply in mistyped.leave_out(names, replies) for pair in require_reply(reply)
    ]
    return [game.decode() for game, _ in sorted(scored_games, key=_score, reverse=True)[:limit]]


def _score(pair: Sequence[bytes | float]) -> float:
    return float(pair[1])
