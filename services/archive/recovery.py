"""What can still be read of a damaged file: enough to tell at which entry the damage begins."""

from __future__ import annotations

import zlib
from contextlib import suppress
from typing import Any, Final

import msgpack

from services.archive.game_file import BEGINS, FORMS, SUM_BYTES, UNFOLDED_MOST, GameFile

SLICE: Final = 64  # bytes that are unfolded at once: what stands before a damage comes out


def salvage(data: bytes) -> GameFile | None:
    """The file with the entries that can be read before anything is wrong; None where not even what
    stands before them can be. Nothing of it is to be believed but what its marks confirm."""
    unpacker = msgpack.Unpacker(max_buffer_size=UNFOLDED_MOST)
    unpacker.feed(_unfolded(data[len(BEGINS) : -SUM_BYTES]))
    told: dict[str, Any] = {}
    with suppress(ValueError, TypeError, RecursionError, msgpack.UnpackException):
        unpacker.read_map_header()
        for name, form in FORMS.items():
            if unpacker.unpack() != name:
                break
            if form is list:
                told[name] = []
                for _ in range(unpacker.read_array_header()):
                    entry = unpacker.unpack()
                    if entry.__class__ is not bytes:
                        break
                    told[name].append(entry)
            else:
                told[name] = unpacker.unpack()
                if told[name].__class__ is not form:
                    return None
    return GameFile(**told) if told.keys() == FORMS.keys() else None


def _unfolded(stream: bytes) -> bytes:
    """What a zlib stream holds, as far as it can be read."""
    unfolding, found = zlib.decompressobj(), b""
    with suppress(zlib.error):
        for at in range(0, len(stream), SLICE):
            found += unfolding.decompress(stream[at : at + SLICE], UNFOLDED_MOST)
            if len(found) > UNFOLDED_MOST:
                break
    return found
