"""The whole system at one moment, as an operator may see it: what is wrong, what deserves a look, and all counts."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Final, NamedTuple

from schemas.contract import Json
from services.ledger.operations.backlog_queries import (
    AUDITOR,
    BOTS,
    REFEREE,
    SILENT_S,
    TASK_STALL_S,
    ServiceKind,
)
from services.ledger.operations.engine_settings import EngineSettings, broken_promises
from services.ledger.operations.system_status import AWAY, EngineNode, PartitionLoad, ServiceSign
from services.ledger.redis_ledger import RedisLedger
from services.referee.leases import assign_partitions

STALL_MS: Final = 10_000
FULL: Final = 0.9  # of the engine's memory


class StatusReport(NamedTuple):
    """The whole system at one moment."""

    nodes: Sequence[EngineNode]
    services: Mapping[ServiceKind, Sequence[ServiceSign]]
    shares: Mapping[str, Sequence[int]]  # the partitions of each referee that is there
    partitions: int
    loads: Sequence[PartitionLoad]  # of the partitions that can be read
    mistyped_keys: Sequence[str]  # that hold another type than Ledgerline's
    jobs: Mapping[str, int] | None  # by state; None where their engine doesn't answer
    disputes: int  # without an answer

    @property
    def dead_letters(self) -> int:
        """The number of commands that broke a referee and were put aside."""
        return sum(load.dead_letters for load in self.loads)


def read_report(ledger: RedisLedger, jobs: Mapping[str, int] | None) -> StatusReport:
    """Ask the engine for all but the jobs. Raises one of ENGINE_ERRORS."""
    status = ledger.system_status()
    nodes = status.nodes()
    time_ms = max(node.time_ms for node in nodes)  # a node that is away has none
    services = status.services(time_ms)
    present = [referee.name for referee in services[REFEREE] if referee.last_sign_s < SILENT_S]
    shares = {name: assign_partitions(name, present, ledger.partitions) for name in present}
    return StatusReport(
        nodes=nodes,
        services=services,
        shares=shares,
        partitions=ledger.partitions,
        loads=status.loads(time_ms),
        mistyped_keys=status.mistyped_keys(),
        jobs=jobs,
        disputes=status.count_disputes(),
    )


def find_problems(report: StatusReport) -> list[str]:
    """Why the system isn't healthy, in sentences; empty where it is."""
    problems = [problem for node in report.nodes for problem in _node_problems(node)]
    if unread := report.partitions - len(report.loads):
        problems.append(f"{unread} of {report.partitions} partitions can't be read")
    if report.mistyped_keys:
        problems.append(f"keys that hold another type: {', '.join(report.mistyped_keys)}")
    problems += _missing_services(report)
    stalled = [load for load in report.loads if (load.oldest_command_ms or 0) >= STALL_MS]
    if stalled:
        listed = ", ".join(str(load.partition) for load in stalled)
        problems.append(f"commands wait for {STALL_MS // 1000} s or longer in partitions: {listed}")
    late = [load for load in report.loads if (load.oldest_bot_task_ms or 0) >= 1000 * TASK_STALL_S]
    if late:
        listed = ", ".join(str(load.partition) for load in late)
        problems.append(f"bot tasks wait for {TASK_STALL_S} s or longer in partitions: {listed}")
    return problems


def _missing_services(report: StatusReport) -> list[str]:
    tasks = {BOTS: sum(load.bot_tasks for load in report.loads), AUDITOR: report.disputes}
    found = []
    for kind, signs in report.services.items():
        silence_s = min((each.last_sign_s for each in signs), default=None)
        count = tasks.get(kind, 0)
        if silence_s is not None and silence_s < SILENT_S:
            continue
        is_missed = kind.is_missed(was_there=bool(signs), tasks=count)
        if is_missed and kind.members_key not in report.mistyped_keys:
            found.append(kind.describe_absence(silence_s, count))
    return found


def find_notices(report: StatusReport) -> list[str]:
    """Things that an operator should look at, though games go on."""
    notices = []
    if report.dead_letters:
        notices.append(f"dead letters: {report.dead_letters}; `ledgerline dead list` shows them")
    if report.jobs is None:
        notices.append("the auditor's jobs can't be read (LEDGERLINE_JOBS_URL)")
    elif failed := report.jobs.get("failed"):
        notices.append(f"failed jobs: {failed}; `ledgerline jobs` shows them")
    notices += [
        f"{each.name} gave no sign for {each.last_sign_s:.0f} s"
        for signs in report.services.values()
        for each in signs
        if each.last_sign_s >= SILENT_S
    ]
    return notices


def _node_problems(node: EngineNode) -> list[str]:
    where = f"engine {node.address}".rstrip()
    found = []
    if node.role == AWAY:
        return [f"{where} doesn't answer"]
    if node.role != "master":
        found.append(f"{where} is a replica: it takes no writes")
    settings = EngineSettings(fsync_policy=node.aof, eviction=node.eviction, max_bytes=node.max_bytes)
    found += [f"{where}: {broken}" for broken in broken_promises(settings)]
    if not node.is_aof_well:
        found.append(f"{where} can't write its AOF: is the disk full?")
    if node.max_bytes and node.used_bytes >= FULL * node.max_bytes:
        found.append(f"{where} has used {node.used_bytes / node.max_bytes:.0%} of its memory")
    return found


def report_json(report: StatusReport) -> Json:
    """The report as one JSON document."""
    problems = find_problems(report)
    return {
        "healthy": not problems,
        "problems": problems,
        "notices": find_notices(report),
        "engine": [node._asdict() for node in report.nodes],
        "services": [
            {
                "name": each.name,
                "last_sign_s": round(each.last_sign_s, 1),
                **({"partitions": list(report.shares.get(each.name, ()))} if kind is REFEREE else {}),
            }
            for kind, signs in report.services.items()
            for each in signs
        ],
        "partitions": [load._asdict() for load in report.loads],
        "dead_letters": report.dead_letters,
        "jobs": report.jobs,
    }
