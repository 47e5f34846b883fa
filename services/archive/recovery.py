"""What can still be read of a damaged game file: enough to find the entry at which the damage begins."""

from __future__ import annotations

import zlib
from contextlib import suppress
from typing import Final

from services.archive.game_file import (
    DIGEST_BYTES,
    FILE_MAGIC,
    MAX_UNCOMPRESSED_BYTES,
    REQUIRED_FIELDS,
    GameFile,
    read_fields,
)

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
