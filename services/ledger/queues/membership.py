"""Membership of the referees by heartbeat, and the shared game clock.

A referee sends a heartbeat now and then; one that sends none for `LEASE_MS` has lost its lease,
and the others share its partitions. Which partitions a referee has follows from the members'
names alone (services/referee/leases.py). A lease only saves work: the checks of an append make
two referees on one game harmless.
"""

from __future__ import annotations

from typing import Final, NamedTuple

import redis

from services.ledger.engine import keys
from services.ledger.engine.mistyped_keys import MistypedKeyLog
from services.ledger.engine.queries import Client
from services.ledger.scripts.lua_scripts import HEARTBEAT, run_script

MAX_CLOCK_LEAD_MS: Final = 15_000  # of a referee's clock; more than any silence lets it have
LEASE_MS: Final = 2_500  # without a heartbeat for so long, a referee's partitions go to others


class HeartbeatReply(NamedTuple):
    """The result of a heartbeat. A key that holds another type than ours says nothing, and is left as it is."""

    game_time_ms: int | None  # of the shared game clock; None where its key says nothing
    members: tuple[
        str, ...
    ]  # the referees that are there, this one among them; () where their key says nothing


class Membership:
    """The referees of one engine."""

    def __init__(self, client: redis.Redis) -> None:
        self._client: Client = client
        self._mistyped_keys = MistypedKeyLog()

    def heartbeat(self, name: str, game_time_ms: int | None, wall_ms: int) -> HeartbeatReply:
        """Send a heartbeat. The game clock as this referee has it advances the shared one where it is
        ahead; where there is none yet, it starts at the wall clock's time."""
        arguments = ["" if game_time_ms is None else game_time_ms, wall_ms, LEASE_MS, MAX_CLOCK_LEAD_MS]
        [(reply_ms, has_members, *names)] = run_script(
            self._client, HEARTBEAT, [([keys.MEMBERSHIP_KEY, keys.GAME_CLOCK_KEY], [name, *arguments])]
        )
        for key, is_usable, effect in (
            (keys.MEMBERSHIP_KEY, has_members, "each referee takes all partitions until it is mended"),
            (keys.GAME_CLOCK_KEY, reply_ms, "each referee goes by its own clock until it is mended"),
        ):
            self._mistyped_keys.note([key], set() if is_usable else {key}, effect)
        members = tuple(member.decode(errors="replace") for member in names)
        return HeartbeatReply(int(reply_ms) if reply_ms else None, members)

    def leave(self, name: str) -> None:
        """End the membership at once, before the lease runs out. Raises redis.RedisError."""
        self._client.zrem(keys.MEMBERSHIP_KEY, name)
