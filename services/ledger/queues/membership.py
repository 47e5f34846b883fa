"""Membership of the services by heartbeat, and the shared game clock.

Each service sends a heartbeat now and then. A referee that sends none for `LEASE_MS` has lost its lease, and the others
share its partitions. Which partitions a referee has follows from the members' names alone
(services/referee/leases.py). A lease only saves work: the checks of an append make two referees on one game harmless.
Of the other services, a heartbeat only says that they are there: who looks after the server's health reads it.
"""

from __future__ import annotations

from typing import Final, NamedTuple

import redis
from redis.exceptions import NoScriptError

from services.ledger.engine import keys
from services.ledger.engine.partitions import MistypedKeyLog
from services.ledger.engine.queries import Client, Query, command, require_reply, run
from services.ledger.operations.backlog_queries import REFEREE, ServiceKind
from services.ledger.scripts.lua_scripts import HEARTBEAT, run_script, script_command

MAX_CLOCK_LEAD_MS: Final = 15_000  # of a referee's clock; more than any silence lets it have
LEASE_MS: Final = 2_500  # without a heartbeat for so long, a referee's partitions go to others
FORGET_MS: Final = 60_000  # a silent member is forgotten where another of its kind is there


class HeartbeatReply(NamedTuple):
    """The result of a heartbeat. A key that holds another type than ours says nothing, and is left as it is."""

    game_time_ms: int | None  # of the shared game clock; None where its key says nothing
    members: tuple[
        str, ...
    ]  # the referees that are there, this one among them; () where their key says nothing


def beat(kind: ServiceKind, name: str, forget_ms: int = FORGET_MS) -> Query[None]:
    """Send a heartbeat of a service that is no referee; none is taken before a referee has loaded the script. Raises
    what the engine answers."""
    [reply] = yield [script_command("EVALSHA", HEARTBEAT.sha, ([kind.members_key], [name, forget_ms]))]
    if not isinstance(reply, NoScriptError):
        require_reply(reply)


def leave(kind: ServiceKind, name: str) -> Query[None]:
    """End a membership at once, and those of silent members, whose work this one did. Raises what the engine answers."""
    yield from beat(kind, name, LEASE_MS)
    [reply] = yield [command("ZREM", kind.members_key, name)]
    require_reply(reply)


class Membership:
    """The services of one engine, as a blocking client sees them."""

    def __init__(self, client: redis.Redis) -> None:
        self._client: Client = client
        self._mistyped_keys = MistypedKeyLog()

    def heartbeat(self, name: str, game_time_ms: int | None, wall_ms: int) -> HeartbeatReply:
        """Send a referee's heartbeat. The game clock as this referee has it advances the shared one where it is
        ahead; where there is none yet, it starts at the wall clock's time."""
        arguments = [LEASE_MS, "" if game_time_ms is None else game_time_ms, wall_ms, MAX_CLOCK_LEAD_MS]
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

    def beat(self, kind: ServiceKind, name: str) -> None:
        """Send a heartbeat of another service. Raises redis.RedisError."""
        run(self._client, beat(kind, name))

    def leave(self, name: str, kind: ServiceKind = REFEREE) -> None:
        """End a membership at once, before the lease runs out. Raises redis.RedisError."""
        run(self._client, leave(kind, name))
