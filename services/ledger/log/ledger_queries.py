"""What both ledgers ask: submitting commands, its result, the list of games. See `queries`."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import NamedTuple

from redis.exceptions import RedisError, TryAgainError

from schemas.commands import CommandEnvelope
from schemas.field_types import Seat
from services.ledger.engine import keys
from services.ledger.engine.cluster_pipeline import available_replies
from services.ledger.engine.mistyped_keys import MistypedKeyLog, is_mistyped
from services.ledger.engine.queries import Query, Reply, command
from services.ledger.engine.silent_nodes import NodeAwayError
from services.ledger.ports.protocols import QueueFullError
from services.ledger.ports.records import CommandResult
from services.ledger.scripts.lua_scripts import SUBMIT_COMMAND, ScriptCall, call_script
from services.ledger.scripts.replies import parse_result, require_game_reply
from services.ledger.scripts.script_calls import build_submit_call


def submit_command(
    envelope: CommandEnvelope, partitions: int, max_waiting: int, wakeup_channel: str, *, ask_verdict: bool
) -> Query[CommandResult | None]:
    """Queue a command. Returns an earlier verdict on its id, if that is asked for and there is one.

    Raises QueueFullError; InvalidInputError: the envelope is too large."""
    call = build_submit_call(envelope, partitions, max_waiting, wakeup_channel, ask_verdict=ask_verdict)
    [reply] = yield from _submit([call])
    outcome = submission_outcome(envelope, reply, max_waiting)
    if isinstance(outcome, Exception):
        raise outcome
    return outcome


def submission_outcome(
    envelope: CommandEnvelope, reply: Reply, max_waiting: int
) -> CommandResult | Exception | None:
    """What submit_command.lua's reply says: an earlier verdict, if there is one, or why the command isn't queued."""
    if reply.__class__ is int and reply:
        return None
    if error := _submission_error(envelope, reply, max_waiting):
        return error
    return parse_result(reply, None)


def submit_commands(
    envelopes: Sequence[CommandEnvelope], partitions: int, max_waiting: int, wakeup_channel: str
) -> Query[list[Exception | None]]:
    """Queue many commands in one round trip: for each, why it isn't queued, or None where it is.

    Raises InvalidInputError where one of them is too large."""
    replies = yield from _submit(
        [
            build_submit_call(envelope, partitions, max_waiting, wakeup_channel, ask_verdict=False)
            for envelope in envelopes
        ]
    )
    return [
        _submission_error(envelope, reply, max_waiting)
        for envelope, reply in zip(envelopes, replies, strict=True)
    ]


def _submit(calls: Sequence[ScriptCall]) -> Query[list[Reply]]:
    """What submit_command.lua returned for each call, where an error is a reply too."""
    replies = yield from call_script(SUBMIT_COMMAND, calls)
    # Of those whose slot is moving: a single key is always on one of its two nodes.
    if moving := [index for index, reply in enumerate(replies) if isinstance(reply, TryAgainError)]:
        deleted = yield [command("DEL", calls[index][0][1]) for index in moving]
        single_key_calls = [(calls[index][0][:1], calls[index][1]) for index in moving]
        retried = yield from call_script(SUBMIT_COMMAND, single_key_calls)
        for index, deletion, reply in zip(moving, deleted, retried, strict=True):
            replies[index] = deletion if isinstance(deletion, Exception) else reply
    return replies


def _submission_error(envelope: CommandEnvelope, reply: Reply, max_waiting: int) -> Exception | None:
    if isinstance(reply, Exception):
        return reply
    if not reply:
        return QueueFullError(f"{max_waiting} commands wait in the partition of game {envelope.game}")
    return None


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


class GameIds(NamedTuple):
    """Games, the latest first, without those of the partitions that can't be read, each with the error."""

    games: list[str]
    unread: Mapping[int, RedisError]


def list_games(partitions: int, limit: int, mistyped: MistypedKeyLog, *, listed_only: bool) -> Query[GameIds]:
    """The games that the engine holds: all of them, or those that are public. Raises RedisError where no node
    answers."""
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
    unread = {
        index % partitions: reply
        for index, reply in enumerate(replies)
        if is_mistyped(reply) or isinstance(reply, NodeAwayError)
    }
    scored_games: list[tuple[bytes, float]] = [
        pair for reply in available_replies(mistyped.leave_out(names, replies)) for pair in reply
    ]
    if all(isinstance(reply, NodeAwayError) for reply in replies):
        raise replies[0]
    return GameIds(
        [game.decode() for game, _ in sorted(scored_games, key=_score, reverse=True)[:limit]], unread
    )


def _score(pair: Sequence[bytes | float]) -> float:
    return float(pair[1])
