"""Acknowledgement levels, and which of them an engine can give: see docs/acknowledgements.md.

`accepted`: the command is in the commands stream. `decided`: its entry is in the log, under a
number. `durable`: and that entry is on the engine's disk. `replicated:k`: and that entry has
reached k replicas. The last two are independent: a disk outlives its process and its power, a
replica outlives the machine.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import Final, NamedTuple

from redis.exceptions import ResponseError

from schemas.errors import InvalidInputError
from services.ledger.queries import Argument, Client, Reply

MAX_REPLICAS: Final = 9
FSYNC_SETTINGS: Final = "*append*"  # appendonly, appendfsync, no-appendfsync-on-rewrite
AOF_IN_FORCE: Final = {
    b"aof_enabled": b"1",
    b"aof_rewrite_in_progress": b"0",
    b"aof_rewrite_scheduled": b"0",
    b"aof_last_write_status": b"ok",
}
_REPLICATED: Final = re.compile(rf"replicated(?::([1-{MAX_REPLICAS}]))?")


class AckLevel(NamedTuple):
    """A level by its name; `replicas` is the k of `replicated:k`."""

    name: str
    replicas: int = 0

    def __str__(self) -> str:
        return f"{self.name}:{self.replicas}" if self.replicas else self.name

    @property
    def needs_confirmation(self) -> bool:
        """Whether the engine must be asked again once the entry is there."""
        return self.name in {"durable", "replicated"}


ACCEPTED: Final = AckLevel("accepted")
DECIDED: Final = AckLevel("decided")
DURABLE: Final = AckLevel("durable")


def replicated(replicas: int) -> AckLevel:
    """The level at which so many replicas have the entry."""
    return AckLevel("replicated", replicas)


def parse_ack_level(text: object) -> AckLevel:
    """A level as a client writes it; `replicated` alone means one replica. Raises InvalidInputError."""
    if isinstance(text, str):
        if matched := _REPLICATED.fullmatch(text):
            return replicated(int(matched[1] or 1))
        for level in (ACCEPTED, DECIDED, DURABLE):
            if text == level.name:
                return level
    known = f"accepted, decided, durable, or replicated:1 to replicated:{MAX_REPLICAS}"
    raise InvalidInputError("level", f"must be {known}")


class EngineCapabilities(NamedTuple):
    """What an engine has for confirmations: found by trying, never by its version."""

    supports_waitaof: bool
    waitaof_error: str  # the error of WAITAOF
    fsync_policy: (
        str  # when its AOF is synced: always, everysec, no; off without one; '' where CONFIG is refused
    )

    @property
    def unavailable_reason(self) -> str:
        """Why `durable` can't be had, and what to set; '' where it can."""
        if self.fsync_policy == "off":
            return "the engine keeps no AOF: set appendonly yes"
        if self.fsync_policy == "no":
            return "the engine never syncs its AOF itself: set appendfsync everysec or always"
        if self.supports_waitaof or self.fsync_policy == "always":
            return ""
        sync_note = (
            f"its AOF is synced {self.fsync_policy}"
            if self.fsync_policy
            else "it doesn't say when it syncs its AOF"
        )
        return (
            f"the engine takes no WAITAOF ({self.waitaof_error}) and {sync_note}: "
            "set appendfsync always and allow CONFIG GET and INFO, or use Redis 7.2, Valkey 7.2 or later"
        )


async def read_capabilities(connection: Client) -> EngineCapabilities:
    """What the engine of this connection can do, by trying it."""
    supports_waitaof, waitaof_error = True, ""
    try:
        await send_command(connection, "WAITAOF", 1, 0, 1)
    except ResponseError as error:
        supports_waitaof, waitaof_error = False, str(error)
    try:
        fsync_policy = parse_fsync_policy(await send_command(connection, "CONFIG", "GET", FSYNC_SETTINGS))
        if not supports_waitaof:
            await send_command(connection, "INFO", "persistence")  # without it, nothing proves a sync
    except ResponseError:
        fsync_policy = "off" if "appendonly is disabled" in waitaof_error else ""
    return EngineCapabilities(supports_waitaof, waitaof_error, fsync_policy)


def parse_fsync_policy(settings: Sequence[bytes]) -> str:
    """When the AOF is synced, from the reply to CONFIG GET: see EngineCapabilities."""
    values = dict(zip(settings[::2], settings[1::2], strict=True))
    if values.get(b"appendonly") != b"yes":
        return "off"
    fsync_policy: str = values.get(b"appendfsync", b"").decode()
    if fsync_policy == "always" and values.get(b"no-appendfsync-on-rewrite") == b"yes":
        return "always, but not while it is rewritten (no-appendfsync-on-rewrite yes)"
    return fsync_policy


def is_aof_in_force(persistence: bytes) -> bool:
    """Whether the AOF has what is written now, from the reply to INFO persistence.

    An AOF that was just switched on isn't in force before its first rewrite is done: a crash loses
    everything. That rewrite looks like any later one, so during a rewrite the result is False."""
    values = dict(line.split(b":", 1) for line in persistence.splitlines() if b":" in line)
    return all(values.get(field) == value for field, value in AOF_IN_FORCE.items())


async def count_replicas(connection: Client) -> int | None:
    """How many replicas of this engine are online; None where INFO is refused."""
    try:
        reply = (await send_command(connection, "INFO", "replication")).decode()
    except ResponseError:
        return None
    return len(re.findall(r"^slave\d+:.*\bstate=online\b", reply, re.MULTILINE))


async def send_command(connection: Client, *command: Argument) -> Reply:
    """One command on a connection of redis-py's, and its undecoded reply. Raises ResponseError."""
    await connection.send_command(*command)
    return await connection.read_response()
