"""The ids of commands: a client sends one as its Idempotency-Key, and the log holds it, or an HMAC of it.

A join that is sent again with its key is answered with the seat's token, and many see a log: in files, audits
and answers to disputes. So of a system command (create, join, fork, start) the log holds an HMAC of the key,
made with the token key, which opens nothing. A seat's own commands keep their ids: those open nothing without
the seat's token, and its client finds its verdicts by them.
"""

from __future__ import annotations

import hmac
import secrets
from hashlib import sha256
from typing import Final

from schemas.contract import Schema
from schemas.errors import InvalidInputError
from schemas.field_types import CommandId
from schemas.web.tokens import TokenKeys
from services.ledger.async_ledger import AsyncLedger

MIN_SECRET_ID_LENGTH: Final = 16  # an id that a new token depends on must not be guessable
LOGGED_ID_PREFIX: Final = (
    "hmac:"  # of the ids in a log; a client that sent one would be answered as its owner
)

# How the server's own ids begin: one that a client used up would stop a clock, or a play-off.
RESERVED_ID_PREFIXES: Final = ("clock:", "play-off:", LOGGED_ID_PREFIX)

_COMMAND_ID: Final[Schema[str]] = Schema(CommandId, "Idempotency-Key")


def read_command_id(id_: str | None) -> str:
    """The id of a seat's command, or a new one. Raises InvalidInputError."""
    return secrets.token_hex(12) if id_ is None else _COMMAND_ID.read(id_)


def read_system_command_id(id_: str | None) -> str:
    """The id of a system command, or a new one; it can't be one of the server's own. Raises
    InvalidInputError."""
    command_id = read_command_id(id_)
    if command_id.startswith(RESERVED_ID_PREFIXES):
        raise InvalidInputError(
            "Idempotency-Key", f"can't begin with {' or '.join(RESERVED_ID_PREFIXES)} here"
        )
    return command_id


def read_secret_command_id(id_: str | None) -> str:
    """The id of a system command that is answered with a token: it must be long. Raises InvalidInputError."""
    command_id = read_system_command_id(id_)
    if len(command_id) < MIN_SECRET_ID_LENGTH:
        raise InvalidInputError(
            "Idempotency-Key", f"needs {MIN_SECRET_ID_LENGTH} characters here, chosen at random"
        )
    return command_id


class LoggedIds:
    """The ids under which the log holds system commands, and the ids of the games that they create."""

    def __init__(self, ledger: AsyncLedger, token_keys: TokenKeys) -> None:
        self._ledger, (self._key, *self._other_keys) = ledger, token_keys.keys

    def derive_game_id(self, command_id: str) -> str:
        """The id of the game that a command creates: 12 hex digits that only the server can compute."""
        return _derive_game_id(self._key, command_id)

    def derive_other_game_ids(self, command_id: str) -> list[str]:
        """The ids that each key gives that doesn't sign (any more, or yet)."""
        return [_derive_game_id(key, command_id) for key in self._other_keys]

    def derive_creator(self, identity: object) -> str:
        """A digest of whoever creates games, which only the server can compute: addresses are stored nowhere."""
        return hmac.new(self._key, f"creator {identity}".encode(), sha256).hexdigest()[:16]

    async def find(self, game: str, command_id: str) -> str:
        """The id under which the log has this command's verdict, or will have it.

        A verdict may stand under an id that was derived with another key; or under the client's own, in logs of
        before these ids were derived."""
        others = [command_id, *(_derive_logged_id(key, game, command_id) for key in self._other_keys)]
        for id_ in others:
            result = await self._ledger.read_result(game, None, id_)
            if result is not None and result.sequence:
                return id_
        return _derive_logged_id(self._key, game, command_id)


def _derive_game_id(key: bytes, command_id: str) -> str:
    return hmac.new(key, b"game" + command_id.encode(), sha256).hexdigest()[:12]


def _derive_logged_id(key: bytes, game: str, command_id: str) -> str:
    message = f"ledgerline/command-id/1 {game} {command_id}".encode()
    return LOGGED_ID_PREFIX + hmac.new(key, message, sha256).hexdigest()[:32]
