"""What `ledgerline status` finds out, and what of it is wrong. Pure but for its reads."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Final, NamedTuple

from services.ledger.engine.keys import MEMBERSHIP_KEY
from services.ledger.operations.engine_settings import EngineSettings, broken_promises
from services.ledger.operations.system_status import AWAY, EngineNode, PartitionLoad, ServiceSign
from services.ledger.redis_ledger import RedisLedger
from services.referee.leases import assign_partitions

SILENT_S: Final = 5.0  # of a referee: its lease has ended
HANGING_S: Final = 15.0  # of another service: each does something at least every 5 s
STALL_MS: Final = 10_000
FULL: Final = 0.9  # of the engine's memory


class StatusReport(NamedTuple):
    """The whole system at one moment."""

    nodes: Sequence[EngineNode]
    referees: Sequence[ServiceSign]
    shares: Mapping[str, Sequence[int]]  # the partitions of each referee that is there
    others: Sequence[ServiceSign]
    partitions: int
    loads: Sequence[PartitionLoad]  # of the partitions that can be read
    mistyped_keys: Sequence[str]  # that hold another type than Ledgerline's
    jobs: Mapping[str, int] | None  # by state; None where their engine doesn't answer

    @property
    def dead_letters(self) -> int:
        """How many commands broke a referee and were put aside."""
        return sum(load.dead_letters for load in self.loads)


def read_report(ledger: RedisLedger, jobs: Mapping[str, int] | None) -> StatusReport:
    """Ask the engine for all of it; `jobs` are counted elsewhere. Raises one of ENGINE_ERRORS."""
    status = ledger.system_status()
    nodes = status.nodes()
    time_ms = max(node.time_ms for node in nodes)  # a node that is away has none
    referees = status.referees(time_ms)
    present = [referee.name for referee in referees if referee.last_sign_s < SILENT_S]
    shares = {name: assign_partitions(name, present, ledger.partitions) for name in present}
    return StatusReport(
        nodes=nodes,
        referees=referees,
        shares=shares,
        others=status.connected_services(),
        partitions=ledger.partitions,
        loads=status.loads(time_ms),
        mistyped_keys=status.mistyped_keys(),
        jobs=jobs,
    )


def find_problems(report: StatusReport) -> list[str]:
    """Why the system isn't healthy, in sentences; empty where it is."""
    problems = [problem for node in report.nodes for problem in _node_problems(node)]
    if unread := report.partitions - len(report.loads):
        problems.append(f"{unread} of {report.partitions} partitions can't be read")
    if report.mistyped_keys:
        problems.append(f"keys that hold another type: {', '.join(report.mistyped_keys)}")
    if not report.shares and MEMBERSHIP_KEY not in report.mistyped_keys:
        problems.append("no referee is there: commands wait")
    problems += [
        f"{each.name} gave no sign for {each.last_sign_s:.0f} s"
        for each in (*report.referees, *report.others)
        if each.last_sign_s >= (SILENT_S if each in report.referees else HANGING_S)
    ]
    if not any(service.name.startswith("gateway-") for service in report.others):
        problems.append("no gateway is connected: nobody can play")
    stalled = [load for load in report.loads if (load.oldest_command_ms or 0) >= STALL_MS]
    if stalled:
        listed = ", ".join(str(load.partition) for load in stalled)
        problems.append(f"commands wait for {STALL_MS // 1000} s or longer in partitions: {listed}")
    if not any(service.name.startswith("bots-") for service in report.others) and any(
        load.bot_tasks for load in report.loads
    ):
        problems.append("bot tasks wait, and no bots are connected")
    return problems


def find_notices(report: StatusReport) -> list[str]:
    """What an operator should look at, though games go on."""
    notices = []
    if report.dead_letters:
        notices.append(f"dead letters: {report.dead_letters}; `ledgerline dead list` shows them")
    if report.jobs is None:
        notices.append("the auditor's jobs can't be read (LEDGERLINE_JOBS_URL)")
    elif failed := report.jobs.get("failed"):
        notices.append(f"failed jobs: {failed}; `ledgerline jobs` shows them")
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


def report_json(report: StatusReport) -> dict[str, object]:
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
                **({"partitions": list(report.shares.get(each.name, ()))} if each in report.referees else {}),
            }
            for each in (*report.referees, *report.others)
        ],
        "partitions": [load._asdict() for load in report.loads],
        "dead_letters": report.dead_letters,
        "jobs": report.jobs,
    }
