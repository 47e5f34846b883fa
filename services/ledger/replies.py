"""What the engine keeps of a game, read. Pure.

A game's own damage is Gap or Corrupt, whatever the engine calls it: it must not look like an
engine that is away, for which everybody waits.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from redis.exceptions import ResponseError

from schemas.codec import Corrupt, unpack
from services.ledger.ports import Answer
from services.ledger.view_merge import Headed, Numbered, in_row


def of_game(game: str, reply: Any) -> Any:
    """A reply about one game. Raises Corrupt: a key of the game holds something else; or the
    engine's own error."""
    if isinstance(reply, ResponseError) and "WRONGTYPE" in str(reply):
        raise Corrupt(f"a key of {game} is of another kind")
    if isinstance(reply, Exception):
        raise reply
    return reply


def numbered(entries: Iterable[Any]) -> list[Numbered]:
    """Stream entries as (number, bytes): the number is the first half of the entry's id. Raises
    Corrupt: one has no field of its own name."""
    try:
        return [(int(id_.partition(b"-")[0]), fields[b"e"]) for id_, fields in entries]
    except KeyError as field:
        raise Corrupt(f"an entry has no field {field}") from None


def headed(entries: Iterable[Any]) -> list[Headed]:
    """The same of a public view, with the head after each entry; empty for one that has none, because
    it was written before there was a chain."""
    try:
        return [(int(id_.partition(b"-")[0]), fields[b"e"], fields.get(b"h", b"")) for id_, fields in entries]
    except KeyError as field:
        raise Corrupt(f"an entry has no field {field}") from None


def whole(game: str, entries: Iterable[Any], after: int = 0) -> list[bytes]:
    """What stands in the stream entries of a log. Raises Gap if a number is missing."""
    found = numbered(entries)
    in_row(f"log of {game}", after, found)
    return [data for _, data in found]


def read_answer(number: bytes | None, dismissed: bytes | None) -> Answer | None:
    """What became of a command, from what the engine keeps of it."""
    if number is not None:
        return Answer(int(number))
    if dismissed is not None:
        rule, why = unpack(dismissed)
        return Answer(0, rule, why)
    return None
