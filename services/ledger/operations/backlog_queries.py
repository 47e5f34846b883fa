"""What waits for a verdict, which referees are there, and whether a write is taken. See `queries`.

A gateway may ask all of this: ids and counts, never a command, which is nobody's business before it is decided.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from contextlib import suppress
from typing import NamedTuple

from redis.asyncio.cluster import RedisCluster
from redis.exceptions import RedisClusterException, ResponseError

from services.ledger.engine import keys
from services.ledger.engine.errors import EngineError
from services.ledger.engine.mistyped_keys import is_mistyped
from services.ledger.engine.queries import Client, Query, Reply, command, require_reply
from services.ledger.engine.round_trips import run_async


class Backlog(NamedTuple):
    """The commands of a partition that have no verdict yet. `oldest_mark` stays the same for as long as the
    oldest of them waits: its id, or, where it wasn't delivered yet, the id of the last one that was."""

    waiting: int
    oldest_mark: str = ""


BacklogOrError = Backlog | EngineError


class AsyncBacklogs:
    """Looks at the engine for a gateway: its nodes, what waits there, and which referees are there."""

    def __init__(self, client: Client, partitions: int) -> None:
        self._client, self._partitions = client, partitions

    async def partitions_by_node(self) -> dict[str, list[int]]:
        """The partitions of each node, by its name: '' for the one node of a single engine. Raises one of
        ENGINE_ERRORS; a partition that no node has is left out."""
        if not isinstance(self._client, RedisCluster):
            return {"": list(range(self._partitions))}
        await self._client.initialize()
        by_node: dict[str, list[int]] = {}
        for partition in range(self._partitions):
            with suppress(RedisClusterException):
                node: Client = self._client.get_node_from_key(keys.commands(partition))
                by_node.setdefault(node.name, []).append(partition)
        return by_node

    async def read(self, partitions: Sequence[int]) -> dict[int, BacklogOrError]:
        """What waits in each of these partitions for a verdict."""
        return await run_async(self._client, read_backlogs(partitions))

    async def read_heartbeats(self) -> Mapping[str, float] | None:
        """The engine's time of each referee's last heartbeat, in milliseconds; None where their key holds another
        type."""
        return await run_async(self._client, read_heartbeats())

    async def try_write(self, partition: int) -> None:
        """Write something to the partition's node. Raises one of ENGINE_ERRORS, as the engine gives it."""
        await run_async(self._client, try_write(partition))


def read_backlogs(partitions: Sequence[int]) -> Query[dict[int, BacklogOrError]]:
    """The backlog of each of these partitions, or the error of its node."""
    lengths = yield [command("XLEN", keys.commands(partition)) for partition in partitions]
    backlogs: dict[int, BacklogOrError] = {
        partition: length if isinstance(length, EngineError) else Backlog(length)
        for partition, length in zip(partitions, lengths, strict=True)
    }
    filled = [partition for partition, backlog in backlogs.items() if backlog != Backlog(0)]
    replies = iter(
        (yield [each for partition in filled for each in _group_commands(partition)]) if filled else ()
    )
    for partition, pending, groups in zip(filled, replies, replies, strict=True):
        backlog = backlogs[partition]
        if isinstance(backlog, Backlog):
            backlogs[partition] = _with_oldest_mark(backlog, pending, groups)
    return backlogs


def read_heartbeats() -> Query[Mapping[str, float] | None]:
    """The referees of the membership, by name: the engine's time of the last heartbeat, in milliseconds. None where
    the key holds another type, and nobody can see them."""
    members_range = command(
        *("ZRANGE", keys.MEMBERSHIP_KEY, 0, -1, "WITHSCORES"), withscores=True, score_cast_func=float
    )
    [members] = yield [members_range]
    if is_mistyped(members):
        return None
    return {name.decode(errors="replace"): score for name, score in require_reply(members)}


def try_write(partition: int) -> Query[None]:
    """Write a partition's mark, as every confirmation does. Raises what the engine answers."""
    [reply] = yield [command("SET", keys.confirmation_mark(partition), "")]
    require_reply(reply)


def _group_commands(partition: int) -> tuple[Reply, ...]:
    stream = keys.commands(partition)
    return command("XPENDING", stream, keys.REFEREE_GROUP), command("XINFO GROUPS", stream)


def _with_oldest_mark(backlog: Backlog, pending: Reply, groups: Reply) -> BacklogOrError:
    """Ids grow, and are delivered in order: what is pending is older than what wasn't delivered yet."""
    if isinstance(pending, ResponseError) and "NOGROUP" in str(pending):
        return backlog._replace(oldest_mark="0-0")  # no referee was ever there
    for reply in (pending, groups):
        if isinstance(reply, EngineError):
            return reply
    if pending["pending"]:
        return backlog._replace(oldest_mark=pending["min"].decode())
    delivered = (
        group["last-delivered-id"] for group in groups if group["name"] == keys.REFEREE_GROUP.encode()
    )
    return backlog._replace(oldest_mark=f"after {next(delivered, b'0-0').decode()}")
