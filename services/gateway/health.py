"""The health of all that games need, as far as a gateway sees it: engine, services, what waits for them.

The gateway looks every `POLL_INTERVAL_S` who is there, and every other time what waits: so /health/ready costs
nothing, and faults are logged though nobody asks.

It looks at the engine's settings too, at the start and every few seconds, and tells which of them break promises.
Games go on meanwhile: what can't be promised any more is refused by level (`LEVEL-1`). With
`LEDGERLINE_STRICT_ENGINE` a gateway doesn't start on such an engine.
"""

from __future__ import annotations

import asyncio
import time
from collections import Counter
from collections.abc import Callable, Mapping
from contextlib import closing, suppress
from functools import partial
from pathlib import Path
from time import monotonic
from typing import Final, Literal, NamedTuple

from services.gateway.following.hub import AnswerWatch, Hub
from services.gateway.models.response_models import EngineHealth, MemberHealth, Readiness, WaitingTasks
from services.ledger.async_ledger import AsyncLedger
from services.ledger.engine.connection import EngineUnavailableError, connect
from services.ledger.operations.backlog_queries import (
    AUDITOR,
    BOT_TASKS,
    BOTS,
    COMMANDS,
    REFEREE,
    SILENT_S,
    TASK_STALL_S,
    Backlog,
    BacklogOrError,
    Heartbeats,
    ServiceKind,
)
from services.ledger.operations.engine_examination import DiskRoom, read_rooms, seen_folders
from services.ledger.operations.engine_settings import (
    EngineCapabilities,
    WaitaofTrial,
    broken_promises,
    probe_nodes,
    unknown_settings,
)
from services.ledger.ports import ENGINE_ERRORS
from services.metrics import declared as metrics
from services.metrics.declared import Labels
from services.runtime.logging_setup import get_logger
from services.runtime.worker_loop import write_refusal

log = get_logger("gateway")
POLL_INTERVAL_S: Final = 1.0
NODE_TIMEOUT_S: Final = 2.0  # a node that answers later counts as away
MAX_LOOK_S: Final = 2.0  # between two looks; what is longer, gateway or engine stood still
EngineStatus = Literal["ok", "away", "refuses writes"]


class NodeHealth(NamedTuple):
    """The last answer of a node of the engine, and the reason if it takes no writes."""

    status: EngineStatus
    why: str = ""


class LastSign(NamedTuple):
    """A heartbeat, and when this gateway saw it first, in seconds that it has watched."""

    heartbeat_ms: float
    seen_s: float


class MemberWatch:
    """Logs a line when a kind of service begins to be missing, and one when it is over. Only time in which this gateway
    could look counts: one that stood still itself, or whose engine did, misses nobody."""

    def __init__(self, kind: ServiceKind, now_s: float) -> None:
        self.kind = kind
        self.last_signs: dict[str, LastSign] = {}
        self.tasks = 0  # that wait for such a service
        self.is_hidden = self.is_missing = False
        self._looked_s, self._watched_s, self._last_seen_s = now_s, 0.0, 0.0

    def update(self, heartbeats: Heartbeats, now_s: float, tasks: int = 0) -> None:
        """Take the members as they were read now, and how many tasks wait for them. Where their key holds another type,
        some may be there that nobody sees. One without any other keeps its place there when it dies."""
        self._watched_s += min(now_s - self._looked_s, MAX_LOOK_S)
        self._looked_s, self.tasks = now_s, tasks
        if self.is_hidden != (heartbeats is None):
            self.is_hidden = not self.is_hidden
            if self.is_hidden:
                event = f"key holds another type: {self.kind.label}s can't be seen"
                log.error(event, key=self.kind.members_key)
        if heartbeats is None:
            self.last_signs, self._last_seen_s = {}, self._watched_s
        else:
            self.last_signs = {name: self._sign(name, each) for name, each in heartbeats.items()}
        self._note_absence()

    @property
    def silence_s(self) -> float:
        """How long ago the last sign of any member was."""
        return self._watched_s - self._last_seen_s

    @property
    def is_silent(self) -> bool:
        """Whether no member gives a sign any more."""
        return self.silence_s >= SILENT_S

    def problem(self) -> str:
        """What is wrong and what to do, in a sentence; '' where nothing is."""
        if self.is_hidden:
            return f"{self.kind.label}s can't be seen: the key {self.kind.members_key} holds another type"
        return self.kind.describe_absence(self.silence_s, self.tasks) if self.is_missing else ""

    def last_signs_s(self) -> dict[str, float]:
        """How long ago each member's last sign was seen, by name."""
        return {name: self._watched_s - sign.seen_s for name, sign in sorted(self.last_signs.items())}

    def _sign(self, name: str, heartbeat_ms: float) -> LastSign:
        known = self.last_signs.get(name)
        if known is not None and known.heartbeat_ms == heartbeat_ms:
            return known
        self._last_seen_s = self._watched_s
        return LastSign(heartbeat_ms, self._watched_s)

    def _note_absence(self) -> None:
        is_missed = self.kind.is_missed(was_there=bool(self.last_signs), tasks=self.tasks)
        if self.is_missing == (self.is_silent and is_missed):
            return
        self.is_missing = not self.is_missing
        if self.is_missing:
            fields = {"last_sign_s": round(self.silence_s, 1), "tasks": self.tasks}
            log.warning(f"no {self.kind.label}: {self.kind.waiting}", **fields)
        elif self.is_silent:
            log.warning(f"nothing waits for a {self.kind.label} any more")
        else:
            log.warning(f"{self.kind.label}s are back", names=sorted(self.last_signs))


class Waiting(NamedTuple):
    """What waits in a partition, the oldest of it since a moment of the gateway's own clock."""

    backlog: Backlog
    since_s: float


class PartitionWatch:
    """Notices partitions in which the oldest of a queue waits for `stall_s`. Each is logged once when that
    begins, and once when it is over. Ages go by this process's clock: no wall clock makes a command old."""

    def __init__(self, stall_s: float, complaint: str) -> None:
        self.stall_s, self.complaint = stall_s, complaint
        self.waiting: dict[int, Waiting] = {}
        self.stalled: dict[int, float] = {}  # by partition: since when the oldest waits
        self.unreadable: set[int] = set()  # their node is away, or a key of theirs holds another type

    def update(self, backlogs: Mapping[int, BacklogOrError], now_s: float) -> None:
        """Take what was read of some partitions. One that couldn't be read is as it was."""
        for partition, backlog in sorted(backlogs.items()):
            if isinstance(backlog, Backlog):
                self.unreadable.discard(partition)
                self._update_partition(partition, backlog, now_s)
            else:
                self.unreadable.add(partition)

    def count(self) -> int:
        """How many wait."""
        return sum(waiting.backlog.waiting for waiting in self.waiting.values())

    def oldest_s(self, now_s: float) -> float | None:
        """How long the oldest has waited; None if none waits."""
        return max((now_s - waiting.since_s for waiting in self.waiting.values()), default=None)

    def _update_partition(self, partition: int, backlog: Backlog, now_s: float) -> None:
        before = self.waiting.pop(partition, None)
        if backlog.waiting:
            goes_on = before is not None and before.backlog.oldest_mark == backlog.oldest_mark
            since_s = before.since_s if before is not None and goes_on else now_s
            self.waiting[partition] = Waiting(backlog, since_s)
            if now_s - since_s >= self.stall_s and partition not in self.stalled:
                self.stalled[partition] = since_s
                fields = {"waiting": backlog.waiting, "oldest_s": round(now_s - since_s, 1)}
                log.warning(f"partition stalled: {self.complaint}", partition=partition, **fields)
            if goes_on:
                return
        if partition in self.stalled:
            stalled_s = round(now_s - self.stalled.pop(partition), 1)
            log.warning("partition goes on", partition=partition, stalled_s=stalled_s)


class HealthWatch:
    """Polls the engine, as a member itself. A stalled partition is one whose oldest command gets no verdict for
    `stall_s`. What `settings` found is a part of the health."""

    def __init__(
        self,
        ledger: AsyncLedger,
        answers: AnswerWatch,
        stall_s: float,
        monotonic_s: Callable[[], float] = time.monotonic,
        settings: EngineSettingsWatch | None = None,
    ) -> None:
        self.ledger, self.backlogs = ledger, ledger.backlogs()
        self.answers, self.monotonic_s = answers, monotonic_s
        self.partitions = PartitionWatch(stall_s, "its commands get no verdict")
        self.bot_tasks = PartitionWatch(TASK_STALL_S, "its bots don't answer")
        self.members = {kind: MemberWatch(kind, monotonic_s()) for kind in (REFEREE, BOTS, AUDITOR)}
        self.settings = settings
        self.nodes: dict[str, NodeHealth] = {}
        self.dead_letters: dict[int, int] = {}  # by partition
        self._node_of: dict[int, str] = {}  # each partition's, at the last poll
        answers.explain = self.problems

    async def run(self) -> None:
        """Poll until cancelled."""
        try:
            while True:
                await self.poll()
                await asyncio.sleep(POLL_INTERVAL_S)
                await self._look_at_members()
                await asyncio.sleep(POLL_INTERVAL_S)
        finally:
            with suppress(*ENGINE_ERRORS, TimeoutError):
                async with asyncio.timeout(NODE_TIMEOUT_S):
                    await self.ledger.leave()

    async def poll(self) -> None:
        """Look once."""
        try:
            async with asyncio.timeout(NODE_TIMEOUT_S):
                by_node = await self.backlogs.partitions_by_node()
        except (*ENGINE_ERRORS, TimeoutError) as error:
            self._note_nodes({name: _judge(error) for name in self.nodes or ("",)})
            return
        self._note_moves(
            {partition: name for name, partitions in by_node.items() for partition in partitions}
        )
        nodes = await asyncio.gather(*(self._poll_node(partitions) for partitions in by_node.values()))
        self._note_nodes(dict(zip(by_node, nodes, strict=True)))
        await self._look_at_members()
        self.answers.end_if_over(is_ready=self.is_ready())

    async def _look_at_members(self) -> None:
        """Look who is there. Where this gateway can't send its own heartbeat, nobody can, and nobody is missing."""
        with suppress(*ENGINE_ERRORS, TimeoutError):
            async with asyncio.timeout(NODE_TIMEOUT_S):
                await self.ledger.beat()
                members = await self.backlogs.read_heartbeats()
                disputes = await self.backlogs.count_disputes() if self.members[AUDITOR].is_silent else 0
            tasks = {BOTS: self.bot_tasks.count(), AUDITOR: disputes}
            for kind, watch in self.members.items():
                watch.update(members[kind], self.monotonic_s(), tasks.get(kind, 0))

    async def _poll_node(self, partitions: list[int]) -> NodeHealth:
        try:
            async with asyncio.timeout(NODE_TIMEOUT_S):
                for watch, queue in ((self.partitions, COMMANDS), (self.bot_tasks, BOT_TASKS)):
                    watch.update(await self.backlogs.read(partitions, queue), self.monotonic_s())
                self.dead_letters.update(await self.backlogs.count_dead_letters(partitions))
                await self._try_write(partitions[0])
        except (*ENGINE_ERRORS, TimeoutError) as error:
            metrics.ENGINE_FAILURES.add("refused" if write_refusal(error) else "away")
            return _judge(error)
        return NodeHealth("ok")

    def _note_moves(self, node_of: dict[int, str]) -> None:
        """Count the partitions that are on another node than at the last poll."""
        moved = [each for each, name in node_of.items() if self._node_of.get(each, name) != name]
        metrics.MOVED_PARTITIONS.add(count=len(moved))
        self._node_of.update(node_of)

    async def _try_write(self, partition: int) -> None:
        began_s = time.perf_counter()
        try:
            await self.backlogs.try_write(partition)
        finally:
            metrics.ENGINE_WRITE_SECONDS.observe(time.perf_counter() - began_s)

    def _note_nodes(self, nodes: dict[str, NodeHealth]) -> None:
        """Log what changed of refusals. An engine that is away is logged by the hub."""
        for name, node in nodes.items():
            before = self.nodes.get(name, NodeHealth("ok")).status
            fields = {"node": name} if name else {}
            if node.status == "refuses writes" != before:
                log.warning(
                    "engine refuses writes: commands wait, or are answered unknown", why=node.why, **fields
                )
            if before == "refuses writes" != node.status == "ok":
                log.warning("engine takes writes again", **fields)
        self.nodes = nodes

    # -- what is known -----------------------------------------------------------------------

    def is_ready(self) -> bool:
        """Whether a command that is sent now can be expected to get its verdict."""
        now_s = self.monotonic_s()
        takes_writes = any(node.status == "ok" for node in self.nodes.values())
        is_stuck = (
            bool(self.partitions.stalled) and now_s - self.answers.last_verdict_s >= self.partitions.stall_s
        )
        return takes_writes and not self.members[REFEREE].is_missing and not is_stuck

    def problems(self) -> list[str]:
        """All that is wrong, in sentences. Everybody may read it: no address is in it."""
        found = [
            f"{'the engine' if len(self.nodes) == 1 else f'{len(group)} of {len(self.nodes)} nodes of the engine'}: {verb}"
            for status, verb in _VERB.items()
            if (group := [node for node in self.nodes.values() if node.status == status])
        ]
        if not self.nodes:
            found.append("the engine wasn't asked yet")
        found += [problem for watch in self.members.values() if (problem := watch.problem())]
        for watch, what in ((self.partitions, "no verdict"), (self.bot_tasks, "no move of a bot")):
            if stalled := sorted(watch.stalled):
                listed = ", ".join(map(str, stalled))
                found.append(f"{what} for {watch.stall_s:g} s or longer in partitions: {listed}")
        if unreadable := sorted(self.partitions.unreadable | self.bot_tasks.unreadable):
            found.append(f"partitions that can't be read: {', '.join(map(str, unreadable))}")
        if self.answers.is_unknown():
            found.append("answers are unknown")
        return found + (self.settings.problems() if self.settings else [])

    def readiness(self, is_listening: bool, *, is_stopping: bool = False) -> Readiness:
        """The whole of it, as /health/ready answers."""
        now_s, problems = self.monotonic_s(), self.problems()
        if not is_listening:
            problems.append("no entry reaches those who follow games")
        if is_stopping:
            problems.append("this gateway stops: others take its place")
        is_ready = is_listening and not is_stopping and self.is_ready()
        worst = max(self.nodes.values(), key=lambda node: _SEVERITY[node.status], default=NodeHealth("away"))
        oldest_s = self.partitions.oldest_s(now_s)
        return Readiness(
            status="unready" if not is_ready else "degraded" if problems else "ok",
            problems=problems,
            engine=EngineHealth(status=worst.status),
            referees=self._members(REFEREE),
            bots=self._members(BOTS),
            auditors=self._members(AUDITOR),
            waiting=WaitingTasks(
                commands=self.partitions.count(),
                oldest_s=None if oldest_s is None else round(oldest_s, 1),
                stalled_partitions=sorted(self.partitions.stalled),
                bot_tasks=self.bot_tasks.count(),
            ),
        )

    def _members(self, kind: ServiceKind) -> list[MemberHealth]:
        return [
            MemberHealth(name=name, last_sign_s=round(seconds, 1))
            for name, seconds in self.members[kind].last_signs_s().items()
        ]


_VERB: Final[dict[EngineStatus, str]] = {"away": "away", "refuses writes": "refusing writes"}
_SEVERITY: Final = {"ok": 0, "refuses writes": 1, "away": 2}


def _judge(error: BaseException) -> NodeHealth:
    if refusal := write_refusal(error):
        return NodeHealth("refuses writes", refusal)
    return NodeHealth("away", str(error) or f"no answer within {NODE_TIMEOUT_S:g} s")


CHECK_INTERVAL_S: Final = 3.0
FindFolders = Callable[[], Mapping[str, Path]]  # by whose they are
Probe = Callable[[Mapping[str, WaitaofTrial | None]], Mapping[str, EngineCapabilities]]


class UnsoundEngineError(EngineUnavailableError):
    """The engine's settings break promises, or can't be seen, and the gateway is told not to start then."""


class EngineSettingsWatch:
    """Keeps what was found of the engine's nodes. Every problem is logged when it appears and when none is
    left."""

    def __init__(self, probe: Probe, find_folders: FindFolders = dict) -> None:
        self._probe, self._find_folders = probe, find_folders
        self.nodes: dict[str, EngineCapabilities] = {}
        self.disks: dict[str, DiskRoom] = {}  # by whose they are
        self.low_disks: dict[str, DiskRoom] = {}  # of these

    def check(self) -> None:
        """Look once. Raises one of ENGINE_ERRORS, or EngineUnavailableError: no node answers."""
        found = self._probe({name: node.trial for name, node in self.nodes.items()})
        for name, node in found.items():
            self._log_changes(name, self.nodes.get(name, EngineCapabilities()), node)
        self.nodes.update(found)
        self._look_at_disks()

    def require_sound(self) -> None:
        """Raise UnsoundEngineError if a node's settings break promises, or can't be seen."""
        if problems := self._settings_problems():
            raise UnsoundEngineError(f"LEDGERLINE_STRICT_ENGINE is set, and {'; '.join(problems)}")

    def problems(self) -> list[str]:
        """The settings that break promises, or can't be seen, and disks that are nearly full, in sentences; no address is
        in them."""
        disks = [f"of the {whose}'s disk {room}: make room" for whose, room in self.low_disks.items()]
        return [*self._settings_problems(), *disks]

    def _settings_problems(self) -> list[str]:
        return [*dict.fromkeys(problem for node in self.nodes.values() for problem in _problems(node))]

    def _look_at_disks(self) -> None:
        rooms = read_rooms(self._find_folders())
        low = {whose: room for whose, room in rooms.items() if room.is_low}
        for whose in low.keys() - self.low_disks.keys():
            log.error("a disk is nearly full", of=whose, room=str(low[whose]))
        for whose in self.low_disks.keys() - low.keys():
            log.warning("a disk has room again", of=whose)
        self.disks, self.low_disks = rooms, low

    async def run(self) -> None:
        """Look every CHECK_INTERVAL_S until cancelled."""
        while True:
            await asyncio.sleep(CHECK_INTERVAL_S)
            try:
                await asyncio.to_thread(self.check)
            except (*ENGINE_ERRORS, EngineUnavailableError):
                continue  # that it is away, others say

    def _log_changes(self, name: str, before: EngineCapabilities, node: EngineCapabilities) -> None:
        fields = {"node": name} if name else {}
        known = _problems(before) if name in self.nodes else []
        problems = _problems(node)
        for problem in problems:
            if problem not in known:
                log.error("the engine's settings break promises", problem=problem, **fields)
        if known and not problems:
            log.warning("the engine's settings break no promise any more", **fields)
        if not problems and node.unavailable_reason not in {"", before.unavailable_reason}:
            log.warning("nobody can be answered at level durable", why=node.unavailable_reason, **fields)
        dropped = node.settings.evicted_keys - (
            before.settings.evicted_keys if before.settings.run_id == node.settings.run_id else 0
        )
        if dropped > 0:
            log.error("the engine dropped keys: games are lost or damaged", keys=dropped, **fields)


def _problems(node: EngineCapabilities) -> list[str]:
    return [*broken_promises(node.settings), *unknown_settings(node.settings)]


def probe_url(url: str, partitions: int) -> Probe:
    """A probe of the engine or the cluster at this address, by a connection of its own."""

    def probe(known: Mapping[str, WaitaofTrial | None]) -> Mapping[str, EngineCapabilities]:
        with closing(connect(url)) as client:
            return probe_nodes(client, partitions, known, monotonic)

    return probe


def watch_engine(
    url: str, partitions: int, *, strict: bool, archive: Path | None = None
) -> EngineSettingsWatch:
    """A watch that has looked once, also at the disk of the archive's folder. Raises EngineUnavailableError: the engine isn't sound, or shows nothing, and
    `strict` is set."""
    watch = EngineSettingsWatch(probe_url(url, partitions), partial(seen_folders, url, archive))
    try:
        watch.check()
    except ENGINE_ERRORS as error:  # it went away again
        if strict:
            raise EngineUnavailableError(f"the engine doesn't show its settings: {error}") from None
    if strict:
        watch.require_sound()
    return watch


def show_system(
    hub: Hub, health: HealthWatch, settings: EngineSettingsWatch | None, is_listening: Callable[[], bool]
) -> None:
    """Show how many follow games, and what the watches find."""
    metrics.FOLLOWERS.read_from(hub.count_followers)
    metrics.FOLLOWED_GAMES.read_from(lambda: len(hub.followed_games))
    _show_health(health, is_listening)
    if settings is not None:
        _show_engine(settings)


def _show_health(watch: HealthWatch, is_listening: Callable[[], bool]) -> None:
    """Show what a watch of the system finds."""
    queues = {"commands": watch.partitions, "bot_tasks": watch.bot_tasks}

    def by_partition(of: Callable[[PartitionWatch], Mapping[int, float]]) -> Mapping[Labels, float]:
        found = {queue: of(each) for queue, each in queues.items()}
        return {
            (queue, str(partition)): values.get(partition, 0)
            for queue, values in found.items()
            for partition in range(watch.ledger.partitions)
        }

    def lengths(queue: PartitionWatch) -> Mapping[int, float]:
        return {partition: each.backlog.waiting for partition, each in queue.waiting.copy().items()}

    def ages(queue: PartitionWatch) -> Mapping[int, float]:
        now_s = watch.monotonic_s()
        return {partition: now_s - each.since_s for partition, each in queue.waiting.copy().items()}

    def services() -> Mapping[Labels, float]:
        return {
            (kind.command,): sum(last_s < SILENT_S for last_s in members.last_signs_s().values())
            for kind, members in watch.members.items()
        }

    def nodes() -> Mapping[Labels, float]:
        states = Counter(node.status.replace(" ", "_") for node in watch.nodes.copy().values())
        return {(state,): states[state] for state in ("ok", "away", "refuses_writes")}

    metrics.READY.read_from(lambda: is_listening() and watch.is_ready())
    metrics.SERVICES.read_from(services)
    metrics.QUEUE_LENGTH.read_from(lambda: by_partition(lengths))
    metrics.QUEUE_AGE.read_from(lambda: by_partition(ages))
    metrics.STALLED_PARTITIONS.read_from(
        lambda: {(queue,): len(each.stalled) for queue, each in queues.items()}
    )
    metrics.DEAD_LETTERS.read_from(
        lambda: {(str(partition),): count for partition, count in watch.dead_letters.copy().items()}
    )
    metrics.ENGINE_NODES.read_from(nodes)


def _show_engine(watch: EngineSettingsWatch) -> None:
    """Show what a watch of the engine's nodes finds of their memory and their append-only files."""

    def by_node(of: Callable[[EngineCapabilities], float]) -> Callable[[], Mapping[Labels, float]]:
        return lambda: {(name,): of(node) for name, node in watch.nodes.copy().items()}

    metrics.DISK_FREE.read_from(lambda: {(whose,): room.free for whose, room in watch.disks.items()})
    metrics.DISK_SIZE.read_from(lambda: {(whose,): room.total for whose, room in watch.disks.items()})
    metrics.ENGINE_MEMORY.read_from(by_node(lambda node: node.load.used_bytes))
    metrics.ENGINE_MEMORY_LIMIT.read_from(by_node(lambda node: node.settings.max_bytes))
    metrics.ENGINE_EVICTIONS.read_from(by_node(lambda node: node.settings.evicted_keys))
    metrics.AOF_BYTES.read_from(by_node(lambda node: node.load.aof_bytes))
    metrics.AOF_WELL.read_from(by_node(lambda node: node.load.is_aof_written))
    metrics.DELAYED_FSYNCS.read_from(by_node(lambda node: node.load.delayed_fsyncs))
