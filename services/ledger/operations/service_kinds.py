"""The kinds of services, what waits where one is missing, and who of each kind gave which sign. See `queries`.

Health, `ledgerline status` and the log say it in these words.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final, NamedTuple

from services.ledger.engine import keys
from services.ledger.engine.partitions import is_mistyped
from services.ledger.engine.queries import Query, Reply, command, require_reply

SILENT_S: Final = 4.0  # without a heartbeat for so long, a service is missing: leases are shorter


class ServiceKind(NamedTuple):
    """A service that is to be there, and what waits where none is."""

    command: str  # `ledgerline` starts one by it
    label: str
    members_key: str
    waiting: str  # what waits where it is missing
    tasks: str = ""  # the waiting that can be counted
    is_optional: bool = False  # nobody misses one that never was there, unless its tasks wait

    def is_missed(self, *, was_there: bool, tasks: int) -> bool:
        """Whether anybody misses it where none gives a sign: one was there, or so many tasks wait."""
        return not self.is_optional or was_there or tasks > 0

    def describe_absence(self, silence_s: float | None, tasks: int = 0) -> str:
        """Say what is missing, for how long (None: none was ever seen), what waits, and what to do."""
        sign = "is there" if silence_s is None else f"gave a sign for {silence_s:.1f} s"
        counted = f" ({tasks} {self.tasks})" if tasks else ""
        return f"no {self.label} {sign}: {self.waiting}{counted}; start `ledgerline {self.command}`"


REFEREE: Final = ServiceKind("referee", "referee", keys.MEMBERSHIP_KEY, "commands wait")
BOTS: Final = ServiceKind(
    "bots", "bots worker", keys.BOTS_KEY, "games wait for their bots", "tasks", is_optional=True
)
AUDITOR: Final = ServiceKind(
    *("auditor", "auditor", keys.AUDITORS_KEY, "finished games, disputes and webhooks wait", "disputes"),
    is_optional=True,
)
GATEWAY: Final = ServiceKind("gateway", "gateway", keys.GATEWAYS_KEY, "nobody can play")
KINDS: Final = (REFEREE, BOTS, AUDITOR, GATEWAY)
# The engine's time of each member's last heartbeat, in milliseconds; None where the key holds another type.
Heartbeats = Mapping[str, float] | None


def read_heartbeats() -> Query[Mapping[ServiceKind, Heartbeats]]:
    """The members of each kind by name, with their last heartbeats."""
    replies = yield [
        command(*("ZRANGE", kind.members_key, 0, -1, "WITHSCORES"), withscores=True, score_cast_func=float)
        for kind in KINDS
    ]
    return {kind: _heartbeats(reply) for kind, reply in zip(KINDS, replies, strict=True)}


def _heartbeats(reply: Reply) -> Heartbeats:
    if is_mistyped(reply):
        return None
    return {name.decode(errors="replace"): score for name, score in require_reply(reply)}
