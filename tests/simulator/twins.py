"""A real engine and the one in memory, side by side: the same commands, and the replies compared.

Both have the same clock: the real one runs each round trip as one transaction, within which its
clock stands still, behind an XADD whose `*` shows the time. So ids, idle times and expiry must be
equal to the millisecond.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from typing import Any, Final

from services.ledger.engine.connection import connect
from tests.simulator.engine import Engine
from tests.simulator.engine_client import Call, Execute, Line, SyncClient

CLOCK: Final = "the shared clock"
WHERE: Final = re.compile(
    r" script: (\w+, )?on @user_script:\d+\.$"
)  # what a real engine appends to an error
SETTINGS: Final = (b"appendonly", b"appendfsync", b"no-appendfsync-on-rewrite")
UNKNOWN: Final = (b"entries-read", b"lag")  # of a group: the one in memory doesn't count them


class Twins:
    """`client` sends to both, and fails as soon as they differ; `real` and `ours` send to one."""

    def __init__(self, url: str) -> None:
        self.real: Any = connect(url)
        self.real.flushdb()
        self.real.script_flush()
        self.real.response_callbacks.clear()
        self.now = 0
        self.engine = Engine(lambda: self.now)
        self.engine.replicas = 0
        self.client: Any = SyncClient(self.engine, self.carry)
        self.ours: Any = SyncClient(self.engine)
        self._line = Line(self.engine)
        self._connection = self._line.take()

    def carry(self, calls: Sequence[Call], execute: Execute) -> list[Any]:
        pipe = self.real.pipeline(transaction=True)
        for call in (("XADD", CLOCK, "MAXLEN", "1", "*", "tick", ""), *calls):
            pipe.execute_command(*call)
        tick, *theirs = pipe.execute(raise_on_error=False)
        self.now = int(tick.partition(b"-")[0])
        ours = execute(calls)
        for call, *replies in zip(calls, ours, theirs, strict=True):
            our, their = (plain(call, reply) for reply in replies)
            assert our == their, f"ours {our!r}, theirs {their!r}, to {call}"
        return ours

    def replies(self, *calls: Call) -> list[Any]:
        """What both reply to each call; an error is a reply."""
        return self.carry(calls, self._line.runner(self._connection))

    def same_contents(self) -> list[bytes]:
        """Fails unless both have the same contents under every key; returns the keys."""
        names: list[bytes] = sorted(self.replies(("KEYS", "*"))[0])
        kinds = self.replies(*[("TYPE", name) for name in names])
        self.replies(*[("PTTL", name) for name in names])
        self.replies(*[READ[kind](name) for name, kind in zip(names, kinds, strict=True) if kind in READ])
        streams = [name for name, kind in zip(names, kinds, strict=True) if kind == b"stream"]
        replies = self.replies(*[("XINFO GROUPS", name) for name in streams])
        groups = [(name, group[1]) for name, many in zip(streams, replies, strict=True) for group in many]
        self.replies(*[("XINFO CONSUMERS", *group) for group in groups])
        self.replies(*[("XPENDING", *group, "-", "+", "9999") for group in groups])
        return names

    def close(self) -> None:
        self.real.close()


READ: Final[dict[bytes, Callable[[bytes], Call]]] = {
    b"string": lambda name: ("GET", name),
    b"hash": lambda name: ("HGETALL", name),
    b"zset": lambda name: ("ZRANGE", name, "0", "-1", "WITHSCORES"),
    b"stream": lambda name: ("XRANGE", name, "-", "+"),
}


def plain(call: Call, reply: Any) -> Any:
    """A reply without the known differences."""
    if isinstance(reply, Exception):
        return type(reply).__name__, WHERE.sub("", str(reply))
    name = str(call[0]).upper()
    if name == "KEYS":
        return sorted(key for key in reply if key != CLOCK.encode())
    if name == "SCAN":
        return reply[0], sorted(key for key in reply[1] if key != CLOCK.encode())
    if name == "TIME":
        return int(reply[0]), int(reply[1]) // 1000
    if name == "WAITAOF":
        return reply[1]  # the disk has its own pace
    if name == "INFO":
        return b"role:master" in reply, b"connected_slaves:0" in reply
    if name.startswith("CONFIG"):
        settings = dict(zip(reply[::2], reply[1::2], strict=True))
        return {setting: value for setting, value in settings.items() if setting in SETTINGS}
    if name == "XINFO GROUPS":
        return [_without(group, UNKNOWN) for group in reply]
    return reply


def _without(pairs: Sequence[Any], names: Sequence[bytes]) -> dict[Any, Any]:
    fields = dict(zip(pairs[::2], pairs[1::2], strict=True))
    return {name: value for name, value in fields.items() if name not in names}
