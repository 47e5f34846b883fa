"""A digest of what a command asks for, by which an id that is sent again with another command is noticed."""

from __future__ import annotations

from hashlib import blake2b
from typing import Final

from schemas.commands import FIELDS, Command, CreateGame, write_command
from schemas.rows import pack

DIGEST_BYTES: Final = 6  # a collision would only hide a sender's own mistake


def digest_command(command: Command) -> str:
    """Twelve hex digits: the same for the same command, in whatever order its fields and cards were named."""
    if isinstance(command, CreateGame):  # it holds other contracts
        content = _in_order(write_command(command))
    else:
        content = [command.code, *(_in_order(getattr(command, name)) for name in FIELDS[type(command)])]
    return blake2b(pack(content), digest_size=DIGEST_BYTES).hexdigest()


def _in_order(value: object) -> object:
    """The value with the pairs of each mapping in the order of its keys."""
    if isinstance(value, dict):
        return [(key, _in_order(inner)) for key, inner in sorted(value.items())]
    if isinstance(value, list | tuple):
        return [*map(_in_order, value)]
    return value
