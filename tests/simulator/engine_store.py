"""The keys of an engine in memory. Every change records how to undo it."""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import Any, TypeVar

from tests.simulator.engine_journal import Journal

Value = TypeVar("Value")
Clock = Callable[[], int]  # milliseconds since 1970

WRONG_TYPE = "WRONGTYPE Operation against a key holding the wrong kind of value"
SYNTAX = "ERR syntax error"
INTEGER = re.compile(rb"-?(0|[1-9]\d*)")
NO_INTEGER = "ERR value is not an integer or out of range"


class EngineReplyError(Exception):
    """An error reply, in Redis's own words."""


class Status(bytes):
    """A status reply: OK, PONG. For a Lua script it is a table, for everybody else bytes."""


OK = Status(b"OK")


class Store:
    """Keys and their values. A hash is a dict, a string is bytes."""

    def __init__(self, clock: Clock) -> None:
        self.clock = clock
        self.keys: dict[bytes, Any] = {}
        self.expires_at: dict[bytes, int] = {}  # when a key expires, for keys that do
        self.journal = Journal()
        self.note = self.journal.note

    def find(self, key: bytes, kind: type[Value]) -> Value | None:
        """The value under a key, or None. Raises EngineReplyError if it is of another kind."""
        if self.expires_at:
            self.expire(key)
        value = self.keys.get(key)
        if value is not None and type(value) is not kind:
            raise EngineReplyError(WRONG_TYPE)
        return value

    def make(self, key: bytes, kind: type[Value]) -> Value:
        """The value under a key, a new empty one if there is none."""
        value = self.find(key, kind)
        if value is None:
            value = kind()
            self.put(key, value)
        return value

    def put(self, key: bytes, value: object, expires_at: int | None = None) -> None:
        """Set a key's value, for ever or until a time."""
        self.note((self._restore, key, self.keys.get(key), self.expires_at.get(key)))
        self._restore(key, value, expires_at)

    def drop(self, key: bytes) -> None:
        self.note((self._restore, key, self.keys.pop(key), self.expires_at.pop(key, None)))

    def expire(self, key: bytes) -> None:
        """Drop the key if it has expired."""
        expires_at = self.expires_at.get(key)
        if expires_at is not None and expires_at < self.clock():
            self.drop(key)

    def expire_all(self) -> None:
        for key in list(self.expires_at):
            self.expire(key)

    def set_field(self, fields: dict[bytes, Any], name: bytes, value: object) -> None:
        """Set one field of a dict that generation under some key; None takes it out."""
        self.note((_refill, fields, name, fields.get(name)))
        _refill(fields, name, value)

    def _restore(self, key: bytes, value: object, expires_at: int | None) -> None:
        _refill(self.keys, key, value)
        _refill(self.expires_at, key, expires_at)


def _refill(fields: dict[bytes, Any], name: bytes, value: object) -> None:
    if value is None:
        fields.pop(name, None)
    else:
        fields[name] = value


def integer(text: bytes) -> int:
    """A whole number among a command's arguments."""
    if INTEGER.fullmatch(text) is None:
        raise EngineReplyError(NO_INTEGER)
    return int(text)
