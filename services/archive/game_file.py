"""The file of a game (docs/proof.md): its log, marks of its chain, and the house's signature. Pure.

Reading only tells what the bytes spell: whether it is good, and where it isn't, is for an audit to
say. But the same file has only one spelling, so that no bit of it can change unnoticed.
"""

from __future__ import annotations

import zlib
from collections.abc import Sequence
from hashlib import sha256
from typing import Any, Final, NamedTuple

import msgpack

from services.archive.signing import Signer

BEGINS: Final = b"ledgerline/log/1\n"
MARK_BYTES: Final = 4  # of a head: enough to tell at which entry a damage begins
FILE_MOST: Final = 64 * 1024 * 1024  # bytes
UNFOLDED_MOST: Final = 256 * 1024 * 1024  # bytes that a file may unfold to
SUM_BYTES: Final = 32  # SHA-256 over all before it: one zlib stream can be spelled in many ways


class Unreadable(Exception):
    """The bytes are no file of a game."""


class GameFile(NamedTuple):
    """What a file says. None of it is checked but its form."""

    game: str
    number: int  # of the last entry
    head: bytes  # after it
    key: bytes  # the house's public one
    signature: bytes
    marks: bytes
    entries: list[bytes]  # as the log stores them


FORMS: Final = dict(zip(GameFile._fields, (str, int, bytes, bytes, bytes, bytes, list), strict=True))


def statement(game: str, number: int, head: bytes) -> bytes:
    """What the house signs of a finished game."""
    return b"ledgerline/final/1\0" + game.encode() + b"\0" + number.to_bytes(8, "big") + head


def write_file(game: str, entries: Sequence[bytes], heads: Sequence[bytes], signer: Signer) -> bytes:
    """The file of a game from its log, which has entries, and the head after each of them."""
    number, head = len(entries), heads[-1]
    assert len(heads) == number, "every entry has its head"
    marks = b"".join(each[:MARK_BYTES] for each in heads)
    signature = signer.sign(statement(game, number, head))
    told = GameFile(game, number, head, signer.key, signature, marks, [*entries])
    return folded(msgpack.packb(told._asdict()))


def folded(packed: bytes) -> bytes:
    """The file around a packed map."""
    data = BEGINS + zlib.compress(packed, 9)
    return data + sha256(data).digest()


def read_file(data: bytes) -> GameFile:
    """What a file says. Raises Unreadable."""
    if not data.startswith(BEGINS):
        raise Unreadable(f"the file doesn't begin with {BEGINS.decode().strip()}")
    rest, told_sum = data[:-SUM_BYTES], data[-SUM_BYTES:]
    if sha256(rest).digest() != told_sum:
        raise Unreadable("the file is damaged: its bytes don't give its own sum")
    packed = _unfolded(rest[len(BEGINS) :])
    try:
        told: Any = msgpack.unpackb(packed)
    except (ValueError, TypeError, RecursionError, msgpack.UnpackException) as error:
        raise Unreadable(f"the file holds no msgpack: {error}") from None
    if not isinstance(told, dict) or tuple(told) != GameFile._fields:
        raise Unreadable(f"the file isn't a map of {', '.join(GameFile._fields)}")
    for name, form in FORMS.items():
        if told[name].__class__ is not form:
            raise Unreadable(f"{name} isn't {form.__name__}")
    if told["number"] < 0:
        raise Unreadable("number is below 0")
    if any(entry.__class__ is not bytes for entry in told["entries"]):
        raise Unreadable("an entry isn't bytes")
    if msgpack.packb(told) != packed:
        raise Unreadable("the file isn't msgpack in its shortest forms")
    return GameFile(**told)


def _unfolded(stream: bytes) -> bytes:
    """What a zlib stream holds, all of it. Raises Unreadable."""
    unfolding = zlib.decompressobj()
    try:
        found = unfolding.decompress(stream, UNFOLDED_MOST)
    except zlib.error as error:
        raise Unreadable(f"the file is damaged: {error}") from None
    if unfolding.unconsumed_tail:
        raise Unreadable(f"the file unfolds to more than {UNFOLDED_MOST} bytes")
    if not unfolding.eof or unfolding.unused_data:
        raise Unreadable(
            "the file is damaged: " + ("something follows" if unfolding.eof else "its end is missing")
        )
    return found
