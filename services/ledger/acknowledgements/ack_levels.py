"""Acknowledgement levels: see docs/acknowledgements.md; which of them an engine can give is `engine_settings`.

`accepted`: the command is in the commands stream. `decided`: its entry is in the log, under a
number. `durable`: and that entry is on the engine's disk. `replicated:k`: and that entry has
reached k replicas. The last two are independent: a disk outlives its process and its power, a
replica outlives the machine.
"""

from __future__ import annotations

import re
from typing import Final, NamedTuple

from redis.exceptions import ResponseError

from schemas.errors import InvalidInputError
from services.ledger.engine.queries import Argument, Client, Reply

MAX_REPLICAS: Final = 9
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
