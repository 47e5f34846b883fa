"""The health of all that a gateway's answers need, as far as it sees it: engine, referees, backlog.

The gateway looks every `POLL_INTERVAL_S`: so /health/ready costs nothing, and faults are logged though nobody
asks.
"""

from __future__ import annotations

import asyncio
import time
from collections.abc import Callable, Mapping
from typing import Final, Literal, NamedTuple

from services.gateway.following.answer_watch import AnswerWatch
from services.gateway.models.health_models import EngineHealth, Readiness, RefereeHealth, WaitingCommands
from services.ledger.async_ledger import AsyncLedger
from services.ledger.engine.errors import ENGINE_ERRORS
from services.ledger.engine.keys import MEMBERSHIP_KEY
from services.ledger.operations.backlog_queries import Backlog, BacklogOrError
from services.runtime.logging_setup import get_logger
from services.runtime.worker_loop import write_refusal

log = get_logger("gateway")
POLL_INTERVAL_S: Final = 2.0
NODE_TIMEOUT_S: Final = 3.0  # a node that answers later counts as away
SILENT_S: Final = 5.0  # without a sign of any referee: their leases have ended, and nobody took them over
FORGET_S: Final = 600.0  # a name in the membership that is silent for so long
EngineStatus = Literal["ok", "away", "refuses writes"]


class NodeHealth(NamedTuple):
    """The last answer of a node of the engine, and the reason if it takes no writes."""

    status: EngineStatus
    why: str = ""


class Waiting(NamedTuple):
    """The commands that wait in a partition, the oldest of them since a moment of the gateway's own clock."""

    backlog: Backlog
    since_s: float


class PartitionWatch:
    """Notices partitions whose oldest command gets no verdict for `stall_s`. Each is logged once when that
    begins, and once when it is over. Ages go by this process's clock: no wall clock makes a command old."""

    def __init__(self, stall_s: float) -> None:
        self.stall_s = stall_s
        self.waiting: dict[int, Waiting] = {}
        self.stalled: dict[int, float] = {}  # by partition: since when its oldest command waits
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
        """How many commands wait."""
        return sum(waiting.backlog.waiting for waiting in self.waiting.values())

    def oldest_s(self, now_s: float) -> float | None:
        """How long the oldest command has waited; None if none waits."""
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
                log.warning("partition stalled: its commands get no verdict", partition=partition, **fields)
            if goes_on:
                return
        if partition in self.stalled:
            stalled_s = round(now_s - self.stalled.pop(partition), 1)
            log.warning("partition goes on", partition=partition, stalled_s=stalled_s)


class LastSign(NamedTuple):
    """A heartbeat, and when this gateway saw it first by its own clock."""

    heartbeat_ms: float
    seen_s: float


class RefereeWatch:
    """Notices a time without any referee, and logs a line when it begins and one when it is over."""

    def __init__(self, now_s: float) -> None:
        self.last_signs: dict[str, LastSign] = {}
        self._last_seen_s = now_s
        self._is_silent = self.is_hidden = False

    def update(self, heartbeats: Mapping[str, float] | None, now_s: float) -> None:
        """Take the membership as it was read: None where its key holds another type, and referees may be there that
        nobody sees. A referee without any other keeps its place there when it dies."""
        if self.is_hidden != (heartbeats is None):
            self.is_hidden = not self.is_hidden
            if self.is_hidden:
                log.error("key holds another type: referees can't be seen", key=MEMBERSHIP_KEY)
        if heartbeats is None:
            self.last_signs, self._last_seen_s = {}, now_s
            return
        signs = {}
        for name, heartbeat_ms in heartbeats.items():
            known = self.last_signs.get(name)
            if known is None or known.heartbeat_ms != heartbeat_ms:
                known = LastSign(heartbeat_ms, now_s)
                self._last_seen_s = now_s
            if now_s - known.seen_s < FORGET_S:
                signs[name] = known
        self.last_signs = signs
        if self.is_silent(now_s) != self._is_silent:
            self._is_silent = not self._is_silent
            if self._is_silent:
                log.warning("no referee: commands wait", last_sign_s=round(self.silence_s(now_s), 1))
            else:
                log.warning("referees are back", names=sorted(signs))

    def silence_s(self, now_s: float) -> float:
        """How long ago the last sign of any referee was."""
        return now_s - self._last_seen_s

    def is_silent(self, now_s: float) -> bool:
        """Whether no referee gives a sign any more."""
        return self.silence_s(now_s) >= SILENT_S


class HealthWatch:
    """Polls the engine. A stalled partition is one whose oldest command gets no verdict for `stall_s`."""

    def __init__(
        self,
        ledger: AsyncLedger,
        answers: AnswerWatch,
        stall_s: float,
        monotonic_s: Callable[[], float] = time.monotonic,
    ) -> None:
        self.backlogs, self.answers, self.monotonic_s = ledger.backlogs(), answers, monotonic_s
        self.partitions = PartitionWatch(stall_s)
        self.referees = RefereeWatch(monotonic_s())
        self.nodes: dict[str, NodeHealth] = {}
        answers.explain = self.problems

    async def run(self) -> None:
        """Poll until cancelled."""
        while True:
            await self.poll()
            await asyncio.sleep(POLL_INTERVAL_S)

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
        try:
            async with asyncio.timeout(NODE_TIMEOUT_S):
                self.referees.update(await self.backlogs.read_heartbeats(), self.monotonic_s())
        except (*ENGINE_ERRORS, TimeoutError):
            self.referees.update({}, self.monotonic_s())
        self.answers.end_if_over(is_ready=self.is_ready())

    async def _poll_node(self, partitions: list[int]) -> NodeHealth:
        try:
            async with asyncio.timeout(NODE_TIMEOUT_S):
                self.partitions.update(await self.backlogs.read(partitions), self.monotonic_s())
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
        return takes_writes and not self.referees.is_silent(now_s) and not is_stuck

    def problems(self) -> list[str]:
        """All that is wrong, in sentences. Everybody may read it: no address is in it."""
        now_s = self.monotonic_s()
        found = [
            f"{'the engine' if len(self.nodes) == 1 else f'{len(group)} of {len(self.nodes)} nodes of the engine'}: {verb}"
            for status, verb in _VERB.items()
            if (group := [node for node in self.nodes.values() if node.status == status])
        ]
        if not self.nodes:
            found.append("the engine wasn't asked yet")
        if self.referees.is_hidden:
            found.append(f"referees can't be seen: the key {MEMBERSHIP_KEY} holds another type")
        if self.referees.is_silent(now_s):
            found.append(f"no referee gave a sign for {self.referees.silence_s(now_s):.1f} s")
        if stalled := sorted(self.partitions.stalled):
            listed = ", ".join(map(str, stalled))
            found.append(f"no verdict for {self.partitions.stall_s:g} s or longer in partitions: {listed}")
        if unreadable := sorted(self.partitions.unreadable):
            found.append(f"partitions that can't be read: {', '.join(map(str, unreadable))}")
        if self.answers.is_unknown():
            found.append("answers are unknown")
        return found

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
            referees=[
                RefereeHealth(name=name, last_sign_s=round(now_s - sign.seen_s, 1))
                for name, sign in sorted(self.referees.last_signs.items())
            ],
            waiting=WaitingCommands(
                commands=self.partitions.count(),
                oldest_s=None if oldest_s is None else round(oldest_s, 1),
                stalled_partitions=sorted(self.partitions.stalled),
            ),
        )


_VERB: Final[dict[EngineStatus, str]] = {"away": "away", "refuses writes": "refusing writes"}
_SEVERITY: Final = {"ok": 0, "refuses writes": 1, "away": 2}


def _judge(error: BaseException) -> NodeHealth:
    if refusal := write_refusal(error):
        return NodeHealth("refuses writes", refusal)
    return NodeHealth("away", str(error) or f"no answer within {NODE_TIMEOUT_S:g} s")
