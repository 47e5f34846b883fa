"""The file of a game (docs/proof.md): its log, marks of its hash chain, and the server's signature. Pure.

Decoding checks the form only; whether the game is valid, and where it isn't, is found by an audit.
But a file has exactly one encoding, so that no bit of it can change unnoticed.
"""

from __future__ import annotations

import zlib
from collections.abc import Sequence
from hashlib import sha256
from typing import Final, NamedTuple

import msgpack

from schemas.errors import LedgerlineError
from services.archive.signing import Signer

FILE_MAGIC: Final = b"ledgerline/log/1\n"
MARK_BYTES: Final = 4  # of a head: enough to find the entry at which damage begins
MAX_FILE_BYTES: Final = 64 * 1024 * 1024
MAX_UNCOMPRESSED_BYTES: Final = 256 * 1024 * 1024
DIGEST_BYTES: Final = 32  # SHA-256 over all before it: the same data has many zlib streams


class GameFileError(LedgerlineError):
    """The bytes are not the file of a game."""


class GameFile(NamedTuple):
    """The fields of a file. Only their types are checked."""

    game: str
    number: int  # of the last entry
    head: bytes  # of the hash chain, after that entry
    key: bytes  # the server's public key, 32 bytes
    signature: bytes  # of `build_statement`, 64 bytes
    marks: bytes  # the first bytes of the head after each entry
    entries: list[bytes]  # as the log stores them


FIELD_TYPES: Final = dict(zip(GameFile._fields, (str, int, bytes, bytes, bytes, bytes, list), strict=True))


def build_statement(game: str, sequence: int, head: bytes) -> bytes:
    """The bytes that the server signs for a finished game."""
    return b"ledgerline/final/1\0" + game.encode() + b"\0" + sequence.to_bytes(8, "big") + head


def encode_game_file(game: str, entries: Sequence[bytes], heads: Sequence[bytes], signer: Signer) -> bytes:
    """The file of a game, from the entries of its log (at least one) and the head after each of them."""
    sequence, head = len(entries), heads[-1]
    assert len(heads) == sequence, "every entry has its head"
    marks = b"".join(entry_head[:MARK_BYTES] for entry_head in heads)
    signature = signer.sign(build_statement(game, sequence, head))
    game_file = GameFile(game, sequence, head, signer.public_key, signature, marks, [*entries])
    return compress_packed(msgpack.packb(game_file._asdict()))


def compress_packed(packed: bytes) -> bytes:
    """The file whose fields are this packed map."""
    data = FILE_MAGIC + zlib.compress(packed, 9)
    return data + sha256(data).digest()


def decode_game_file(data: bytes) -> GameFile:
    """The fields of a file. Raises GameFileError: the bytes are damaged, or no such file."""
    if not data.startswith(FILE_MAGIC):
        raise GameFileError(f"the file doesn't begin with {FILE_MAGIC.decode().strip()}")
    body, stored_digest = data[:-DIGEST_BYTES], data[-DIGEST_BYTES:]
    if sha256(body).digest() != stored_digest:
        raise GameFileError("the file is damaged: its bytes don't give its own sum")
    packed = _decompress(body[len(FILE_MAGIC) :])
    try:
        fields: object = msgpack.unpackb(packed)
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
    """The content of a whole zlib stream. Raises GameFileError: it is damaged, cut off or too large."""
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
