"""A log of every step: the same seed gives the same bytes, in every process."""

from __future__ import annotations

from hashlib import sha256
from typing import TextIO


class Trace:
    """A running digest of all lines, which are printed as well if `out` is given."""

    def __init__(self, out: TextIO | None = None) -> None:
        self.out, self.lines = out, 0
        self._sum = sha256()

    def write(self, now_ms: float, who: str, what: str) -> None:
        line = f"{now_ms:12.3f} {who:<14} {what}\n"
        self._sum.update(line.encode())
        self.lines += 1
        if self.out is not None:
            self.out.write(line)

    def digest(self) -> str:
        return self._sum.hexdigest()[:16]
