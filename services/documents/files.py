"""Files that users name: read whole, up to a size, or written, with errors in plain words."""

from __future__ import annotations

import sys
from pathlib import Path

from schemas.errors import InvalidInputError


def read_bytes(path: Path | None, max_bytes: int, field: str = "") -> bytes:
    """The content of a file (None is standard input).

    Raises InvalidInputError, for `field`: it can't be read, or has more than `max_bytes` (SIZE-1)."""
    try:
        if path is None:
            content = sys.stdin.buffer.read(max_bytes + 1)
        else:
            with path.open("rb") as file:
                content = file.read(max_bytes + 1)
    except (OSError, ValueError) as error:
        raise InvalidInputError(field, f"can't be read: {error.args[-1]}") from None
    if len(content) > max_bytes:
        raise InvalidInputError(field, f"has more than {max_bytes} bytes", "SIZE-1")
    return content


def write_bytes(path: Path, content: bytes, field: str) -> None:
    """Write a file. Raises InvalidInputError, for `field`: it can't be written."""
    try:
        path.write_bytes(content)
    except (OSError, ValueError) as error:
        raise InvalidInputError(field, f"{path} can't be written: {error.args[-1]}") from None
