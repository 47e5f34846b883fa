"""The file of a game (docs/proof.md): its log, marks of its hash chain, and the server's signature. Pure.

Decoding checks the form only; whether the game is valid, and where it isn't, is found by an audit.
But a file has exactly one encoding, so that no bit of it can change unnoticed. It may come from anybody, so
it is read in parts of bounded size: no file takes more than a few times MAX_UNCOMPRESSED_BYTES of memory.
"""

from __future__ import annotations

import zlib
from collections.abc import Mapping, Sequence
from contextlib import suppress
from hashlib import sha256
from itertools import islice
from typing import Final, NamedTuple

import msgpack

from schemas.contract import Json
from schemas.errors import LedgerlineError
from services.archive.signing import Signer

FILE_MAGIC: Final = b"ledgerline/log/1\n"
MARK_BYTES: Final = 4  # of a head: enough to find the entry at which damage begins
MAX_FILE_BYTES: Final = 4 * 1024 * 1024
MAX_UNCOMPRESSED_BYTES: Final = 16 * 1024 * 1024  # a long game has a fiftieth of it
MAX_ENTRY_BYTES: Final = 512 * 1024  # the creation of a game with a board of its own has a quarter of it
MAX_ENTRIES: Final = 1 << 18
MAX_NAME_BYTES: Final = 64  # of a field, and of the game's id
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
    names: bytes = b""  # of the players, with salts (schemas/stored/player_names.py); the file may lack them

    def stored_fields(self) -> dict[str, object]:
        """The fields as the file has them: without names where there are none."""
        fields = self._asdict()
        if not self.names:
            del fields["names"]
        return fields


FIELD_TYPES: Final[Mapping[str, type]] = dict(
    zip(GameFile._fields, (str, int, bytes, bytes, bytes, bytes, list, bytes), strict=True)
)
REQUIRED_FIELDS: Final = tuple(FIELD_TYPES)[:-1]
_NO_FIELDS: Final = f"the file isn't a map of {', '.join(REQUIRED_FIELDS)}"


def build_statement(game: str, sequence: int, head: bytes) -> bytes:
    """The bytes that the server signs for a finished game."""
    return b"ledgerline/final/1\0" + game.encode() + b"\0" + sequence.to_bytes(8, "big") + head


def encode_game_file(
    game: str, entries: Sequence[bytes], heads: Sequence[bytes], signer: Signer, names: bytes = b""
) -> bytes:
    """The file of a game, from the entries of its log (at least one) and the head after each of them. With `names`,
    they lie in it beside the log.

    Raises GameFileError where the log is so large that no reader would take its file."""
    sequence, head = len(entries), heads[-1]
    assert len(heads) == sequence, "every entry has its head"
    marks = b"".join(entry_head[:MARK_BYTES] for entry_head in heads)
    signature = signer.sign(build_statement(game, sequence, head))
    game_file = GameFile(game, sequence, head, signer.public_key, signature, marks, [*entries], names)
    packed = msgpack.packb(game_file.stored_fields())
    if len(packed) > MAX_UNCOMPRESSED_BYTES or sequence > MAX_ENTRIES:
        raise GameFileError(f"{sequence} entries in {len(packed)} bytes are more than a file may hold")
    return compress_packed(packed)


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
    fields, fault = read_fields(packed)
    if fault:
        raise GameFileError(fault)
    if msgpack.packb(fields) != packed:
        raise GameFileError("the file isn't msgpack in its shortest forms")
    return GameFile(**fields)


def read_fields(packed: bytes) -> tuple[Json, str]:
    """The fields of a file as far as they can be read, in their order, and the fault after them; empty where there is
    none. Of entries, those before the fault are among them."""
    unpacker = msgpack.Unpacker(
        max_buffer_size=len(packed) or 1,
        max_array_len=0,  # no value of a file is a list of more than nothing, but for the entries
        max_map_len=0,
        max_ext_len=0,
        max_bin_len=MAX_ENTRY_BYTES,
        max_str_len=MAX_NAME_BYTES,
    )
    fields: Json = {}
    name = "the file"
    try:
        unpacker.feed(packed)
        field_count = unpacker.read_map_header()
        if field_count not in (len(REQUIRED_FIELDS), len(FIELD_TYPES)):
            return fields, _NO_FIELDS
        for name, field_type in islice(FIELD_TYPES.items(), field_count):
            if unpacker.unpack() != name:
                return fields, _NO_FIELDS
            if field_type is list:
                fields[name] = []
                _read_entries(unpacker, fields[name])
            elif (value := unpacker.unpack()).__class__ is not field_type:
                return fields, f"{name} isn't {field_type.__name__}"
            else:
                fields[name] = value
    except GameFileError as error:
        return fields, str(error)
    except (ValueError, TypeError, RecursionError, msgpack.UnpackException, msgpack.BufferFull) as error:
        return fields, f"{name} can't be read: {error or 'it ends too early'}"
    if unpacker.tell() != len(packed):
        return fields, "the file goes on after its last field"
    if fields.get("names") == b"":
        return fields, "names is empty, and not left out"
    return fields, "number is below 0" if fields["number"] < 0 else ""


def _read_entries(unpacker: msgpack.Unpacker, entries: list[bytes]) -> None:
    """Append the entries that come next to the list, up to a fault. Raises GameFileError, or what msgpack raises."""
    count = unpacker.read_array_header()
    if count > MAX_ENTRIES:
        raise GameFileError(f"the file has {count} entries, and at most {MAX_ENTRIES} are read")
    for _ in range(count):
        entry = unpacker.unpack()
        if entry.__class__ is not bytes:
            raise GameFileError("an entry isn't bytes")
        entries.append(entry)


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


SLICE_BYTES: Final = 64  # compressed bytes at once, so that everything before the damage comes out


def recover_game_file(data: bytes) -> GameFile | None:
    """The file, with the entries before the damage; None if the fields before the entries can't be read.
    Only what the marks confirm can be trusted."""
    fields, _ = read_fields(_decompress_readable(data[len(FILE_MAGIC) : -DIGEST_BYTES]))
    return GameFile(**fields) if fields.keys() >= {*REQUIRED_FIELDS} else None


def _decompress_readable(compressed: bytes) -> bytes:
    """The content of a zlib stream, as far as it can be read and is no larger than a file's may be."""
    decompressor, decompressed = zlib.decompressobj(), bytearray()
    with suppress(zlib.error):
        for offset in range(0, len(compressed), SLICE_BYTES):
            room = MAX_UNCOMPRESSED_BYTES - len(decompressed)
            if not room:  # zlib takes 0 for no limit
                break
            decompressed += decompressor.decompress(compressed[offset : offset + SLICE_BYTES], room)
    return bytes(decompressed)
