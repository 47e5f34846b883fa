"""What waits for referees, bots and auditors, which of them are there, and whether a write is taken. See `queries`.

A gateway may ask all of this: ids and counts, never a command, which is nobody's business before it is decided.

How full the engine's memory is, and how much of it games take, is what strangers' creations are measured by.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from typing import Final, NamedTuple

from redis.asyncio.cluster import RedisCluster
from redis.exceptions import RedisClusterException, ResponseError

from schemas.field_types import MAX_SEATS
from services.ledger.engine import keys
from services.ledger.engine.partitions import is_mistyped
from services.ledger.engine.queries import (
    Client,
    Query,
    QueryClient,
    Reply,
    awaited,
    command,
    require_reply,
    run_async,
)
from services.ledger.operations.engine_settings import info_fields
from services.ledger.ports import EngineError

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


class Queue(NamedTuple):
    """A kind of queue, of which each partition has one."""

    key: Callable[[int], str]  # by partition
    group: str  # of those who take what waits there


COMMANDS: Final = Queue(keys.commands, keys.REFEREE_GROUP)
BOT_TASKS: Final = Queue(keys.bot_tasks, keys.BOT_GROUP)
TASK_STALL_S: Final = 20  # of a bot's task; a slow policy waits for a process, and thinks, for less


class Backlog(NamedTuple):
    """What waits in a queue of a partition. `oldest_mark` stays the same for as long as the oldest of it waits: its id,
    or, where it wasn't delivered yet, the id of the last that was."""

    waiting: int
    oldest_mark: str = ""


BacklogOrError = Backlog | EngineError


def read_backlogs(partitions: Sequence[int], queue: Queue) -> Query[dict[int, BacklogOrError]]:
    """What waits in this queue of each of these partitions, or the error of its node."""
    lengths = yield [command("XLEN", queue.key(partition)) for partition in partitions]
    backlogs: dict[int, BacklogOrError] = {
        partition: length if isinstance(length, EngineError) else Backlog(length)
        for partition, length in zip(partitions, lengths, strict=True)
    }
    filled = [partition for partition, backlog in backlogs.items() if backlog != Backlog(0)]
    replies = iter(
        (yield [each for partition in filled for each in _group_commands(queue, partition)]) if filled else ()
    )
    for partition, pending, groups in zip(filled, replies, replies, strict=True):
        backlog = backlogs[partition]
        if isinstance(backlog, Backlog):
            backlogs[partition] = _with_oldest_mark(queue, backlog, pending, groups)
    return backlogs


def count_dead_letters(partitions: Sequence[int]) -> Query[dict[int, int]]:
    """How many dead letters each of these partitions has. Raises what the engine answers."""
    replies = yield [command("XLEN", keys.dead_letters(partition)) for partition in partitions]
    return {partition: require_reply(reply) for partition, reply in zip(partitions, replies, strict=True)}


def count_disputes(partitions: int) -> Query[int]:
    """How many disputes of all partitions wait for an answer; those of a node that is away aren't counted."""
    counts = yield [command("ZCARD", keys.unanswered_disputes(partition)) for partition in range(partitions)]
    return sum(count for count in counts if not isinstance(count, EngineError))


def try_write(partition: int) -> Query[None]:
    """Write a partition's mark, as every confirmation does. Raises what the engine answers."""
    [reply] = yield [command("SET", keys.confirmation_mark(partition), "")]
    require_reply(reply)


def _group_commands(queue: Queue, partition: int) -> tuple[Reply, ...]:
    stream = queue.key(partition)
    return command("XPENDING", stream, queue.group), command("XINFO GROUPS", stream)


def _with_oldest_mark(queue: Queue, backlog: Backlog, pending: Reply, groups: Reply) -> BacklogOrError:
    """Ids grow, and are delivered in order: what is pending is older than what wasn't delivered yet."""
    if isinstance(pending, ResponseError) and "NOGROUP" in str(pending):
        return backlog._replace(oldest_mark="0-0")  # nobody who takes it was ever there
    for reply in (pending, groups):
        if isinstance(reply, EngineError):
            return reply
    if pending["pending"]:
        return backlog._replace(oldest_mark=pending["min"].decode())
    delivered = (group["last-delivered-id"] for group in groups if group["name"] == queue.group.encode())
    return backlog._replace(oldest_mark=f"after {next(delivered, b'0-0').decode()}")


class AsyncBacklogs(QueryClient):
    """Looks at the engine for a gateway: its nodes, what waits there, and which services are there."""

    count_disputes = awaited(count_disputes)

    async def partitions_by_node(self) -> dict[str, list[int]]:
        """The partitions of each node, by its name: '' for the one node of a single engine. Raises one of
        ENGINE_ERRORS; a partition that no node has is left out."""
        if not isinstance(self._client, RedisCluster):
            return {"": list(range(self.partitions))}
        await self._client.initialize()
        by_node: dict[str, list[int]] = {}
        for partition in range(self.partitions):
            with suppress(RedisClusterException):
                node: Client = self._client.get_node_from_key(keys.commands(partition))
                by_node.setdefault(node.name, []).append(partition)
        return by_node

    async def read(self, partitions: Sequence[int], queue: Queue) -> dict[int, BacklogOrError]:
        """What waits in this queue of each of these partitions."""
        return await run_async(self._client, read_backlogs(partitions, queue))

    async def count_dead_letters(self, partitions: Sequence[int]) -> dict[int, int]:
        """How many dead letters each of these partitions has; raises one of ENGINE_ERRORS."""
        return await run_async(self._client, count_dead_letters(partitions))

    async def read_heartbeats(self) -> Mapping[ServiceKind, Heartbeats]:
        """The members of each kind of service, with their last heartbeats. Raises one of ENGINE_ERRORS."""
        return await run_async(self._client, read_heartbeats())

    async def try_write(self, partition: int) -> None:
        """Write something to the partition's node. Raises one of ENGINE_ERRORS, as the engine gives it."""
        await run_async(self._client, try_write(partition))


FULL_SHARE: Final = 0.8  # of the memory, from which on no game is created: the rest is for moves
SEATS: Final = (None, *range(MAX_SEATS))


class EngineMemory(NamedTuple):
    """The bytes that an engine, or the node of a game, uses, and may use; 0 is no limit."""

    used: int
    most: int

    @property
    def is_nearly_full(self) -> bool:
        """Whether what is left is kept for the games that there are."""
        return self.most > 0 and self.used >= FULL_SHARE * self.most


def read_memory(partitions: int, game: str) -> Query[EngineMemory]:
    """The memory of the node that has this game, or will have it. One that doesn't show it seems to have no limit."""
    partition = keys.partition_of(game, partitions)
    _, info = yield [command("XLEN", keys.commands(partition)), command("INFO", "memory")]
    fields = info_fields(info)
    return EngineMemory(int(fields.get("used_memory", 0)), int(fields.get("maxmemory", 0)))


def read_stored_bytes(partitions: int, games: Sequence[str]) -> Query[list[int]]:
    """The bytes of the engine that each game takes: its log, view, file, names and verdicts; 0 for one that has left, or
    where the engine doesn't tell."""
    names = [_keys_of(keys.partition_of(game, partitions), game) for game in games]
    replies = iter((yield [command("MEMORY", "USAGE", key) for of_game in names for key in of_game]))
    return [sum(size for _ in of_game if isinstance(size := next(replies), int)) for of_game in names]


def _keys_of(partition: int, game: str) -> list[str]:
    results = [keys.command_results(partition, game, sender) for sender in SEATS]
    kept = (keys.log, keys.public_view, keys.game_file, keys.player_names)
    return [*(key(partition, game) for key in kept), *results]
