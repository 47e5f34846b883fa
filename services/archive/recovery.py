"""What can still be read of a damaged game file: enough to find the entry at which the damage begins."""

from __future__ import annotations

import zlib
from contextlib import suppress
from typing import Any, Final

import msgpack

from services.archive.game_file import DIGEST_BYTES, FIELD_TYPES, FILE_MAGIC, MAX_UNCOMPRESSED_BYTES, GameFile

SLICE_BYTES: Final = 64  # compressed bytes at once, so that everything before the damage comes out


def recover_game_file(data: bytes) -> GameFile | None:
    """The file, with the entries before the damage; None if the fields before the entries can't be read.
    Only what the marks confirm can be trusted."""
    unpacker = msgpack.Unpacker(max_buffer_size=MAX_UNCOMPRESSED_BYTES)
    unpacker.feed(_decompress_readable(data[len(FILE_MAGIC) : -DIGEST_BYTES]))
    fields: dict[str, Any] = {}  # as msgpack gives them; their types are checked below
    with suppress(ValueError, TypeError, RecursionError, msgpack.UnpackException):
        unpacker.read_map_header()
        for name, field_type in FIELD_TYPES.items():
            if unpacker.unpack() != name:
                break
            if field_type is list:
                fields[name] = []
                for _ in range(unpacker.read_array_header()):
                    entry = unpacker.unpack()
                    if entry.__class__ is not bytes:
                        break
                    fields[name].append(entry)
            else:
                fields[name] = unpacker.unpack()
                if fields[name].__class__ is not field_type:
                    return None
    return GameFile(**fields) if fields.keys() == FIELD_TYPES.keys() else None


def _decompress_readable(compressed: bytes) -> bytes:
    """The content of a zlib stream, as far as it can be read."""
    decompressor, decompressed = zlib.decompressobj(), b""
    with suppress(zlib.error):
        for offset in range(0, len(compressed), SLICE_BYTES):
            decompressed += decompressor.decompress(
                compressed[offset : offset + SLICE_BYTES], MAX_UNCOMPRESSED_BYTES
            )
            if len(decompressed) > MAX_UNCOMPRESSED_BYTES:
                break
    return decompressed
