"""Who keeps the house: the referees that are there, and the house's time.

A referee shows a sign of life now and then; one that shows none for a while has lost its
lease, and the others share what it looked after. Which partitions fall to whom follows from
the names alone (services/referee/leases.py). A lease only saves work: the log's own checks
make two referees on one game harmless.
"""

from __future__ import annotations

from typing import Any, Final, NamedTuple

import redis

from services.ledger import keys
from services.ledger.scripts import HEARTBEAT, run_script

MAX_CLOCK_LEAD_MS: Final = (
    15_000  # of one referee's time before the house's: more than any silence lets it have
)
LEASE_MS: Final = 2_500  # without a sign of life for so long, a referee's partitions go to others


class HeartbeatReply(NamedTuple):
    """What a sign of life is answered with."""

    game_time_ms: int  # the house's time
    members: tuple[str, ...]  # the referees that are there


class Membership:
    def __init__(self, client: redis.Redis) -> None:
        self._client: Any = client  # redis-py types replies for both of its clients at once

    def heartbeat(self, name: str, game_time_ms: int | None, wall_ms: int) -> HeartbeatReply:
        """A sign of life. The house's time as this referee has it moves the others' on where
        it is ahead; where there is none at all it begins as the wall clock's."""
        arguments = ["" if game_time_ms is None else game_time_ms, wall_ms, LEASE_MS, MAX_CLOCK_LEAD_MS]
        [(reply_ms, *names)] = run_script(
            self._client, HEARTBEAT, [([keys.MEMBERSHIP_KEY, keys.GAME_CLOCK_KEY], [name, *arguments])]
        )
        return HeartbeatReply(int(reply_ms), tuple(member.decode(errors="replace") for member in names))

    def leave(self, name: str) -> None:
        """Go at once, not only when the lease ends."""
        self._client.zrem(keys.MEMBERSHIP_KEY, name)
