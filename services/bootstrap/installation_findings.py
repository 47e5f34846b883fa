"""What an operator must know of an installation beside its engine: archive, public address, proxies, open files."""

from __future__ import annotations

import resource
import secrets
import time
from collections.abc import Iterator
from contextlib import suppress
from email.utils import parsedate_to_datetime
from pathlib import Path
from typing import Final
from urllib.parse import urlsplit

import httpx
from websockets.exceptions import InvalidHandshake, InvalidStatus
from websockets.sync.client import connect

from schemas.errors import InvalidInputError
from services.archive import Archive, ArchiveUnavailableError
from services.ledger.operations.engine_examination import Finding, Grade, judge_clock, read_room
from services.runtime.connection_limits import OTHER_FILES
from services.runtime.settings import Settings, archive_folder

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
