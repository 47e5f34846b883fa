"""The file of a game (docs/proof.md): its log, marks of its chain, and the house's signature. Pure.

Reading only tells what the bytes spell: whether it is good, and where it isn't, is for an audit to
say. But the same file has only one spelling, so that no bit of it can change unnoticed.
"""

from __future__ import annotations

import zlib
from collections.abc import Sequence
from typing import Any, Final, NamedTuple

import msgpack

from services.archive.signing import Signer

BEGINS: Final = b"ledgerline/log/1\n"
MARK_BYTES: Final = 4  # of a head: enough to tell at which entry a damage begins
FILE_MOST: Final = 256 * 1024 * 1024  # bytes that a file may unfold to
CHECK_BYTES: Final = 4  # of zlib's own, at the end of its stream


class Unreadable(Exception):
    """The bytes are no file of a game."""


class GameFile(NamedTuple):
    """What a file says. None of it is checked but its form."""

    game: str
    entries: list[bytes]  # as the log stores them
    marks: bytes
    number: int  # of the last entry
    head: bytes  # after it
    key: bytes  # the house's public one
    signature: bytes


FORMS: Final = dict(zip(GameFile._fields, (str, list, bytes, int, bytes, bytes, bytes), strict=True))


def statement(game: str, number: int, head: bytes) -> bytes:
    """What the house signs of a finished game."""
    return b"ledgerline/final/1\0" + game.encode() + b"\0" + number.to_bytes(8, "big") + head


def write_file(game: str, entries: Sequence[bytes], heads: Sequence[bytes], signer: Signer) -> bytes:
    """The file of a game from its log, which has entries, and the head after each of them."""
    number, head = len(entries), heads[-1]
    assert len(heads) == number, "every entry has its head"
    marks = b"".join(each[:MARK_BYTES] for each in heads)
    signature = signer.sign(statement(game, number, head))
    told = GameFile(game, [*entries], marks, number, head, signer.key, signature)
    return BEGINS + zlib.compress(msgpack.packb(told._asdict()), 9)


def read_file(data: bytes) -> GameFile:
    """What a file says. Raises Unreadable."""
    if not data.startswith(BEGINS):
        raise Unreadable(f"the file doesn't begin with {BEGINS.decode().strip()}")
    packed = _unfolded(data[len(BEGINS) :])
    try:
        told: Any = msgpack.unpackb(packed)
    except (ValueError, TypeError, RecursionError, msgpack.UnpackException) as error:
        raise Unreadable(f"the file holds no msgpack: {error}") from None
    if not isinstance(told, dict) or tuple(told) != GameFile._fields:
        raise Unreadable(f"the file isn't a map of {', '.join(GameFile._fields)}")
    for name, form in FORMS.items():
        if told[name].__class__ is not form:
            raise Unreadable(f"{name} isn't {form.__name__}")
    if any(entry.__class__ is not bytes for entry in told["entries"]):
        raise Unreadable("an entry isn't bytes")
    if msgpack.packb(told) != packed:
        raise Unreadable("the file isn't msgpack in its shortest forms")
    return GameFile(**told)


def _unfolded(stream: bytes) -> bytes:
    """What a zlib stream holds, to its last bit. Raises Unreadable."""
    unfolding = zlib.decompressobj()
    try:
        found = unfolding.decompress(stream, FILE_MOST)
    except zlib.error as error:
        raise Unreadable(f"the file is damaged: {error}") from None
    if unfolding.unconsumed_tail:
        raise Unreadable(f"the file unfolds to more than {FILE_MOST} bytes")
    if not unfolding.eof or unfolding.unused_data:
        raise Unreadable(
            "the file is damaged: " + ("something follows" if unfolding.eof else "its end is missing")
        )
    if _is_padded(stream, found):
        raise Unreadable("the file is damaged: its last bits aren't zero")
    return found


def _is_padded(stream: bytes, found: bytes) -> bool:
    """Whether the last byte's unused bits say something: those are the high ones, and zlib reads past
    them. They don't if the highest bit that is set counts."""
    place = len(stream) - CHECK_BYTES - 1
    last = stream[place]
    if not last:
        return False
    less = last & ~(1 << (last.bit_length() - 1))
    try:
        return zlib.decompress(stream[:place] + bytes((less,)) + stream[place + 1 :]) == found
    except zlib.error:
        return False
