"""How durable an answer is (docs/acknowledgements.md), and how the engine confirms it, many entries in one round trip.

`accepted`: the command is in the commands stream. `decided`: its entry is in the log, under a
number. `durable`: and that entry is on the engine's disk. `replicated:k`: and that entry has
reached k replicas. The last two are independent: a disk outlives its process and its power, a
replica outlives the machine.

Each confirmation is one script on the game's partition (confirm_entry.lua). Behind the scripts, on the same
connection, goes a command that returns when the engine has made sure of them: WAITAOF, WAIT, or, where there is no
WAITAOF, a check that the engine syncs always to an AOF in force, so that its reply alone is enough. What an engine
can do is probed on each new connection, and again every minute. That command covers every script before it, so a
thousand commands wait for one fsync on one connection.
"""

from __future__ import annotations

import asyncio
import re
from collections.abc import AsyncIterator, Awaitable, Callable, Coroutine, Sequence
from contextlib import asynccontextmanager, suppress
from functools import partial
from typing import Final, NamedTuple, TypeVar

from redis.asyncio.cluster import RedisCluster
from redis.asyncio.retry import Retry
from redis.backoff import NoBackoff
from redis.exceptions import ConnectionError, NoScriptError, RedisClusterException, RedisError, ResponseError

from schemas.errors import InvalidInputError
from schemas.field_types import Seat
from schemas.stored.codec import build_view_entry
from schemas.stored.entries import ViewEntry
from services.ledger.engine import keys
from services.ledger.engine.cluster import NODE_TIMEOUT_S
from services.ledger.engine.queries import Argument, Client, RedisCommand, Reply, run_rounds
from services.ledger.operations.engine_settings import (
    NOT_SHOWN,
    PROMISE_SETTINGS,
    EngineCapabilities,
    WaitaofTrial,
    is_aof_in_force,
    parse_settings,
    probe_engine,
)
from services.ledger.ports import MissingEntryError, NodeAwayError
from services.ledger.scripts.lua_scripts import CONFIRM_ENTRY
from services.ledger.scripts.stored_entries import head_of_last
from services.runtime.logging_setup import get_logger

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


ROUND_TIMEOUT_MS: Final = 5_000  # below a socket's time-out; a longer wait takes another round
REPLACED_CHECK_S: Final = 0.25  # how often a round looks whether its node is still a primary
Result = TypeVar("Result")


class EngineNode(NamedTuple):
    """The node that holds a key, and how to open another connection to it."""

    name: str
    make_connection: Callable[[], Client]


async def find_node(client: Client, key: str) -> EngineNode:
    """The node that holds a key, of a cluster or a single engine. Raises ConnectionError: none does."""
    if not isinstance(client, RedisCluster):
        return EngineNode("", client.connection_pool.make_connection)
    await client.initialize()
    try:
        node = client.get_node_from_key(key)
    except RedisClusterException as error:
        raise ConnectionError(f"no node has {key}: {error}") from None
    assert node is not None, "only a replica may be missing"
    wait_s = ROUND_TIMEOUT_MS / 1000 + NODE_TIMEOUT_S
    options = {**node.connection_kwargs, "socket_timeout": wait_s, "retry": Retry(NoBackoff(), 0)}
    return EngineNode(node.name, lambda: node.connection_class(**options))


async def unless_replaced(
    work: Coroutine[object, object, Result],  # what it yields is asyncio's own
    is_replaced: Callable[[], Awaitable[bool]] | None,
) -> Result:
    """The result of this work on a node, for as long as no other node took over; without `is_replaced` none can.
    An engine may take long to sync, and one that hangs never answers: what tells them apart is a fail-over.

    Raises NodeAwayError: another one took over."""
    if is_replaced is None:
        return await work
    task = asyncio.ensure_future(work)
    try:
        while not (await asyncio.wait({task}, timeout=REPLACED_CHECK_S))[0]:
            if await is_replaced():
                raise NodeAwayError("another node of the cluster took over")
        return task.result()
    finally:
        if not task.done():
            task.cancel()
            await asyncio.wait({task})


class ConfirmationConnection(NamedTuple):
    """A connection, and what its engine can do, as it was found when it was opened."""

    connection: Client
    capabilities: EngineCapabilities

    def proof_commands(self, level: AckLevel) -> list[tuple[Argument, ...]]:
        """The commands whose replies prove that everything before them has the level."""
        if level != DURABLE:
            return [("WAIT", level.replicas, ROUND_TIMEOUT_MS)]
        is_shown = self.capabilities.settings.fsync_policy != NOT_SHOWN
        settings = ("CONFIG", "GET", PROMISE_SETTINGS) if is_shown else ("INFO", "memory")
        if self.capabilities.waitaof_error:
            return [("INFO",), settings]
        return [("WAITAOF", 1, 0, ROUND_TIMEOUT_MS), settings]

    def is_proved_by(self, level: AckLevel, replies: Sequence[Reply]) -> bool:
        """Whether the replies to `proof_commands` prove the level."""
        if any(isinstance(reply, ResponseError) for reply in replies):
            return False
        if level != DURABLE:
            return bool(replies[0] >= level.replicas)
        proof, shown = replies
        probed = self.capabilities.settings
        is_shown = probed.fsync_policy != NOT_SHOWN
        now = parse_settings(shown, {}) if is_shown else parse_settings(ResponseError(), shown)
        if now.may_drop_keys or now.eviction == NOT_SHOWN:
            return False
        if self.capabilities.waitaof_error:
            return now.syncs_before_it_answers and is_aof_in_force(proof)
        is_unchanged = (now.fsync_policy, now.is_synced_in_rewrites) == (
            probed.fsync_policy,
            probed.is_synced_in_rewrites,
        )
        return bool(proof[0] >= 1) and (now.syncs_before_it_answers or is_unchanged)


log = get_logger("gateway")
MAX_CONNECTIONS: Final = 8  # rounds under way at once, for each node and level
MAX_ROUND_SIZE: Final = 512


class PendingConfirmation(NamedTuple):
    """A confirmation that isn't made yet: the arguments of confirm_entry.lua, and its future."""

    game: str
    script_keys: Sequence[str]
    sender: Seat | None
    command_id: str
    future: asyncio.Future[ViewEntry | None]


class Confirmations:
    """Confirms entries at any level, each on the node that has its game."""

    def __init__(self, client: Client, partitions: int) -> None:
        self._client, self._partitions = client, partitions
        self._batchers: dict[tuple[str, AckLevel], ConfirmationBatcher] = {}  # by the node's name

    async def unavailable_reason(self, game: str, level: AckLevel) -> str:
        """Why the game's engine can't give this level, and what to do about it; '' where it can."""
        if not level.needs_confirmation:
            return ""
        batcher = await self._batcher_of(game, level)
        try:
            return await batcher.unavailable_reason()
        except NodeAwayError:  # the node that took over is asked
            successor = await self._batcher_of(game, level)
            if successor is batcher:
                raise
        return await successor.unavailable_reason()

    async def confirm(
        self, game: str, sender: Seat | None, command_id: str, level: AckLevel
    ) -> ViewEntry | None:
        """The entry of a command as its sender sees it, without names, once it has this level; None where that isn't
        known. Raises MissingEntryError or CorruptDataError."""
        partition = keys.partition_of(game, self._partitions)
        script_keys = [
            keys.command_results(partition, game, sender),
            keys.public_view(partition, game),
            keys.confirmation_mark(partition),
            keys.chain_head(partition, game),
        ]
        batcher = await self._batcher_of(game, level)
        return await batcher.confirm(game, script_keys, sender, command_id)

    async def close(self) -> None:
        """End the batchers."""
        for batcher in self._batchers.values():
            await batcher.close()

    async def _batcher_of(self, game: str, level: AckLevel) -> ConfirmationBatcher:
        partition = keys.partition_of(game, self._partitions)
        mark = keys.confirmation_mark(partition)
        node = await find_node(self._client, mark)
        if (node.name, level) not in self._batchers:
            is_replaced = partial(self._is_replaced, node.name, partition) if node.name else None
            self._batchers[node.name, level] = ConfirmationBatcher(node, level, mark, is_replaced)
        return self._batchers[node.name, level]

    async def _is_replaced(self, name: str, partition: int) -> bool:
        """Whether this node of a cluster is no primary any more; one that hangs is noticed by being asked."""
        with suppress(RedisError):
            await self._client.xlen(keys.commands(partition))
        return all(node.name != name for node in self._client.get_primaries())


class ConfirmationBatcher:
    """The confirmations of one level on one node. They are sent in rounds, some at once; while rounds
    are under way the next one starts a little later, so that it covers more confirmations."""

    def __init__(
        self,
        node: EngineNode,
        level: AckLevel,
        mark: str,
        is_replaced: Callable[[], Awaitable[bool]] | None = None,
    ) -> None:
        """`mark` is a confirmation mark that the node holds. `is_replaced`, of a node of a cluster, returns whether
        another one took over."""
        self.node, self.level, self.mark, self.is_replaced = node, level, mark, is_replaced
        self._probe_lock = asyncio.Lock()
        self._trial: WaitaofTrial | None = None
        self._pending: list[PendingConfirmation] = []
        self._rounds: set[asyncio.Task[None]] = set()
        self._idle_connections: list[ConfirmationConnection] = []
        self._availability_check: asyncio.Task[str] | None = None
        self._departure_lock = asyncio.Lock()
        self._last_round_s = 0.0

    async def unavailable_reason(self) -> str:
        """Why this level can't be had here and now, and what to do about it; '' where it can.

        Raises RedisError or OSError: the engine doesn't answer; NodeAwayError: another node took over. Concurrent
        callers share one check."""
        if self._availability_check is None or self._availability_check.done():
            self._availability_check = asyncio.create_task(self._check_availability())
            self._availability_check.add_done_callback(_consume_exception)
        return await asyncio.shield(self._availability_check)

    async def _check_availability(self) -> str:
        while True:
            had_idle = bool(self._idle_connections)
            try:
                return await unless_replaced(self._read_unavailable_reason(), self.is_replaced)
            except (RedisError, OSError) as error:
                if not had_idle or isinstance(error, NodeAwayError):
                    raise  # a new connection shows how the engine is

    async def _read_unavailable_reason(self) -> str:
        async with self._checked_connection() as checked:
            if self.level == DURABLE:
                await send_command(checked.connection, "PING")  # an engine that came back may be another
                return checked.capabilities.unavailable_reason
            replicas = await count_replicas(checked.connection)
        if replicas is None:
            return "the engine doesn't show its replicas: allow INFO"
        if replicas < self.level.replicas:
            return (
                f"replicas that follow the engine: {replicas}, and {self.level} needs {self.level.replicas}"
            )
        return ""

    async def confirm(
        self, game: str, script_keys: Sequence[str], sender: Seat | None, command_id: str
    ) -> ViewEntry | None:
        """The command's entry, once it has this level; None where that isn't known: there is no such
        entry, the engine didn't manage in time, or didn't answer.

        Raises MissingEntryError or CorruptDataError."""
        pending = PendingConfirmation(
            game, script_keys, sender, command_id, asyncio.get_running_loop().create_future()
        )
        self._pending.append(pending)
        if len(self._rounds) < MAX_CONNECTIONS:
            task = asyncio.create_task(self._run_rounds())
            self._rounds.add(task)
            task.add_done_callback(self._rounds.discard)
        return await pending.future

    async def close(self) -> None:
        """Stop, and resolve what is pending as unknown."""
        tasks = [*self._rounds, *([self._availability_check] if self._availability_check else [])]
        for task in tasks:
            task.cancel()
        await asyncio.gather(*tasks, return_exceptions=True)
        for pending in self._pending:
            _resolve(pending, None)
        for idle in self._idle_connections:
            await idle.connection.disconnect()

    # -- rounds ------------------------------------------------------------------------

    async def _run_rounds(self) -> None:
        """Send rounds while confirmations are pending."""
        while self._pending:
            async with self._departure_lock:
                await asyncio.sleep(self._last_round_s / MAX_CONNECTIONS if len(self._rounds) > 1 else 0)
                batch, self._pending = self._pending[:MAX_ROUND_SIZE], self._pending[MAX_ROUND_SIZE:]
            batch = [pending for pending in batch if not pending.future.done()]  # a caller may have given up
            if batch:
                await self._run_round(batch)

    async def _run_round(self, batch: Sequence[PendingConfirmation]) -> None:
        """Send one round, and resolve each confirmation of it, whatever happens."""
        started_s = asyncio.get_running_loop().time()
        replies: list[Reply] = []
        try:
            replies = await unless_replaced(self._read_batch(batch), self.is_replaced)
        except (RedisError, OSError) as error:
            log.error("engine away", level=str(self.level), error=str(error))
        finally:
            self._last_round_s = asyncio.get_running_loop().time() - started_s
            for pending, reply in zip(batch, replies or [None] * len(batch), strict=True):
                _resolve(pending, reply)

    async def _read_batch(self, batch: Sequence[PendingConfirmation]) -> list[Reply]:
        async with self._checked_connection() as checked:
            return await self._send_batch(checked, batch, ("EVALSHA", CONFIRM_ENTRY.sha))

    async def _send_batch(
        self,
        checked: ConfirmationConnection,
        batch: Sequence[PendingConfirmation],
        first_script: tuple[Argument, ...],
    ) -> list[Reply]:
        """The scripts' replies if the level is proved for them; else none. The first call may carry the script's text."""
        if self.level == DURABLE and checked.capabilities.unavailable_reason:
            return []  # it may be another engine than when the level was asked for
        by_sha = "EVALSHA", CONFIRM_ENTRY.sha
        commands: list[tuple[Argument, ...]] = []
        for pending in batch:
            script = by_sha if commands else first_script
            arguments = pending.command_id, "" if pending.sender is None else pending.sender
            commands.append((*script, len(pending.script_keys), *pending.script_keys, *arguments))
        commands += checked.proof_commands(self.level)
        await checked.connection.send_packed_command(checked.connection.pack_commands(commands))
        all_replies = [await _read_reply(checked.connection) for _ in commands]
        replies, proof_replies = all_replies[: len(batch)], all_replies[len(batch) :]
        if isinstance(replies[0], NoScriptError):  # the engine forgot it, and ran none
            return await self._send_batch(checked, batch, ("EVAL", CONFIRM_ENTRY.source))
        is_proved = checked.is_proved_by(self.level, proof_replies)
        if not is_proved or any(isinstance(reply, ResponseError) for reply in replies):
            # It may be another engine now, or have other settings: check it anew.
            await checked.connection.disconnect()
        return replies if is_proved else []

    @asynccontextmanager
    async def _checked_connection(self) -> AsyncIterator[ConfirmationConnection]:
        """A connection whose engine was checked. After an error it isn't used again."""
        checked = self._idle_connections.pop() if self._idle_connections else None
        while checked is not None and not checked.connection.is_connected:
            checked = self._idle_connections.pop() if self._idle_connections else None
        connection = self.node.make_connection() if checked is None else checked.connection
        try:
            if checked is None:
                await connection.connect()
                checked = ConfirmationConnection(connection, await self._probe(connection))
            yield checked
        except BaseException:
            await connection.disconnect(nowait=True)
            raise
        if self.level == DURABLE and checked.capabilities.unavailable_reason:
            await connection.disconnect()  # the settings may be corrected at any time
        else:
            self._idle_connections.append(checked)

    async def _probe(self, connection: Client) -> EngineCapabilities:
        """What the engine of this connection can do; nothing of it matters to replicas."""
        if self.level != DURABLE:
            return EngineCapabilities()

        async def send(commands: Sequence[RedisCommand]) -> Sequence[Reply]:
            packed = connection.pack_commands([each.arguments for each in commands])
            await connection.send_packed_command(packed)
            return [await _read_reply(connection) for _ in commands]

        async with self._probe_lock:  # one trial is enough for those who come meanwhile
            now_s = asyncio.get_running_loop().time
            found = await run_rounds(send, probe_engine(self.mark, self._trial, now_s))
            self._trial = found.trial
        return found


def _consume_exception(task: asyncio.Task[str]) -> None:
    """Mark the error as seen: those who still wait get it, and they may all have given up."""
    if not task.cancelled():
        task.exception()


async def _read_reply(connection: Client) -> Reply:
    """The next reply; an error reply of the engine is returned."""
    try:
        return await connection.read_response()
    except ResponseError as error:
        return error


def _resolve(pending: PendingConfirmation, reply: Reply) -> None:
    """Resolve a confirmation with the reply of confirm_entry.lua; None: nothing is known."""
    if pending.future.done():
        return
    if not reply or isinstance(reply, ResponseError):
        pending.future.set_result(None)
        return
    sequence, public, head, private_part, last = reply
    try:
        if not public:
            raise MissingEntryError(f"view: entry {sequence} is missing, which answers a command")
        head = head or head_of_last(pending.game, sequence, last)
        pending.future.set_result(build_view_entry(sequence, public, private_part or None, head))
    except Exception as error:
        pending.future.set_exception(error)
