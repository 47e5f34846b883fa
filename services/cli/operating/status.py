"""`ledgerline status`: is all well, and where isn't it? Exit code 0 where it is, else 1."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Final

import typer
from rich.table import Table
from rich.text import Text

from schemas.contract import Json
from schemas.errors import InvalidInputError
from services.bootstrap.system_report import read_report, report_json
from services.cli.options import DEFAULT_DATA, DataOption, JsonOption, open_jobs, open_read_ledger
from services.cli.output import console, print_json
from services.ledger.engine.connection import EngineUnavailableError
from services.ledger.operations.backlog_queries import SILENT_S
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
    document = report_json(report)
    if as_json:
        print_json(document)
    else:
        _print_report(document)
    if document["problems"]:
        raise typer.Exit(1)


def count_jobs(data: Path) -> dict[str, int] | None:
    """The auditor's jobs by state; None where their engine doesn't answer, or isn't named beside a cluster."""
    try:
        with open_jobs(data) as jobs:
            return {str(state): count for state, count in jobs.count().items()}
    except (*ENGINE_ERRORS, EngineUnavailableError, InvalidInputError):
        return None


def _print_report(report: Json) -> None:
    for part in draw_system(report):
        console.print(part)
    jobs = ", ".join(f"{count} {state}" for state, count in (report["jobs"] or {}).items()) or "unknown"
    console.print(f"dead letters: {report['dead_letters']}    jobs: {jobs}")


def draw_system(report: Json) -> Iterator[Text | Table]:
    """What is wrong, then the services, the engine and what waits, as `report_json` has it."""
    yield Text("healthy", "bold green") if report["healthy"] else Text("NOT HEALTHY", "bold red")
    yield from (Text(f"  ! {problem}", "red") for problem in report["problems"])
    yield from (Text(f"  * {notice}", "yellow") for notice in report["notices"])
    yield _service_table(report["services"])
    yield _engine_table(report["engine"])
    yield _partition_table(report["partitions"])


def _service_table(services: Sequence[Json]) -> Table:
    table = Table("service", "last sign", "partitions", title="Services", title_justify="left")
    for each in services:
        age = Text(f"{each['last_sign_s']:.1f} s ago", "red" if each["last_sign_s"] >= SILENT_S else "")
        table.add_row(each["name"], age, str(len(each["partitions"])) if "partitions" in each else "")
    if not table.row_count:
        table.add_row(Text("none", "red"), "", "")
    return table


def _engine_table(nodes: Sequence[Json]) -> Table:
    table = Table(
        "engine", "role", "replicas", "AOF", "eviction", "memory", title="Engine", title_justify="left"
    )
    for node in (EngineNode(**each) for each in nodes):
        limit = f" of {node.max_bytes / MIB:,.0f}" if node.max_bytes else ", no limit"
        aof = Text(node.aof if node.is_aof_well else f"{node.aof}, fails", "" if node.is_aof_well else "red")
        name = f"{node.product} {node.address}".rstrip()
        memory = f"{node.used_bytes / MIB:,.0f} MiB{limit}"
        table.add_row(name, node.role, str(node.replicas), aof, node.eviction, memory)
    return table


def _partition_table(partitions: Sequence[Json]) -> Table:
    """Those where anything waits; the longest wait first."""
    loads = [PartitionLoad(**row) for row in partitions]
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
