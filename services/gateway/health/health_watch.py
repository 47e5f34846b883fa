"""The health of all that games need, as far as a gateway sees it: engine, services, what waits for them.

The gateway looks every `POLL_INTERVAL_S` who is there, and every other time what waits: so /health/ready costs nothing,
and faults are logged though nobody asks.
"""

from __future__ import annotations

import asyncio
import time
from collections.abc import Callable, Mapping
from contextlib import suppress
from typing import Final, Literal, NamedTuple

from services.gateway.following.answer_watch import AnswerWatch
from services.gateway.health.engine_settings_watch import EngineSettingsWatch
from services.gateway.models.health_models import EngineHealth, MemberHealth, Readiness, WaitingTasks
from services.ledger.async_ledger import AsyncLedger
from services.ledger.engine.errors import ENGINE_ERRORS
from services.ledger.operations.backlog_queries import (
    BOT_TASKS,
    COMMANDS,
    TASK_STALL_S,
    Backlog,
    BacklogOrError,
)
from services.ledger.operations.service_kinds import AUDITOR, BOTS, REFEREE, SILENT_S, Heartbeats, ServiceKind
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
                await self.backlogs.try_write(partitions[0])
        except (*ENGINE_ERRORS, TimeoutError) as error:
            return _judge(error)
        return NodeHealth("ok")

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

    def readiness(self, is_listening: bool) -> Readiness:
        """The whole of it, as /health/ready answers."""
        now_s, problems = self.monotonic_s(), self.problems()
        if not is_listening:
            problems.append("no entry reaches those who follow games")
        is_ready = is_listening and self.is_ready()
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
