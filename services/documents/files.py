"""Files that people name: read whole, up to a size, or written; and what is said where that fails."""

from __future__ import annotations

import sys
from pathlib import Path

from schemas.contract import Malformed


def read_bytes(path: Path | None, most: int, field: str = "") -> bytes:
    """What a file (None is standard input) of so many bytes at most holds. Raises Malformed."""
    try:
        if path is None:
            content = sys.stdin.buffer.read(most + 1)
        else:
            with path.open("rb") as file:
                content = file.read(most + 1)
    except (OSError, ValueError) as error:
        raise Malformed(field, f"can't be read: {error.args[-1]}") from None
    if len(content) > most:
        raise Malformed(field, f"has more than {most} bytes", "SIZE-1")
    return content


def write_bytes(path: Path, content: bytes, field: str) -> None:
    """Write a file. Raises Malformed."""
    try:
        path.write_bytes(content)
    except (OSError, ValueError) as error:
        raise Malformed(field, f"{path} can't be written: {error.args[-1]}") from None
