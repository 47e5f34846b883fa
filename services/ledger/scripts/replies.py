"""Decodes replies about one game. Pure.

Damage of one game is MissingEntryError or CorruptDataError, whatever the engine calls it: it must
not look like an engine that is away, for which everybody waits.
"""

from __future__ import annotations

from redis.exceptions import ResponseError

from schemas.errors import CorruptDataError
from schemas.stored.rows import unpack
from services.ledger.engine.queries import Reply
from services.ledger.ports.records import CommandResult


def require_game_reply(game: str, reply: Reply) -> Reply:
    """A reply about one game. Raises CorruptDataError: a key of the game holds another type; or the
    engine's own error."""
    if isinstance(reply, ResponseError) and "WRONGTYPE" in str(reply):
        raise CorruptDataError(f"a key of {game} is of another kind")
    if isinstance(reply, Exception):
        raise reply
    return reply


def parse_result(verdict: bytes | None, rejection: bytes | None) -> CommandResult | None:
    """The result of a command, from its verdict (its entry's number and the command's digest) and its
    packed rejection."""
    if verdict is not None:
        sequence, _, digest = verdict.partition(b" ")
        return CommandResult(int(sequence), command_digest=digest.decode())
    if rejection is not None:
        rule, reason = unpack(rejection)
        return CommandResult(0, rule, reason)
    return None
