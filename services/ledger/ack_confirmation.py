"""Verdicts made sure of, many in one round trip: what lies between `decided` and more.

Each confirmation is one script on the game's partition (confirm_entry.lua), and behind it, on the
same connection, a command that comes back when the engine has made sure: WAITAOF, WAIT, or
where there is no WAITAOF a look whether the engine syncs always to an AOF in force, so that
its reply alone says enough. That command counts for every script before it, so whatever waits goes together:
a thousand commands wait for one fsync on one connection.
"""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Callable, Sequence
from contextlib import asynccontextmanager
from typing import Any, Final, NamedTuple

from redis.asyncio.cluster import RedisCluster
from redis.asyncio.retry import Retry
from redis.backoff import NoBackoff
from redis.exceptions import ConnectionError, RedisClusterException, RedisError, ResponseError

from schemas.codec import join_view
from schemas.entries import ViewEntry
from services.ledger.ack_levels import (
    DURABLE,
    FSYNC_SETTINGS,
    Level,
    Powers,
    ask,
    fsync_of,
    in_force,
    powers_of,
    replicas_of,
)
from services.ledger.ports import Gap
from services.ledger.scripts import Script
from services.runtime.logging_setup import get_log

log = get_log("gateway")
CONFIRM: Final = Script("confirm_entry")
LINES: Final = 8  # rounds under way at once, for each node and level
ROUND_MOST: Final = 512
ROUND_MS: Final = 5_000  # below the time-out of a socket; who waits longer asks again


class Node(NamedTuple):
    """Where a key lives, and how to make a connection of one's own to it."""

    name: str
    connection: Callable[[], Any]


async def node_of(client: Any, key: str) -> Node:
    """Where a key lives: the one place here that knows a cluster from an engine alone."""
    if not isinstance(client, RedisCluster):
        return Node("", client.connection_pool.make_connection)
    await client.initialize()
    try:
        node = client.get_node_from_key(key)
    except RedisClusterException as error:
        raise ConnectionError(f"no node has {key}: {error}") from None
    assert node is not None, "only a replica may be missing"
    options = {**node.connection_kwargs, "retry": Retry(NoBackoff(), 0)}
    return Node(node.name, lambda: node.connection_class(**options))


class Line(NamedTuple):
    """A connection, and what the engine that it met can do."""

    connection: Any
    powers: Powers

    def proof(self, level: Level) -> list[tuple[Any, ...]]:
        """The commands whose replies say whether everything before them has the level."""
        if level != DURABLE:
            return [("WAIT", level.replicas, ROUND_MS)]
        if self.powers.waitaof:
            return [("WAITAOF", 1, 0, ROUND_MS)]
        return [("CONFIG", "GET", FSYNC_SETTINGS), ("INFO", "persistence")]

    def proves(self, level: Level, told: Sequence[Any]) -> bool:
        if any(isinstance(reply, ResponseError) for reply in told):
            return False
        if level != DURABLE:
            return bool(told[0] >= level.replicas)
        if self.powers.waitaof:
            return bool(told[0][0] >= 1)
        return fsync_of(told[0]) == "always" and in_force(told[1])


class Asked(NamedTuple):
    """A confirmation on its way: the arguments of confirm_entry.lua, and who waits for it."""

    called: Sequence[str]
    command_id: str
    told: asyncio.Future[ViewEntry | None]


class Confirming:
    """The confirmations of one level on one node. They go in rounds, some at once; while there
    are rounds under way the next one leaves a little later, so that it takes more along."""

    def __init__(self, node: Node, level: Level) -> None:
        self.node, self.level = node, level
        self._asked: list[Asked] = []
        self._rounds: set[asyncio.Task[None]] = set()
        self._idle: list[Line] = []
        self._looking: asyncio.Task[str] | None = None
        self._leaving = asyncio.Lock()
        self._took_s = 0.0

    async def lack(self) -> str:
        """Why this level can't be had here and now, and what to do about it; '' where it can.

        Raises RedisError or OSError: the engine doesn't answer. Who asks while somebody else
        does is told the same."""
        if self._looking is None or self._looking.done():
            self._looking = asyncio.create_task(self._look())
            self._looking.add_done_callback(_heed)
        return await asyncio.shield(self._looking)

    async def _look(self) -> str:
        while True:
            met_before = bool(self._idle)
            try:
                return await self._lack()
            except (RedisError, OSError):
                if not met_before:
                    raise  # a connection that nobody used yet tells how the engine is

    async def _lack(self) -> str:
        async with self._line() as line:
            if self.level == DURABLE:
                await ask(line.connection, "PING")  # an engine that came back may be another
                return line.powers.lack
            replicas = await replicas_of(line.connection)
        if replicas is None:
            return "the engine doesn't tell of its replicas: allow INFO"
        if replicas < self.level.replicas:
            return (
                f"replicas that follow the engine: {replicas}, and {self.level} needs {self.level.replicas}"
            )
        return ""

    async def confirm(self, called: Sequence[str], command_id: str) -> ViewEntry | None:
        """The verdict, once it has this level; None where it isn't known to have it: there is
        no such verdict, the engine didn't manage in time, or it didn't answer. Raises Gap or Corrupt."""
        asked = Asked(called, command_id, asyncio.get_running_loop().create_future())
        self._asked.append(asked)
        if len(self._rounds) < LINES:
            task = asyncio.create_task(self._go())
            self._rounds.add(task)
            task.add_done_callback(self._rounds.discard)
        return await asked.told

    async def close(self) -> None:
        tasks = [*self._rounds, *([self._looking] if self._looking else [])]
        for task in tasks:
            task.cancel()
        await asyncio.gather(*tasks, return_exceptions=True)
        for asked in self._asked:
            _tell(asked, None)
        for line in self._idle:
            await line.connection.disconnect()

    # -- rounds ------------------------------------------------------------------------

    async def _go(self) -> None:
        """Round after round, while anybody waits."""
        while self._asked:
            async with self._leaving:
                await asyncio.sleep(self._took_s / LINES if len(self._rounds) > 1 else 0)
                batch, self._asked = self._asked[:ROUND_MOST], self._asked[ROUND_MOST:]
            batch = [asked for asked in batch if not asked.told.done()]  # who gave up needs no round
            if batch:
                await self._round(batch)

    async def _round(self, batch: Sequence[Asked]) -> None:
        """Tell everybody in the batch, whatever happens."""
        began = asyncio.get_running_loop().time()
        replies: list[Any] = []
        try:
            async with self._line() as line:
                replies = await self._exchange(line, batch)
        except (RedisError, OSError) as error:
            log.warning("engine away", level=str(self.level), error=str(error))
        finally:
            self._took_s = asyncio.get_running_loop().time() - began
            for asked, reply in zip(batch, replies or [None] * len(batch), strict=True):
                _tell(asked, reply)

    async def _exchange(self, line: Line, batch: Sequence[Asked]) -> list[Any]:
        """The scripts' replies, if the engine made sure of them; else none."""
        commands: list[tuple[Any, ...]] = []
        for asked in batch:  # the first brings the script, which an engine may forget at any time
            script = ("EVALSHA", CONFIRM.sha) if commands else ("EVAL", CONFIRM.text)
            commands.append((*script, len(asked.called), *asked.called, asked.command_id))
        commands += line.proof(self.level)
        await line.connection.send_packed_command(line.connection.pack_commands(commands))
        told = [await _reply(line.connection) for _ in commands]
        replies, proof = told[: len(batch)], told[len(batch) :]
        proved = line.proves(self.level, proof)
        if not proved or any(isinstance(reply, ResponseError) for reply in replies):
            await line.connection.disconnect()  # it may be another engine now, or set otherwise: meet it anew
        return replies if proved else []

    @asynccontextmanager
    async def _line(self) -> AsyncIterator[Line]:
        """A connection that has met its engine. One that met trouble isn't used again."""
        line = self._idle.pop() if self._idle else None
        while line is not None and not line.connection.is_connected:
            line = self._idle.pop() if self._idle else None
        connection = self.node.connection() if line is None else line.connection
        try:
            if line is None:
                await connection.connect()
                line = Line(connection, await powers_of(connection))
            yield line
        except BaseException:
            await connection.disconnect(nowait=True)
            raise
        if self.level == DURABLE and line.powers.lack:
            await connection.disconnect()  # somebody may set that right at any time
        else:
            self._idle.append(line)


def _heed(looking: asyncio.Task[str]) -> None:
    """What went wrong is told to those who still wait; where all gave up, it concerns nobody."""
    if not looking.cancelled():
        looking.exception()


async def _reply(connection: Any) -> Any:
    """The next reply; an error of the engine's is one too, and concerns nobody else's."""
    try:
        return await connection.read_response()
    except ResponseError as error:
        return error


def _tell(asked: Asked, reply: Any) -> None:
    """What a reply of confirm_entry.lua says, or that nothing is known."""
    if asked.told.done():
        return
    if not reply or isinstance(reply, ResponseError):
        asked.told.set_result(None)
        return
    number, public, head, part = reply
    try:
        if not public:
            raise Gap(f"view: entry {number} is missing, which answers a command")
        asked.told.set_result(join_view(number, public, part or None, head))
    except Exception as damage:
        asked.told.set_exception(damage)
