"""A digest of what a command asks for, by which an id that is sent again with another command is noticed."""

from __future__ import annotations

from dataclasses import replace
from functools import lru_cache
from hashlib import blake2b
from typing import Final

from schemas.commands import FIELDS, Command, CreateGame, TakeSeat, write_command
from schemas.stored.rows import pack

DIGEST_BYTES: Final = 6  # a collision would only hide a sender's own mistake
_PLAIN: Final = frozenset((str, int, bool, type(None)))  # types of values without an order of their own


def digest_command(command: Command) -> str:
    """Twelve hex digits: the same for the same command, in whatever order its fields and cards were named.

    Names of players are left out: a digest is stored, and who guessed a name could try it (`has_same_names` compares
    them)."""
    if isinstance(command, CreateGame):  # it holds other contracts
        plans = tuple(replace(plan, name=None) for plan in command.seats)
        return _digest(_in_order(write_command(replace(command, seats=plans))))
    if isinstance(command, TakeSeat):
        command = replace(command, name="")
    values = [getattr(command, name) for name in FIELDS[command.__class__]]
    if command.sender == "player" and all(value.__class__ in _PLAIN for value in values):
        return _digest_plain(command.code, *values)
    return _digest([command.code, *map(_in_order, values)])


@lru_cache(256, typed=True)
def _digest_plain(code: int | str, *values: object) -> str:
    """Most commands of a seat are one of few, like the draw of a card."""
    return _digest([code, *values])


def _digest(content: object) -> str:
    return blake2b(pack(content), digest_size=DIGEST_BYTES).hexdigest()


def _in_order(value: object) -> object:
    """The value with the pairs of each mapping in the order of its keys."""
    if isinstance(value, dict):
        return [(key, _in_order(inner)) for key, inner in sorted(value.items())]
    if isinstance(value, list | tuple):
        return [*map(_in_order, value)]
    return value
