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

from schemas.errors import LedgerlineError
from services.archive.signing import Signer

FILE_MAGIC: Final = b"ledgerline/log/1\n"
MARK_BYTES: Final = 4  # of a head: enough to tell at which entry a damage begins
MAX_FILE_BYTES: Final = 64 * 1024 * 1024  # bytes
MAX_UNCOMPRESSED_BYTES: Final = 256 * 1024 * 1024  # bytes that a file may unfold to
DIGEST_BYTES: Final = 32  # SHA-256 over all before it: one zlib stream can be spelled in many ways


class GameFileError(LedgerlineError):
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


FIELD_TYPES: Final = dict(zip(GameFile._fields, (str, int, bytes, bytes, bytes, bytes, list), strict=True))


def build_statement(game: str, sequence: int, head: bytes) -> bytes:
    """What the house signs of a finished game."""
    return b"ledgerline/final/1\0" + game.encode() + b"\0" + sequence.to_bytes(8, "big") + head


def encode_game_file(game: str, entries: Sequence[bytes], heads: Sequence[bytes], signer: Signer) -> bytes:
    """The file of a game from its log, which has entries, and the head after each of them."""
    sequence, head = len(entries), heads[-1]
    assert len(heads) == sequence, "every entry has its head"
    marks = b"".join(entry_head[:MARK_BYTES] for entry_head in heads)
    signature = signer.sign(build_statement(game, sequence, head))
    game_file = GameFile(game, sequence, head, signer.public_key, signature, marks, [*entries])
    return compress_packed(msgpack.packb(game_file._asdict()))


def compress_packed(packed: bytes) -> bytes:
    """The file around a packed map."""
    data = FILE_MAGIC + zlib.compress(packed, 9)
    return data + sha256(data).digest()


def decode_game_file(data: bytes) -> GameFile:
    """What a file says. Raises Unreadable."""
    if not data.startswith(FILE_MAGIC):
        raise GameFileError(f"the file doesn't begin with {FILE_MAGIC.decode().strip()}")
    body, stored_digest = data[:-DIGEST_BYTES], data[-DIGEST_BYTES:]
    if sha256(body).digest() != stored_digest:
        raise GameFileError("the file is damaged: its bytes don't give its own sum")
    packed = _decompress(body[len(FILE_MAGIC) :])
    try:
        fields: Any = msgpack.unpackb(packed)
    except (ValueError, TypeError, RecursionError, msgpack.UnpackException) as error:
        raise GameFileError(f"the file holds no msgpack: {error}") from None
    if not isinstance(fields, dict) or tuple(fields) != GameFile._fields:
        raise GameFileError(f"the file isn't a map of {', '.join(GameFile._fields)}")
    for name, field_type in FIELD_TYPES.items():
        if fields[name].__class__ is not field_type:
            raise GameFileError(f"{name} isn't {field_type.__name__}")
    if fields["number"] < 0:
        raise GameFileError("number is below 0")
    if any(entry.__class__ is not bytes for entry in fields["entries"]):
        raise GameFileError("an entry isn't bytes")
    if msgpack.packb(fields) != packed:
        raise GameFileError("the file isn't msgpack in its shortest forms")
    return GameFile(**fields)


def _decompress(compressed: bytes) -> bytes:
    """What a zlib stream holds, all of it. Raises Unreadable."""
    decompressor = zlib.decompressobj()
    try:
        decompressed = decompressor.decompress(compressed, MAX_UNCOMPRESSED_BYTES)
    except zlib.error as error:
        raise GameFileError(f"the file is damaged: {error}") from None
    if decompressor.unconsumed_tail:
        raise GameFileError(f"the file unfolds to more than {MAX_UNCOMPRESSED_BYTES} bytes")
    if not decompressor.eof or decompressor.unused_data:
        raise GameFileError(
            "the file is damaged: " + ("something follows" if decompressor.eof else "its end is missing")
        )
    return decompressed
