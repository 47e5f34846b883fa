"""`ledgerline doctor`: what is wrong with this installation, or will be, and the line that mends it."""

from __future__ import annotations

import resource
import secrets
import time
from collections.abc import Iterator, Sequence
from contextlib import suppress
from email.utils import parsedate_to_datetime
from pathlib import Path
from typing import Final
from urllib.parse import urlsplit

import httpx
import typer
from rich.text import Text
from websockets.exceptions import InvalidHandshake, InvalidStatus
from websockets.sync.client import connect

from schemas.errors import InvalidInputError
from services import VERSION
from services.archive import Archive, ArchiveUnavailableError
from services.bootstrap.embedded import default_archive_url
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
    read_room,
)
from services.ledger.operations.system_status import SystemStatus
from services.ledger.ports import ENGINE_ERRORS
from services.runtime.connection_limits import OTHER_FILES
from services.runtime.settings import Settings, archive_folder, read_settings

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


ANSWER_S: Final = 5.0
UNMADE_GAME: Final = "doctor-asks"  # a game that there is none of: its socket opens, and says so
NR_OPEN: Final = Path("/proc/sys/fs/nr_open")  # how many files a process may be allowed


def find_all(settings: Settings) -> Iterator[Finding]:
    """All of it. It asks the public address, and writes a file into the archive that it deletes."""
    yield from examine_archive(settings)
    yield from judge_proxies(settings)
    yield from ask_public_address(settings)
    yield from judge_open_files(settings)


def examine_archive(settings: Settings) -> Iterator[Finding]:
    """Whether the archive can be read, and written: by the auditor, who alone has the signing key."""
    if not settings.archive_url:
        says = "there is no archive: a finished game is deleted once its retention has passed"
        yield Finding("archive", "notice", says, "LEDGERLINE_ARCHIVE_URL=file:///archive")
        return
    try:
        archive = Archive(settings.archive_url)
        archive.try_reading()
    except (ArchiveUnavailableError, InvalidInputError) as error:
        mend = "mount it, or mend LEDGERLINE_ARCHIVE_URL: finished games wait in the engine until then"
        yield Finding("archive", "problem", str(error), mend)
        return
    try:
        archive.try_writing(secrets.token_hex(8))
    except ArchiveUnavailableError as error:
        grade: Grade = "problem" if settings.signing_key.get_secret_value() else "notice"
        mend = "chown it to the auditor's user, or mount it writable; only the auditor needs that"
        yield Finding("archive", grade, f"it can be read, and not be written: {error}", mend)
    else:
        yield Finding("archive", "fine", "it can be read and written")
    folder = archive_folder(settings)
    if folder is not None and (room := read_room(folder)) is not None and room.is_low:
        yield Finding(
            "archive", "problem", f"on its disk {room}", "make room there, or move it to a larger disk"
        )


def judge_proxies(settings: Settings) -> Iterator[Finding]:
    """Whether proxies, public address and origins agree."""
    public, proxies = urlsplit(settings.public_url), settings.proxies
    if public.scheme == "https" and not proxies:
        says = "LEDGERLINE_PUBLIC_URL is https, so a proxy ends TLS, and none is named: all its clients share the limits of one address"
        yield Finding("proxies", "problem", says, "LEDGERLINE_PROXIES=<the proxy's address>")
    elif proxies and any(network.prefixlen == 0 for network in proxies):
        says = "LEDGERLINE_PROXIES believes everybody: a client may name any address as its own, and has no limit"
        yield Finding("proxies", "problem", says, "LEDGERLINE_PROXIES=<the proxy's address>")
    elif proxies and not settings.public_url:
        says = "a proxy is named, and LEDGERLINE_PUBLIC_URL isn't set: webhooks name no page"
        yield Finding("proxies", "notice", says, "LEDGERLINE_PUBLIC_URL=https://<the name that players have>")
    elif proxies and public.scheme == "http":
        says = "LEDGERLINE_PUBLIC_URL is http though a proxy is named: tokens travel in the clear"
        yield Finding("proxies", "problem", says, f"LEDGERLINE_PUBLIC_URL=https://{public.netloc}")
    else:
        yield Finding("proxies", "fine", "proxies and public address agree")
    own = f"{public.scheme}://{public.netloc}"
    if settings.origins and settings.public_url and own not in settings.origins:
        says = f"LEDGERLINE_ORIGINS doesn't name {own}, whose pages play here"
        yield Finding("proxies", "problem", says, f"LEDGERLINE_ORIGINS={','.join((*settings.origins, own))}")


def ask_public_address(settings: Settings) -> Iterator[Finding]:
    """Whether players reach a gateway by the public address, also over a WebSocket, and its clock agrees."""
    if not settings.public_url:
        return
    url = settings.public_url.rstrip("/")
    try:
        answer = httpx.get(f"{url}/health/live", timeout=ANSWER_S)
    except (httpx.HTTPError, ValueError) as error:
        says = f"nobody answers at {url}: {error or type(error).__name__}"
        yield Finding(
            "address", "problem", says, "start the gateway and the proxy, or mend name, port or certificate"
        )
        return
    if answer.status_code != httpx.codes.OK or "Date" not in answer.headers:
        says = f"{url}/health/live answers {answer.status_code}: no gateway is behind it"
        yield Finding("address", "problem", says, "have the proxy pass every path on to the gateway")
        return
    # its date has whole seconds, and is up to one old
    yield from judge_clock(
        "the gateway's clock", parsedate_to_datetime(answer.headers["Date"]).timestamp() + 1 - time.time()
    )
    try:
        with connect(f"ws{url.removeprefix('http')}/v1/games/{UNMADE_GAME}/play", open_timeout=ANSWER_S):
            pass
    except InvalidStatus as error:
        says = (
            f"a WebSocket to {url} is answered {error.response.status_code}: the proxy passes no Upgrade on"
        )
        yield Finding(
            "address", "problem", says, "the proxy's lines are in deploy/proxy (Upgrade, Connection)"
        )
    except (InvalidHandshake, OSError) as error:
        yield Finding(
            "address", "problem", f"a WebSocket to {url} doesn't open: {error}", "look at the proxy's log"
        )
    else:
        yield Finding("address", "fine", f"{url} answers, also over a WebSocket")


def judge_open_files(settings: Settings) -> Iterator[Finding]:
    """Whether the machine allows a gateway as many sockets as the settings do."""
    wanted = settings.connections + OTHER_FILES
    _, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    with suppress(OSError, ValueError):
        most = int(NR_OPEN.read_text())
        hard = most if hard == resource.RLIM_INFINITY else min(hard, most)
    if hard != resource.RLIM_INFINITY and hard < wanted:
        says = f"{settings.connections} connections need {wanted} open files, and a process may have {hard:,} here"
        mend = f"ulimit -Hn {wanted}   # LimitNOFILE of systemd, ulimits of compose; or LEDGERLINE_CONNECTIONS={max(1, hard - OTHER_FILES)}"
        yield Finding("files", "problem", says, mend)
    else:
        yield Finding("files", "fine", f"{wanted} open files of a gateway are allowed")
