"""`ledgerline status`: is all well, and where isn't it? Exit code 0 where it is, else 1."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Final

import typer
from rich.table import Table
from rich.text import Text

from schemas.errors import InvalidInputError
from services.bootstrap.system_report import (
    StatusReport,
    find_notices,
    find_problems,
    read_report,
    report_json,
)
from services.cli.options import DEFAULT_DATA, DataOption, JsonOption, open_jobs, open_read_ledger
from services.cli.output import console, print_json
from services.ledger.engine.connection import EngineUnavailableError
from services.ledger.operations.backlog_queries import REFEREE, SILENT_S
from services.ledger.operations.system_status import EngineNode, PartitionLoad
from services.ledger.ports import ENGINE_ERRORS

app = typer.Typer()
MAX_ROWS: Final = 12  # partitions that are shown, the longest wait first
MIB: Final = 1024 * 1024


@app.command()
def status(data: DataOption = DEFAULT_DATA, as_json: JsonOption = False) -> None:
    """Show services, engine, backlog, dead letters and jobs at a glance; exit code 1 if not all is well."""
    with open_read_ledger(data) as ledger:
        report = read_report(ledger, count_jobs(data))
    if as_json:
        print_json(report_json(report))
    else:
        _print_report(report)
    if find_problems(report):
        raise typer.Exit(1)


def count_jobs(data: Path) -> dict[str, int] | None:
    """The auditor's jobs by state; None where their engine doesn't answer, or isn't named beside a cluster."""
    try:
        with open_jobs(data) as jobs:
            return {str(state): count for state, count in jobs.count().items()}
    except (*ENGINE_ERRORS, EngineUnavailableError, InvalidInputError):
        return None


def _print_report(report: StatusReport) -> None:
    problems = find_problems(report)
    console.print(Text("NOT HEALTHY", "bold red") if problems else Text("healthy", "bold green"))
    for problem in problems:
        console.print(Text(f"  ! {problem}", "red"))
    for notice in find_notices(report):
        console.print(Text(f"  * {notice}", "yellow"))
    for table in (_service_table(report), _engine_table(report.nodes), _partition_table(report.loads)):
        console.print(table)
    counts = report.jobs or {}
    jobs = ", ".join(f"{count} {state}" for state, count in counts.items()) or "unknown"
    console.print(f"dead letters: {report.dead_letters}    jobs: {jobs}")


def _service_table(report: StatusReport) -> Table:
    table = Table("service", "last sign", "partitions", title="Services", title_justify="left")
    for kind, signs in report.services.items():
        for each in signs:
            age = Text(f"{each.last_sign_s:.1f} s ago", "red" if each.last_sign_s >= SILENT_S else "")
            share = str(len(report.shares.get(each.name, ()))) if kind is REFEREE else ""
            table.add_row(each.name, age, share)
    if not table.row_count:
        table.add_row(Text("none", "red"), "", "")
    return table


def _engine_table(nodes: Sequence[EngineNode]) -> Table:
    table = Table(
        "engine", "role", "replicas", "AOF", "eviction", "memory", title="Engine", title_justify="left"
    )
    for node in nodes:
        limit = f" of {node.max_bytes / MIB:,.0f}" if node.max_bytes else ", no limit"
        aof = Text(node.aof if node.is_aof_well else f"{node.aof}, fails", "" if node.is_aof_well else "red")
        name = f"{node.product} {node.address}".rstrip()
        memory = f"{node.used_bytes / MIB:,.0f} MiB{limit}"
        table.add_row(name, node.role, str(node.replicas), aof, node.eviction, memory)
    return table


def _partition_table(loads: Sequence[PartitionLoad]) -> Table:
    """Those where anything waits; the longest wait first."""
    filled = [load for load in loads if load.commands or load.bot_tasks or load.dead_letters]
    filled.sort(key=lambda load: max(load.oldest_command_ms or 0, load.oldest_bot_task_ms or 0), reverse=True)
    title = f"Backlog: {len(filled)} of {len(loads)} partitions have something waiting"
    headings = ("partition", "commands", "oldest", "bot tasks", "oldest", "dead letters")
    table = Table(*headings, title=title, title_justify="left")
    for load in filled[:MAX_ROWS]:
        table.add_row(
            *(str(load.partition), str(load.commands), _format_age(load.oldest_command_ms)),
            *(str(load.bot_tasks), _format_age(load.oldest_bot_task_ms), str(load.dead_letters)),
        )
    if len(filled) > MAX_ROWS:
        table.add_row("...", f"and {len(filled) - MAX_ROWS} more", "", "", "", "")
    return table


def _format_age(age_ms: int | None) -> str:
    return "" if age_ms is None else f"{age_ms / 1000:.1f} s"
