"""`ledgerline doctor`: what is wrong with this installation, or will be, and the line that mends it."""

from __future__ import annotations

import time
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Final

import typer
from rich.text import Text

from schemas.errors import InvalidInputError
from services import VERSION
from services.bootstrap.embedded import default_archive_url
from services.bootstrap.installation_findings import find_all
from services.bootstrap.system_report import find_notices, find_problems, read_report
from services.cli.operating.keys import shipped_rules
from services.cli.operating.status import count_jobs
from services.cli.options import DEFAULT_DATA, DataOption, JsonOption, open_read_ledger
from services.cli.output import console, print_json
from services.ledger import RedisLedger
from services.ledger.engine.connection import EngineUnavailableError
from services.ledger.operations.engine_examination import (
    Finding,
    Grade,
    NodeExamination,
    judge_clock,
    judge_growth,
)
from services.ledger.operations.system_status import SystemStatus
from services.ledger.ports import ENGINE_ERRORS
from services.runtime.settings import Settings, read_settings

app = typer.Typer()
GROWTH_S: Final = 1.0  # over which the AOF's growth is measured
MARKS: Final[dict[Grade, tuple[str, str]]] = {
    "problem": ("✗", "red"),
    "notice": ("!", "yellow"),
    "fine": ("✓", "green"),
}


@app.command()
def doctor(data: DataOption = DEFAULT_DATA, as_json: JsonOption = False) -> None:
    """Find what loses data, stops play or will, with the line that mends each; exit code 1 if there is a problem.

    It asks the settings' engine (as the user operator), or that of the data folder, the archive, the public address
    and this machine."""
    settings = _settings_of(data)
    findings = [*_ask_engine(data), *find_all(settings)]
    problems = sum(each.grade == "problem" for each in findings)
    if as_json:
        print_json({"ok": not problems, "findings": [each._asdict() for each in findings]})
    else:
        _print_findings(findings, problems)
    if problems:
        raise typer.Exit(1)


def _settings_of(data: Path) -> Settings:
    """The settings; those of `serve` where they name no engine."""
    settings = read_settings()
    if settings.archive_url or "redis_url" in settings.model_fields_set:
        return settings
    return settings.model_copy(update={"archive_url": default_archive_url(data)})


def _ask_engine(data: Path) -> Iterator[Finding]:
    """The engine's findings and those of the services that are its members; one alone where it can't be used."""
    try:
        with open_read_ledger(data) as ledger:
            yield from _examine(ledger, data)
    except (EngineUnavailableError, *ENGINE_ERRORS) as error:
        yield Finding("engine", "problem", str(error), "docs/how-to/runbook.md has what to do by symptom")
    except InvalidInputError as error:
        if error.field != "--data":
            raise
        yield Finding(
            "engine", "problem", error.reason, "LEDGERLINE_REDIS_URL=redis://...   # or --data FOLDER"
        )


def _examine(ledger: RedisLedger, data: Path) -> Iterator[Finding]:
    status = ledger.system_status()
    examined, began_s = status.examine(time.time, shipped_rules()), time.monotonic()
    for address, node in examined.items():
        yield from (_at(address, each) for each in node.findings)
    yield from _compare_nodes(examined)
    yield from _judge_services(ledger, data)
    yield from _judge_versions(status)
    time.sleep(max(0.0, began_s + GROWTH_S - time.monotonic()))
    later, passed_s = status.examine(time.time, {}), time.monotonic() - began_s
    for address, node in later.items():
        if before := examined.get(address):
            grown = judge_growth(node.room, (node.aof_bytes - before.aof_bytes) / passed_s)
            yield from (_at(address, each) for each in grown)


def _compare_nodes(examined: dict[str, NodeExamination]) -> Iterator[Finding]:
    """Whether the nodes of a cluster have one time and one version."""
    if len(examined) < 2:
        return
    skews = [node.skew_s for node in examined.values()]
    yield from judge_clock("the clock of a node", max(skews) - min(skews))
    if len(versions := {node.version for node in examined.values()}) > 1:
        says = f"the nodes of the cluster have different versions: {', '.join(sorted(versions))}"
        yield Finding("engine", "notice", says, "upgrade the others too, replicas first")


def _judge_services(ledger: RedisLedger, data: Path) -> Iterator[Finding]:
    """What `ledgerline status` says of services and what waits; of the engine itself, more was said before."""
    report = read_report(ledger, count_jobs(data))
    found = [each for each in find_problems(report) if not each.startswith("engine")]
    yield from (Finding("services", "problem", each) for each in found)
    yield from (Finding("services", "notice", each) for each in find_notices(report))
    if not found:
        count = sum(len(signs) for signs in report.services.values())
        yield Finding("services", "fine", f"{count} services give signs, nothing waits too long")


def _judge_versions(status: SystemStatus) -> Iterator[Finding]:
    try:
        by_kind = {kind: versions for kind, versions in status.versions().items() if kind}
    except ENGINE_ERRORS as error:
        yield Finding(
            "versions", "notice", f"the engine doesn't show them: {error}", "ask as the user operator"
        )
        return
    listed = ", ".join(f"{kind} {' and '.join(sorted(found))}" for kind, found in sorted(by_kind.items()))
    if set().union(*by_kind.values()) - {VERSION}:
        says = f"services have other versions than this command's {VERSION}: {listed}"
        yield Finding(
            "versions", "problem", says, "replace referees first, then the others: deploy/README.md"
        )
    elif by_kind:
        yield Finding("versions", "fine", listed)
    else:
        says = "no service is connected that says its version (engines before Redis 7.2 don't show it)"
        yield Finding("versions", "notice", says)


def _at(address: str, finding: Finding) -> Finding:
    return finding._replace(says=f"{address}: {finding.says}") if address else finding


def _print_findings(findings: Sequence[Finding], problems: int) -> None:
    verdict = Text(f"{problems} to mend", "bold red") if problems else Text("nothing to mend", "bold green")
    console.print(verdict)
    for each in findings:
        mark, style = MARKS[each.grade]
        console.print(Text(f"{mark} {each.part:<12} {each.says}", "" if each.grade == "fine" else style))
        if each.mend:
            console.print(f"{'':<14} -> {each.mend}")
