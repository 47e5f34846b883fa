"""What redis-py reads anew for each connection, read once for all tests: a third of the CPU of the ledger's tests was that."""

from __future__ import annotations

from functools import cache
from typing import Any, Final

import pytest
import redis.utils
from redis._parsers.commands import CommandsParser

ASKS_A_NODE: Final[Any] = CommandsParser.initialize  # it has no types


def read_once() -> None:
    """From now on, keep redis-py's own version, and the table of commands that a cluster's client asks a node for."""
    tables: list[dict[str, Any]] = []  # of the values that the engine gives

    def initialize(self: CommandsParser, node: object) -> None:
        if not tables:
            ASKS_A_NODE(self, node)
            tables.append(self.commands)
        self.commands = dict(tables[0])

    setattr(redis.utils, "get_lib_version", cache(redis.utils.get_lib_version))  # noqa: B010 - it has no types
    setattr(CommandsParser, "initialize", initialize)  # noqa: B010 - a method isn't assigned to


def read_anew(monkeypatch: pytest.MonkeyPatch) -> None:
    """In this test, let each client of a cluster ask a node for the table of commands: its user needs the right to."""
    monkeypatch.setattr(CommandsParser, "initialize", ASKS_A_NODE)
