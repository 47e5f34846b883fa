"""How sure an acknowledgement is, and which of that an engine can give.

`accepted`: the letter is in the commands stream. `decided`: its verdict is in the log, under
a number. `durable`: and that entry is on the engine's disk. `replicated:k`: and that entry
has reached k replicas. The last two say different things: a disk outlives its process and
its power, a replica outlives the machine.
"""

from __future__ import annotations

import re
from typing import Any, Final, NamedTuple

from redis.exceptions import ResponseError

from schemas.contract import Malformed

REPLICAS_MOST: Final = 9
FSYNC_SETTINGS: Final = "*append*"  # appendonly, appendfsync, no-appendfsync-on-rewrite
IN_FORCE: Final = {
    b"aof_enabled": b"1",
    b"aof_rewrite_in_progress": b"0",
    b"aof_rewrite_scheduled": b"0",
    b"aof_last_write_status": b"ok",
}
_REPLICATED: Final = re.compile(rf"replicated(?::([1-{REPLICAS_MOST}]))?")


class Level(NamedTuple):
    """A level by its name; `replicas` is how many `replicated` asks for."""

    name: str
    replicas: int = 0

    def __str__(self) -> str:
        return f"{self.name}:{self.replicas}" if self.replicas else self.name

    @property
    def confirmed(self) -> bool:
        """Whether the engine must be asked again once there is a verdict."""
        return self.name in {"durable", "replicated"}


ACCEPTED: Final = Level("accepted")
DECIDED: Final = Level("decided")
DURABLE: Final = Level("durable")


def replicated(replicas: int) -> Level:
    return Level("replicated", replicas)


def read_level(text: object) -> Level:
    """A level as a caller writes it; `replicated` alone asks for one replica. Raises Malformed."""
    if isinstance(text, str):
        if found := _REPLICATED.fullmatch(text):
            return replicated(int(found[1] or 1))
        for level in (ACCEPTED, DECIDED, DURABLE):
            if text == level.name:
                return level
    known = f"accepted, decided, durable, or replicated:1 to replicated:{REPLICAS_MOST}"
    raise Malformed("level", f"must be {known}")


class Powers(NamedTuple):
    """What an engine has for making sure: found by trying, never by its version."""

    waitaof: bool
    refusal: str  # why it takes no WAITAOF
    fsync: str  # when its AOF is synced: always, everysec, no; off without one; '' where it won't say

    @property
    def lack(self) -> str:
        """Why `durable` can't be had, and what to set; '' where it can."""
        if self.fsync == "off":
            return "the engine keeps no AOF: set appendonly yes"
        if self.fsync == "no":
            return "the engine never syncs its AOF itself: set appendfsync everysec or always"
        if self.waitaof or self.fsync == "always":
            return ""
        told = f"its AOF is synced {self.fsync}" if self.fsync else "it doesn't say when it syncs its AOF"
        return (
            f"the engine takes no WAITAOF ({self.refusal}) and {told}: "
            "set appendfsync always and allow CONFIG GET and INFO, or use Redis 7.2, Valkey 7.2 or later"
        )


async def powers_of(connection: Any) -> Powers:
    """What the engine at the other end can do, by trying it."""
    waitaof, refusal = True, ""
    try:
        await ask(connection, "WAITAOF", 1, 0, 1)
    except ResponseError as error:
        waitaof, refusal = False, str(error)
    try:
        fsync = fsync_of(await ask(connection, "CONFIG", "GET", FSYNC_SETTINGS))
        if not waitaof:
            await ask(connection, "INFO", "persistence")  # else nothing proves that it was synced
    except ResponseError:
        fsync = "off" if "appendonly is disabled" in refusal else ""
    return Powers(waitaof, refusal, fsync)


def fsync_of(settings: Any) -> str:
    """When the AOF is synced, from the reply to CONFIG GET: see Powers."""
    told = dict(zip(settings[::2], settings[1::2], strict=True))
    if told.get(b"appendonly") != b"yes":
        return "off"
    fsync: str = told.get(b"appendfsync", b"").decode()
    if fsync == "always" and told.get(b"no-appendfsync-on-rewrite") == b"yes":
        return "always, but not while it is rewritten (no-appendfsync-on-rewrite yes)"
    return fsync


def in_force(persistence: bytes) -> bool:
    """Whether the AOF has what is written now, from the reply to INFO persistence.

    An AOF that was only just switched on is none before its first rewrite is done: a crash takes
    all. Nothing tells that rewrite from a later one, so while any goes on the answer is no."""
    told = dict(line.split(b":", 1) for line in persistence.splitlines() if b":" in line)
    return all(told.get(field) == value for field, value in IN_FORCE.items())


async def replicas_of(connection: Any) -> int | None:
    """How many replicas follow the engine at the other end; None where it won't say."""
    try:
        told = (await ask(connection, "INFO", "replication")).decode()
    except ResponseError:
        return None
    return len(re.findall(r"^slave\d+:.*\bstate=online\b", told, re.MULTILINE))


async def ask(connection: Any, *command: Any) -> Any:
    """One command on a connection of redis-py's, and its reply as it comes."""
    await connection.send_command(*command)
    return await connection.read_response()
