"""A cluster of the embedded engine on loopback: three primaries and a replica of each."""

from __future__ import annotations

import json
import signal
import subprocess
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Any, Final

import redis
from redis.crc import key_slot

from services.fast_path.engine_connection import engine_binary
from services.ledger.engine import keys
from services.ledger.engine.embedded_engine import ENGINE_CONFIG
from tests.deploy.compose import free_port

WORD: Final = "loopback"  # a cluster with a password, so that every path of a client knows it
PRIMARIES: Final = 3
SLOTS: Final = 16384
PATIENCE_S: Final = 120.0


class Node:
    """One engine of the cluster, and a client of its own to it."""

    def __init__(self, folder: Path, timeout_ms: int, unknown: Sequence[str] = ()) -> None:
        self.folder, self.timeout_ms, self.unknown = (
            folder,
            timeout_ms,
            unknown,
        )  # commands that it doesn't know
        folder.mkdir(parents=True, exist_ok=True)
        self.port, self.bus = free_port(), free_port()
        self.call: Any = redis.Redis(
            port=self.port, password=WORD, protocol=2, decode_responses=True, socket_timeout=60
        )
        self.start()

    def start(self) -> None:
        settings = {
            **ENGINE_CONFIG,
            "port": self.port,
            "cluster-port": self.bus,
            "cluster-enabled": "yes",
            "cluster-node-timeout": self.timeout_ms,
            "cluster-require-full-coverage": "no",  # the games of the other nodes go on
            "cluster-allow-replica-migration": "no",
            "cluster-replica-validity-factor": 0,
            "repl-diskless-sync-delay": 0,
            "requirepass": WORD,
            "masterauth": WORD,
            "dir": self.folder,
            "logfile": "valkey.log",
        }
        config = self.folder / "valkey.conf"
        lines = [f"{name} {json.dumps(str(value))}\n" for name, value in settings.items()]
        lines += [f'rename-command {command} ""\n' for command in self.unknown]
        config.write_text("".join(lines))
        self.process = subprocess.Popen([str(engine_binary()), str(config)], stdout=subprocess.DEVNULL)
        wait_until(self.answers, f"{self} answers")

    def answers(self) -> bool:
        assert self.process.poll() is None, (self.folder / "valkey.log").read_text()[-2000:]
        try:
            return self.call.ping() is True
        except redis.RedisError:
            return False

    @property
    def id(self) -> str:
        return str(self.call.execute_command("CLUSTER MYID"))

    def info(self, section: str) -> dict[str, Any]:
        return dict(self.call.info(section))

    def kill(self) -> None:
        """As a power cut for this process: nothing is flushed, no peer is notified."""
        self.process.kill()
        self.process.wait()
        self.call.connection_pool.disconnect()

    def __repr__(self) -> str:
        return f"node {self.port}"


class Cluster:
    """What a test does to a cluster, and sees of it from outside."""

    def __init__(self, nodes: list[Node]) -> None:
        self.nodes = nodes

    @property
    def url(self) -> str:
        return f"redis+cluster://:{WORD}@" + ",".join(f"127.0.0.1:{node.port}" for node in self.nodes[:3])

    @property
    def alive(self) -> list[Node]:
        return [node for node in self.nodes if node.process.poll() is None]

    def primaries(self) -> list[Node]:
        return [node for node in self.alive if node.info("replication")["role"] == "master"]

    def holder(self, partition: int) -> Node:
        """The node that has a partition's slot now, by its own word."""
        slot = slot_of(partition)
        found: list[Node] = []

        def look() -> bool:
            found[:] = [node for node in self.primaries() if slot in own_slots(node)]
            return len(found) == 1

        wait_until(look, f"partition {partition} has one holder")
        return found[0]

    def other_primary(self, node: Node) -> Node:
        return next(other for other in self.primaries() if other is not node)

    def await_successor(self, partition: int, dead: Node) -> Node:
        """The replica that took over, once it serves and all who live agree."""
        successor = self.holder(partition)
        assert successor is not dead
        wait_until(self.agreed, "all who live agree on a cluster")
        return successor

    def kill_with_loss(self, primary: Node, meanwhile: Callable[[], object]) -> None:
        """Kill a primary after a while in which its replica got none of what was written."""
        replica = next(
            node for node in self.alive if node is not primary and follows_port(node) == primary.port
        )
        replica.process.send_signal(signal.SIGSTOP)
        try:
            primary.call.execute_command("CLIENT KILL", "TYPE", "replica")
            meanwhile()
            primary.kill()
        finally:
            replica.process.send_signal(signal.SIGCONT)

    def revive(self, node: Node) -> None:
        """Start a dead node again, on what its disk has; it comes back as a replica."""
        node.start()
        self.await_peace()

    def promote(self, partition: int) -> None:
        """Its replica takes over from a primary that is well, which becomes the replica: nothing is lost."""
        primary = self.holder(partition)
        replica = next(node for node in self.alive if follows_port(node) == primary.port)
        replica.call.execute_command("CLUSTER FAILOVER")
        wait_until(lambda: self.holder(partition) is replica, f"{replica} has taken over")
        self.await_peace()

    def agreed(self) -> bool:
        """Whether all who live know a holder of every slot: a node's state is ok without that, as we set it up."""
        replies = [node.call.execute_command("CLUSTER INFO") for node in self.alive]
        return all(
            info["cluster_state"] == "ok" and int(info["cluster_slots_assigned"]) == SLOTS for info in replies
        )

    def await_peace(self) -> None:
        """Return when every slot is held, every replica follows, and all agree."""
        wait_until(
            lambda: self.agreed() and all(follows(node) for node in self.alive), "the cluster is whole"
        )

    # -- a slot that moves ---------------------------------------------------------------

    def begin_move(self, partition: int, to: Node) -> None:
        """From here until `end_move` the partition is half here and half there."""
        source, slot = self.holder(partition), slot_of(partition)
        to.call.execute_command("CLUSTER SETSLOT", slot, "IMPORTING", source.id)
        source.call.execute_command("CLUSTER SETSLOT", slot, "MIGRATING", to.id)

    def carry(self, source: Node, partition: int, to: Node, most: int = 10, names: Sequence[str] = ()) -> int:
        """Take some keys of the partition over, or those that are named; how many went."""
        names = names or source.call.execute_command("CLUSTER GETKEYSINSLOT", slot_of(partition), most)
        if names:
            target = ("127.0.0.1", to.port, "", 0, 10_000, "AUTH", WORD)
            source.call.execute_command("MIGRATE", *target, "KEYS", *names)
        return len(names)

    def end_move(self, source: Node, partition: int, to: Node) -> None:
        while self.carry(source, partition, to, 100):
            pass
        for node in (to, source, *(set(self.primaries()) - {to, source})):
            node.call.execute_command("CLUSTER SETSLOT", slot_of(partition), "NODE", to.id)

    def move(self, partition: int, to: Node, pause_s: float = 0.0) -> None:
        """The classic way, key by key, while clients are at it."""
        source = self.holder(partition)
        self.begin_move(partition, to)
        while self.carry(source, partition, to, 5):
            time.sleep(pause_s)
        self.end_move(source, partition, to)

    def move_at_once(self, partition: int, to: Node) -> None:
        """The way that Valkey has since 9: the slot changes its owner in one moment."""
        source, slot = self.holder(partition), slot_of(partition)
        source.call.execute_command("CLUSTER MIGRATESLOTS", "SLOTSRANGE", slot, slot, "NODE", to.id)
        wait_until(lambda: slot in own_slots(to), f"slot {slot} is at {to}")


@contextmanager
def cluster(folder: Path, timeout_ms: int = 1_500) -> Iterator[Cluster]:
    """A cluster of six engines that is formed and in peace; all are gone afterwards."""
    nodes: list[Node] = []
    try:
        for place in range(2 * PRIMARIES):
            nodes.append(Node(folder / f"node-{place}", timeout_ms))
        formed = Cluster(nodes)
        form(nodes)
        formed.await_peace()
        yield formed
    finally:
        for node in nodes:
            with suppress(ProcessLookupError):
                node.kill()
            node.call.close()


@contextmanager
def hanging(node: Node) -> Iterator[None]:
    """A node that takes connections while the block runs, and answers nothing."""
    node.process.send_signal(signal.SIGSTOP)
    try:
        yield
    finally:
        node.process.send_signal(signal.SIGCONT)


def form(nodes: list[Node]) -> None:
    """Share the slots among the first three nodes, and give each a replica."""
    primaries, replicas = nodes[:PRIMARIES], nodes[PRIMARIES:]
    for place, node in enumerate(nodes):
        node.call.execute_command("CLUSTER SET-CONFIG-EPOCH", place + 1)
        for other in nodes[:place]:
            node.call.execute_command("CLUSTER MEET", "127.0.0.1", other.port, other.bus)
    for place, node in enumerate(primaries):
        first, end = SLOTS * place // PRIMARIES, SLOTS * (place + 1) // PRIMARIES
        node.call.execute_command("CLUSTER ADDSLOTSRANGE", first, end - 1)
    wait_until(lambda: all(knows_all(node, len(nodes)) for node in nodes), "all nodes know each other")
    for node, primary in zip(replicas, primaries, strict=True):
        node.call.execute_command("CLUSTER REPLICATE", primary.id)


def knows_all(node: Node, count: int) -> bool:
    """Whether a node knows all the others by name, with no greeting under way."""
    lines = raw(node, "CLUSTER NODES").splitlines()
    return len(lines) == count and "handshake" not in "".join(lines)


def follows(node: Node) -> bool:
    """Whether a replica is in step with its primary; a primary is in step with itself."""
    replication = node.info("replication")
    return bool(replication["role"] == "master" or replication["master_link_status"] == "up")


def follows_port(node: Node) -> int:
    """The port of a replica's primary; 0 for a primary."""
    return int(node.info("replication").get("master_port", 0))


def own_slots(node: Node) -> set[int]:
    """The slots that a node holds by its own word."""
    mine = next(line for line in raw(node, "CLUSTER NODES").splitlines() if "myself" in line)
    slots: set[int] = set()
    for part in mine.split(" ")[8:]:
        if not part.startswith("["):  # those are on their way
            first, _, last = part.partition("-")
            slots.update(range(int(first), int(last or first) + 1))
    return slots


def raw(node: Node, command: str) -> str:
    """A reply as the engine writes it, before redis-py makes a dictionary of it."""
    connection = node.call.connection_pool.get_connection()
    try:
        connection.send_command(*command.split(" "))
        return str(connection.read_response())
    finally:
        node.call.connection_pool.release(connection)


def slot_of(partition: int) -> int:
    return int(key_slot(keys.hash_tag(partition).encode()))


def wait_until(holds: Callable[[], bool], what: str) -> None:
    """Look until it is so."""
    until = time.monotonic() + PATIENCE_S
    while not holds():
        assert time.monotonic() < until, f"waited for long, and still not: {what}"
        time.sleep(0.02)
