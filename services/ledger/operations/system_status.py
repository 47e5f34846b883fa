"""The engine's nodes, the services that are its members, and what waits there: for an operator, who may ask the engine
anything."""

from __future__ import annotations

import re
import socket
from collections.abc import Callable, Iterator, Mapping
from contextlib import closing, suppress
from typing import Final, NamedTuple

from redis.cluster import RedisCluster
from redis.exceptions import ConnectionError, ResponseError

from services.ledger.engine import keys
from services.ledger.engine.partitions import SHARED_PROBES, is_mistyped, partition_probes
from services.ledger.engine.queries import Client, QueryClient, Reply, blocking, run
from services.ledger.operations.backlog_queries import (
    KINDS,
    Heartbeats,
    ServiceKind,
    count_disputes,
    read_heartbeats,
)
from services.ledger.operations.engine_examination import NodeExamination, examine_node, startup_findings
from services.ledger.operations.engine_settings import NOT_SHOWN
from services.ledger.ports import ENGINE_ERRORS

AWAY: Final = "away"
_CLIENT_VERSION: Final = re.compile(r"ledgerline_v([^;)]+)")  # as `connect` says it


class EngineNode(NamedTuple):
    """A node of the engine and what its promises stand on."""

    address: str  # '' where there is only one
    product: str  # valkey 9.1.2
    role: str  # master or slave, as INFO says; away where it doesn't answer
    replicas: int
    aof: str  # appendfsync: always, everysec, no; off without an AOF
    is_aof_well: bool  # the last write to it succeeded
    eviction: str  # maxmemory-policy
    evicted_keys: int
    used_bytes: int
    max_bytes: int  # 0: no limit
    time_ms: int  # its clock


class ServiceSign(NamedTuple):
    """A process of a service, and how long ago its last heartbeat was."""

    name: str
    last_sign_s: float


class PartitionLoad(NamedTuple):
    """What waits in a partition. Ages are in milliseconds, by the engine's clock; None where nothing waits."""

    partition: int
    commands: int
    oldest_command_ms: int | None
    bot_tasks: int
    oldest_bot_task_ms: int | None
    dead_letters: int


class SystemStatus(QueryClient):
    """What one client of the engine can see of the whole system."""

    count_disputes = blocking(count_disputes)

    def nodes(self) -> list[EngineNode]:
        """The engine's nodes; of a cluster the primaries, of which some may be away. Raises one of
        ENGINE_ERRORS where none answers."""
        nodes: list[EngineNode] = []
        last_error: Exception | None = None
        for address, connection in self._connections():
            try:
                nodes.append(_read_node(address, connection))
            except ENGINE_ERRORS as error:
                nodes.append(EngineNode(address, NOT_SHOWN, AWAY, 0, NOT_SHOWN, True, NOT_SHOWN, 0, 0, 0, 0))
                last_error = error
        if last_error is not None and all(node.role == AWAY for node in nodes):
            raise last_error
        return nodes

    def examine(
        self, now_s: Callable[[], float], user_rules: Mapping[str, str]
    ) -> dict[str, NodeExamination]:
        """What is found of each node that answers, by its address. Raises one of ENGINE_ERRORS where none answers."""
        found: dict[str, NodeExamination] = {}
        for address, connection in self._connections():
            try:
                found[address] = run(connection, examine_node(now_s, user_rules))
            except ENGINE_ERRORS:
                if not address:
                    raise
        return found

    def snapshots(self) -> Iterator[tuple[str, Iterator[bytes]]]:
        """Each node's address and the pieces of its snapshot, one after the other; of a cluster, of its primaries."""
        for address, connection in self._connections():
            yield address, stream_snapshot(connection)

    def startup_problems(self) -> list[str]:
        """What would lose data, as far as a service's user is shown it. Raises one of ENGINE_ERRORS: a node is away."""
        return [
            f"{address}: {problem}".removeprefix(": ")
            for address, connection in self._connections()
            for problem in run(connection, startup_findings())
        ]

    def versions(self) -> dict[str, set[str]]:
        """The versions of Ledgerline that are connected, by the kind of service: what each says of itself there. Raises
        one of ENGINE_ERRORS: the engine doesn't show it."""
        found: dict[str, set[str]] = {}
        for _, connection in self._connections():
            for client in connection.client_list():
                if version := _CLIENT_VERSION.search(client.get("lib-name", "")):
                    found.setdefault(client["name"].partition("-")[0], set()).add(version[1])
        return found

    def services(self, time_ms: int) -> Mapping[ServiceKind, list[ServiceSign]]:
        """The members of each kind by name, with the age of their last heartbeats; none where their node is away."""
        heartbeats: Mapping[ServiceKind, Heartbeats] = {}
        with suppress(*ENGINE_ERRORS):
            heartbeats = run(self._client, read_heartbeats())
        return {
            kind: [
                ServiceSign(name, max(0.0, (time_ms - heartbeat_ms) / 1000))
                for name, heartbeat_ms in sorted((heartbeats.get(kind) or {}).items())
            ]
            for kind in KINDS
        }

    def mistyped_keys(self) -> list[str]:
        """The keys that referees share, and those of partitions, that hold another type than ours."""
        probes = [
            *SHARED_PROBES,
            *(probe for partition in range(self.partitions) for probe in partition_probes(partition)),
        ]
        pipe = self._client.pipeline(transaction=False)
        for _, probe in probes:
            pipe.execute_command(*probe)
        replies = pipe.execute(raise_on_error=False)
        return [name for (name, _), reply in zip(probes, replies, strict=True) if is_mistyped(reply)]

    def loads(self, time_ms: int) -> list[PartitionLoad]:
        """Every partition's, without those of a node that is away."""
        pipe = self._client.pipeline(transaction=False)
        for partition in range(self.partitions):
            for stream in (keys.commands(partition), keys.bot_tasks(partition)):
                pipe.xlen(stream)
                pipe.xrange(stream, count=1)
            pipe.xlen(keys.dead_letters(partition))
        replies = iter(pipe.execute(raise_on_error=False))
        return [
            PartitionLoad(
                partition, commands, _age_ms(first, time_ms), tasks, _age_ms(first_task, time_ms), dead
            )
            for partition, commands, first, tasks, first_task, dead in zip(
                range(self.partitions), *[replies] * 5, strict=True
            )
            if not any(isinstance(reply, Exception) for reply in (commands, first, tasks, first_task, dead))
        ]

    def _connections(self) -> Iterator[tuple[str, Client]]:
        cluster: Client = self._client
        if not isinstance(self._client, RedisCluster):
            yield "", cluster
            return
        for node in cluster.get_primaries():
            yield node.name, cluster.get_redis_connection(node)


def _age_ms(first_entries: Reply, time_ms: int) -> int | None:
    """The age of a stream's oldest entry: its id begins with when it was added."""
    return max(0, time_ms - int(first_entries[0][0].partition(b"-")[0])) if first_entries else None


def _read_node(address: str, connection: Client) -> EngineNode:
    info: Mapping[str, Reply] = connection.info()
    seconds, microseconds = connection.time()
    product = "valkey" if "valkey_version" in info else "redis"
    is_aof_on = bool(info.get("aof_enabled", 0))
    return EngineNode(
        address=address,
        product=f"{product} {info.get('valkey_version', info.get('redis_version', NOT_SHOWN))}",
        role=str(info.get("role", NOT_SHOWN)),
        replicas=int(info.get("connected_slaves", 0)),
        aof=_read_setting(connection, "appendfsync") if is_aof_on else "off",
        is_aof_well=info.get("aof_last_write_status", "ok") == "ok",
        eviction=str(info.get("maxmemory_policy", NOT_SHOWN)),
        evicted_keys=int(info.get("evicted_keys", 0)),
        used_bytes=int(info.get("used_memory", 0)),
        max_bytes=int(info.get("maxmemory", 0)),
        time_ms=seconds * 1000 + microseconds // 1000,
    )


def _read_setting(connection: Client, name: str) -> str:
    try:
        value: str = connection.config_get(name).get(name, NOT_SHOWN)
    except ResponseError:
        return NOT_SHOWN
    return value


PIECE_BYTES: Final = 1 << 20
SILENT_S: Final = 60.0  # an engine that prepares a snapshot says every second that it does
MARK_BYTES: Final = 40  # by which the end of a stream of unknown length is known
MAX_LINE_BYTES: Final = 256


def stream_snapshot(client: Client) -> Iterator[bytes]:
    """The bytes of a node's snapshot, in pieces. `client` is a blocking one of a single engine.

    Raises ConnectionError: the stream ends too early; ResponseError: the user may not have it."""
    with closing(_Connection(client)) as connection:
        connection.ask()
        yield from connection.read_pieces()


class _Connection:
    """A connection that is no more redis-py's once the snapshot is asked for."""

    def __init__(self, client: Client) -> None:
        self._connection = client.connection_pool.make_connection()
        self._connection.connect()  # also TLS, user and password
        self._socket: socket.socket = self._connection._sock
        self._socket.settimeout(SILENT_S)

    def close(self) -> None:
        """Let go of the engine, which stops to send."""
        self._connection.disconnect()

    def ask(self) -> None:
        """Ask for the snapshot alone. Raises ResponseError."""
        for words in (("capa", "eof"), ("rdb-only", "1")):
            self._connection.send_command("REPLCONF", *words)
            try:
                self._connection.read_response()
            except ResponseError as error:
                if "NOPERM" in str(error) or words[0] == "capa":
                    raise
        self._connection.send_command("SYNC")

    def read_pieces(self) -> Iterator[bytes]:
        """What the engine sends, up to the snapshot's end."""
        head = self._read_head()
        if head.startswith(b"$EOF:"):
            yield from self._read_to_mark(head[5:])
        elif head.startswith(b"$"):
            yield from self._read_length(int(head[1:]))
        else:
            raise ResponseError(head.lstrip(b"-").decode(errors="replace"))

    def _read_head(self) -> bytes:
        """The first line that says something: an engine that isn't ready sends empty ones."""
        line = b""
        while not line.strip() or not line.endswith(b"\n"):
            if line == b"\n":
                line = b""
            if len(line) > MAX_LINE_BYTES:
                raise ConnectionError("the engine sends no snapshot")
            line += self._receive(1)
        return line.strip()

    def _read_length(self, left: int) -> Iterator[bytes]:
        while left:
            piece = self._receive(min(left, PIECE_BYTES))
            left -= len(piece)
            yield piece

    def _read_to_mark(self, mark: bytes) -> Iterator[bytes]:
        if len(mark) != MARK_BYTES:
            raise ConnectionError("the engine names no end of its snapshot")
        unread = b""
        while not unread.endswith(mark):
            if len(unread) > MARK_BYTES:
                yield unread[:-MARK_BYTES]
                unread = unread[-MARK_BYTES:]
            unread += self._receive(PIECE_BYTES)
        if rest := unread[:-MARK_BYTES]:
            yield rest

    def _receive(self, most: int) -> bytes:
        try:
            piece = self._socket.recv(most)
        except OSError as error:
            raise ConnectionError(f"the snapshot was cut off: {error}") from None
        if not piece:
            raise ConnectionError("the engine ended the snapshot too early")
        return piece
