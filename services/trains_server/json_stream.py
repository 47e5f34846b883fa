"""A stream of JSON values without framing, from somebody who isn't trusted.

Each value is found by its brackets and quotes before it is parsed, so that one that is too long or too deep is
refused before that. Any amount of white space may stand between values, and none of it is kept.
"""

from __future__ import annotations

import json
import re
from typing import Final, NamedTuple, NoReturn

from schemas.errors import LedgerlineError

MAX_DEPTH: Final = 16  # a map has four levels, a call with a map six
WHITE_SPACE: Final = b" \t\r\n"
_STRUCTURE: Final = re.compile(rb'["\[\]{}]')
_STRING_END: Final = re.compile(rb'["\\]')


class BadJsonError(LedgerlineError):
    """What comes is no JSON value within the bounds."""


class Value(NamedTuple):
    """A value of the stream; it may be null, or anything else that JSON has."""

    json: object


class JsonStream:
    """Takes bytes as they come, and gives the values in them, one after the other."""

    def __init__(self) -> None:
        self._buffer = bytearray()
        self._scanned = 0  # bytes of the current value that were looked at
        self._depth = 0
        self._in_string = False

    @property
    def buffered_bytes(self) -> int:
        """What it keeps of bytes that came and aren't taken yet."""
        return len(self._buffer)

    def feed(self, data: bytes) -> None:
        """Add the next bytes."""
        self._buffer += data if self._buffer else data.lstrip(WHITE_SPACE)

    def take(self, max_bytes: int) -> Value | None:
        """The next value, of at most so many bytes; None while it isn't there as a whole.

        Raises BadJsonError: a value that is too long, too deep, or none; and a number or a word alone, which
        has no end in a stream, and answers nothing."""
        end = self._find_end()
        if (end or len(self._buffer)) > max_bytes:
            raise BadJsonError(f"a value of more than {max_bytes} bytes")
        if end is None:
            return None
        text = bytes(self._buffer[:end])
        del self._buffer[:end]
        self._buffer = self._buffer.lstrip(WHITE_SPACE)
        self._scanned = 0
        return Value(parse_value(text))

    def _find_end(self) -> int | None:
        """The end of the value that the buffer begins with; None while it isn't there."""
        if self._buffer and self._buffer[0] not in b'"[{':
            raise BadJsonError("what begins no string, list or object")
        while match := (_STRING_END if self._in_string else _STRUCTURE).search(self._buffer, self._scanned):
            self._scanned = match.end()
            match match.group():
                case b"\\":
                    if self._scanned == len(self._buffer):  # what it escapes is still to come
                        self._scanned -= 1
                        return None
                    self._scanned += 1
                case b'"':
                    self._in_string = not self._in_string
                case b"[" | b"{":
                    self._deepen()
                case _:
                    self._depth -= 1
            if not self._in_string and not self._depth:
                return self._scanned
        self._scanned = len(self._buffer)
        return None

    def _deepen(self) -> None:
        self._depth += 1
        if self._depth > MAX_DEPTH:
            raise BadJsonError(f"a value of more than {MAX_DEPTH} levels")


def parse_value(text: bytes) -> object:
    """The value of a JSON text, which is known to be neither long nor deep. Raises BadJsonError."""
    try:
        return json.loads(text.decode(), parse_constant=_refuse_constant, object_pairs_hook=_read_object)
    except ValueError as error:  # also of a number of thousands of digits, and of what is no UTF-8
        raise BadJsonError(f"what isn't JSON ({error})") from None


def _refuse_constant(name: str) -> NoReturn:
    raise ValueError(f"{name} is no number")


def _read_object(pairs: list[tuple[str, object]]) -> dict[str, object]:
    found = dict(pairs)
    if len(found) < len(pairs):
        raise ValueError("a key stands twice")
    return found
