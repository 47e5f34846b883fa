"""The keys of an engine in memory. Every way to change them notes how to undo it."""

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
    """The engine's no, in its own words."""


class Status(bytes):
    """A status reply: OK, PONG. For a Lua script it is a table, for everybody else bytes."""


OK = Status(b"OK")


class Store:
    """Keys and their values. A hash is a dict, a string is bytes."""

    def __init__(self, clock: Clock) -> None:
        self.clock = clock
        self.keys: dict[bytes, Any] = {}
        self.leaves: dict[bytes, int] = {}  # when a key is to go, for those that are
        self.journal = Journal()
        self.note = self.journal.note

    def find(self, key: bytes, kind: type[Value]) -> Value | None:
        """The value under a key, if it is there. An EngineReplyError if it is of another kind."""
        if self.leaves:
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

    def put(self, key: bytes, value: object, leaves: int | None = None) -> None:
        """Let a key hold a value, for ever or until a time."""
        self.note((self._restore, key, self.keys.get(key), self.leaves.get(key)))
        self._restore(key, value, leaves)

    def drop(self, key: bytes) -> None:
        self.note((self._restore, key, self.keys.pop(key), self.leaves.pop(key, None)))

    def expire(self, key: bytes) -> None:
        """Drop the key if its time has come."""
        leaves = self.leaves.get(key)
        if leaves is not None and leaves < self.clock():
            self.drop(key)

    def expire_all(self) -> None:
        for key in list(self.leaves):
            self.expire(key)

    def set_field(self, fields: dict[bytes, Any], name: bytes, value: object) -> None:
        """Set one field of a dict that lives under some key; None takes it out."""
        self.note((_refill, fields, name, fields.get(name)))
        _refill(fields, name, value)

    def _restore(self, key: bytes, value: object, leaves: int | None) -> None:
        _refill(self.keys, key, value)
        _refill(self.leaves, key, leaves)


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
