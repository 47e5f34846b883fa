"""`ledgerline doctor`: every finding is made true on a real engine, or around one, and its line mends it."""

from __future__ import annotations

import json
import ssl
import subprocess
import time
from collections.abc import Iterator, Mapping
from contextlib import ExitStack, closing, contextmanager
from functools import partial
from http.server import BaseHTTPRequestHandler, HTTPServer
from pathlib import Path
from threading import Thread
from typing import Any, Final

import pytest
import redis
from redis.driver_info import DriverInfo
from structlog.testing import capture_logs
from structlog.typing import EventDict

from services import VERSION
from services.bootstrap.embedded import run_embedded_server
from services.ledger.engine import keys
from services.ledger.engine.connection import connect, init_partition_count
from services.ledger.engine.embedded_engine import running_engine
from services.ledger.operations.engine_examination import DiskRoom, judge_growth, startup_findings
from services.runtime.settings import read_settings
from tests.cli.command_line import COMMAND, ROOT, environment, run_in_process
from tests.conftest import PARTITIONS
from tests.deploy.compose import free_port, wait_until
from tests.deploy.test_engine_over_tls import write_certificate
from tests.security.engine_with_users import engine_with_users
from tests.small_disk import run_on_small_disk

Findings = list[dict[str, str]]


@pytest.fixture(autouse=True)
def _growth_is_measured_at_once(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("services.cli.operating.doctor.GROWTH_S", 0.01)


@pytest.fixture
def engine(tmp_path: Path) -> Iterator[tuple[str, Any]]:
    """An engine of the test's own, which it may spoil."""
    with running_engine(tmp_path / "engine") as url, closing(connect(url)) as client:
        init_partition_count(client, PARTITIONS)
        yield url, client


def doctor(url: str, **settings: str) -> Findings:
    """What doctor finds; its exit code says whether anything is a problem."""
    result = run_in_process("doctor", "--json", data=None, stdin="", LEDGERLINE_REDIS_URL=url, **settings)
    document = json.loads(result.stdout)
    problems = [each for each in document["findings"] if each["grade"] == "problem"]
    assert (result.returncode, document["ok"]) == (bool(problems), not problems)
    found: Findings = document["findings"]
    return found


def of(findings: Findings, part: str) -> list[tuple[str, str]]:
    return [(each["grade"], each["says"]) for each in findings if each["part"] == part]


def mend(client: Any, findings: Findings, part: str) -> None:
    """Run the lines of redis-cli by which a part's findings are mended."""
    for each in findings:
        if each["part"] == part and each["mend"]:
            for line in each["mend"].partition("#")[0].split("&&"):
                client.execute_command(*line.split()[1:])


SPOILT: Final[Mapping[str, tuple[dict[str, str], str, str, str]]] = {
    "without an AOF": ({"appendonly": "no"}, "persistence", "problem", "the engine keeps no AOF"),
    "never synced": ({"appendfsync": "no"}, "persistence", "problem", "never syncs its AOF"),
    "synced each second": ({"appendfsync": "everysec"}, "persistence", "notice", "a power cut loses up to two"),
    "not synced in rewrites": (
        {"no-appendfsync-on-rewrite": "yes"}, "persistence", "problem", "isn't synced while it is rewritten",
    ),
    "evicting": (
        {"maxmemory": "1gb", "maxmemory-policy": "allkeys-lru"}, "eviction", "problem", "games vanish",
    ),
    "evicting one day": (
        {"maxmemory": "0", "maxmemory-policy": "allkeys-lru"}, "eviction", "notice", "would drop keys",
    ),
    "without a limit": ({"maxmemory": "0"}, "memory", "notice", "has no limit"),
    "larger than the machine": ({"maxmemory": "900000gb"}, "memory", "problem", "is more than its machine has"),
    "full": ({"maxmemory": "1300kb"}, "memory", "problem", "no game is created from 80% on"),
}  # fmt: skip


@pytest.mark.parametrize(("settings", "part", "grade", "says"), SPOILT.values(), ids=SPOILT)
def test_P1_a_setting_that_loses_data_is_found_and_its_line_mends_it(
    engine: tuple[str, Any], settings: dict[str, str], part: str, grade: str, says: str
) -> None:
    url, client = engine
    for name, value in settings.items():
        client.config_set(name, value)
    found = doctor(url)
    [(found_grade, found_says), *_] = of(found, part)
    assert (found_grade, says in found_says) == (grade, True), found_says
    mend(client, found, part)
    wait_until(lambda: client.info("persistence")["aof_rewrite_in_progress"] == 0)
    assert {grade for grade, _ in of(doctor(url), part)} == {"fine"}


def test_an_engine_that_is_as_it_should_be_has_nothing_to_mend_but_services(engine: tuple[str, Any]) -> None:
    parts = {each["part"]: each["grade"] for each in doctor(engine[0]) if each["grade"] != "fine"}
    assert parts == {"services": "problem", "archive": "notice", "versions": "notice"} | (
        {"disk": "notice"} if "disk" in parts else {}  # of a machine with less than 6 GiB of disk
    )


def test_P1_keys_that_were_dropped_are_counted(engine: tuple[str, Any]) -> None:
    url, client = engine
    client.config_set("maxmemory", "3mb")
    client.config_set("maxmemory-policy", "allkeys-random")
    for number in range(300):
        client.set(f"filler:{number}", bytes(20_000))
    client.config_set("maxmemory", "1gb")
    client.config_set("maxmemory-policy", "noeviction")
    client.delete(keys.PARTITION_COUNT_KEY)
    init_partition_count(client, PARTITIONS)
    assert "has dropped" in of(doctor(url), "eviction")[0][1]


def test_P7_a_replica_is_found_and_so_is_where_its_primary_is(engine: tuple[str, Any]) -> None:
    url, client = engine
    client.replicaof("127.0.0.1", 1)
    [replica] = [each for each in doctor(url) if each["grade"] == "problem" and each["part"] == "engine"]
    assert "is a replica" in replica["says"]
    assert "redis://127.0.0.1:1" in replica["mend"]


def test_P7_an_engine_of_which_most_connections_are_taken(engine: tuple[str, Any]) -> None:
    url, client = engine
    client.config_set("maxclients", 32)
    with ExitStack() as stack:
        for _ in range(28):
            stack.enter_context(closing(connect(url))).ping()
        [(grade, says)] = of(found := doctor(url), "connections")
    assert (grade, "of at most 32" in says) == ("problem", True)
    mend(client, found, "connections")
    assert of(doctor(url), "connections")[0][0] == "fine"


def test_an_engine_too_old_for_users_or_for_games_is_found() -> None:
    def said(version: str) -> list[str]:
        query = startup_findings()
        next(query)
        with pytest.raises(StopIteration) as finished:
            query.send([{"redis_version": version, "maxmemory_policy": "noeviction"}])
        found: list[str] = finished.value.value
        return found

    assert said("6.0.16") == ["Redis 6.0.16 is too old: install Redis from 6.2 on, or Valkey"]
    assert said("6.2.0") == []


def test_clocks_that_differ_are_found(engine: tuple[str, Any], monkeypatch: pytest.MonkeyPatch) -> None:
    real = time.time
    monkeypatch.setattr(time, "time", lambda: real() + 90)
    [(grade, says)] = of(doctor(engine[0]), "clock")
    assert (grade, says) == (
        "problem", "its clock is 90 s behind this machine's: deadlines and tokens end at other times",
    )  # fmt: skip


def test_a_disk_that_is_soon_full_is_a_problem_by_how_fast_the_log_grows() -> None:
    room = DiskRoom(100 << 30, 1 << 30)
    grades = {
        rate: [each.grade for each in judge_growth(room, rate)] for rate in (0, 1024, 100 << 10, 1 << 20)
    }
    assert grades == {0: [], 1024: [], 100 << 10: ["notice"], 1 << 20: ["problem"]}


@pytest.mark.long
def test_P7_a_disk_with_less_than_a_tenth_left_is_seen_coming(tmp_path: Path) -> None:
    result = run_on_small_disk("tests.cli.disk_nearly_full", tmp_path / "disk", 16)
    assert result.returncode == 0, result.stderr
    found = json.loads(result.stdout.splitlines()[-1])
    assert [grade for grade, _ in found["room"]["archive"]] == ["fine"]
    assert found["room"]["watch"] == []
    assert found["room"]["disk"][0][0] == "notice", "it is smaller than what the engine's memory needs"
    assert "problem" in [grade for grade, _ in found["low"]["disk"]]
    assert "problem" in [grade for grade, _ in found["low"]["archive"]]
    engines, archives = found["low"]["watch"]
    assert engines.startswith("of the engine's disk 1 of 16 MiB are left")
    assert archives.startswith("of the archive's disk 1 of 16 MiB are left")
    assert "the last write to the AOF failed" in found["full"]["persistence"]
    assert (
        "the last rewrite of the AOF failed: it grows until the disk is full" in found["full"]["persistence"]
    )


@pytest.mark.long
def test_P8_rights_that_are_others_than_this_versions_are_found(tmp_path: Path) -> None:
    with engine_with_users(tmp_path) as engine, closing(connect(engine.url("operator"))) as client:
        acl: Any = client
        init_partition_count(client, PARTITIONS)
        users = partial(lambda url: of(doctor(url), "users"), engine.url("operator"))
        assert users() == [("fine", "6 users, each with the rights of this version")]
        acl.execute_command("ACL", "SETUSER", "gateway", "+config|set")
        acl.execute_command("ACL", "DELUSER", "bots")
        [(grade, says)] = users()
        assert (grade, says.rpartition(": ")[2]) == ("problem", "gateway, bots (missing)")
        acl.execute_command("ACL", "LOAD")
        assert [grade for grade, _ in users()] == ["fine"]
        acl.execute_command("ACL", "SETUSER", "referee", "off")
        assert users()[0][1].endswith(": referee")
        acl.execute_command("ACL", "SETUSER", "default", "-@all")
        assert "some engines leave out of a restart" in users()[0][1]
        acl.execute_command("ACL", "SETUSER", "default", "on", "nopass", "+@all")
        assert "whoever reaches the engine may do everything" in users()[0][1]
        assert b"ledgerline-compared" not in acl.execute_command("ACL", "USERS")


def test_services_of_another_version_are_found(engine: tuple[str, Any]) -> None:
    url, _ = engine
    old = DriverInfo().add_upstream_driver("ledgerline", "0.0.9")
    with (
        closing(connect(url, "gateway-1")) as gateway,
        redis.Redis.from_url(url, client_name="referee-1", driver_info=old) as referee,
    ):
        gateway.ping()
        assert of(doctor(url), "versions") == [("fine", f"gateway {VERSION}")]
        referee.ping()
        [(grade, says)] = of(doctor(url), "versions")
    assert (grade, says.endswith(f": gateway {VERSION}, referee 0.0.9")) == ("problem", True)


ARCHIVES: Final = {
    "file:///proc/self/task": ("notice", "it can be read, and not be written"),
    "file:///proc/version": ("problem", "doesn't answer"),
    "": ("notice", "there is no archive"),
}


@pytest.mark.parametrize("archive_url", ARCHIVES)
def test_P3_an_archive_that_cant_be_used_is_found(engine: tuple[str, Any], archive_url: str) -> None:
    grade, says = ARCHIVES[archive_url]
    found = of(doctor(engine[0], LEDGERLINE_ARCHIVE_URL=archive_url), "archive")
    assert [(each, says in words) for each, words in found] == [(grade, True)], found


def test_P3_for_who_signs_an_archive_that_cant_be_written_is_a_problem(engine: tuple[str, Any]) -> None:
    settings = {"LEDGERLINE_ARCHIVE_URL": "file:///proc/self/task", "LEDGERLINE_SIGNING_KEY": "5e" * 32}
    assert of(doctor(engine[0], **settings), "archive")[0][0] == "problem"


DISAGREEING: Final = {
    "https without a proxy": (
        {"PUBLIC_URL": "https://127.0.0.1:1"}, "problem", "so a proxy ends TLS, and none is named",
    ),
    "everybody is a proxy": ({"PROXIES": "0.0.0.0/0"}, "problem", "believes everybody"),
    "a proxy and no address": ({"PROXIES": "10.0.0.1"}, "notice", "webhooks name no page"),
    "a proxy and http": (
        {"PROXIES": "10.0.0.1", "PUBLIC_URL": "http://127.0.0.1:1"}, "problem", "tokens travel in the clear",
    ),
    "origins without the own": (
        {"PROXIES": "10.0.0.1", "PUBLIC_URL": "https://127.0.0.1:1", "ORIGINS": "https://a.example"},
        "problem", "doesn't name https://127.0.0.1:1",
    ),
}  # fmt: skip


@pytest.mark.parametrize(("settings", "grade", "says"), DISAGREEING.values(), ids=DISAGREEING)
def test_proxies_and_addresses_that_disagree_are_found(
    engine: tuple[str, Any], settings: dict[str, str], grade: str, says: str
) -> None:
    found = of(
        doctor(engine[0], **{f"LEDGERLINE_{name}": text for name, text in settings.items()}), "proxies"
    )
    assert [words for each, words in found if each == grade and says in words], found


class WithoutUpgrade(BaseHTTPRequestHandler):
    """A proxy that passes no Upgrade on: what a gateway answers then."""

    protocol_version = "HTTP/1.1"

    def do_GET(self) -> None:
        self.send_response(200 if self.path == "/health/live" else 404)
        self.send_header("Content-Length", "0")
        self.end_headers()

    def log_message(self, format: str, *args: object) -> None:
        pass


class Another(WithoutUpgrade):
    """A server that is no gateway."""

    def do_GET(self) -> None:
        self.send_response(404)
        self.send_header("Content-Length", "0")
        self.end_headers()


@contextmanager
def served(handler: type[BaseHTTPRequestHandler], context: ssl.SSLContext | None = None) -> Iterator[str]:
    with HTTPServer(("127.0.0.1", 0), handler) as server:
        if context is not None:
            server.socket = context.wrap_socket(server.socket, server_side=True)
        thread = Thread(target=server.serve_forever)
        thread.start()
        yield f"http{'s' if context else ''}://127.0.0.1:{server.server_port}"
        server.shutdown()
        thread.join()


@pytest.mark.parametrize(
    ("handler", "says"),
    [
        (WithoutUpgrade, "is answered 404: the proxy passes no Upgrade on"),
        (Another, "no gateway is behind it"),
    ],
)
def test_a_public_address_that_players_cant_use_is_found(
    engine: tuple[str, Any], handler: type[BaseHTTPRequestHandler], says: str
) -> None:
    with served(handler) as url:
        [(grade, said)] = of(doctor(engine[0], LEDGERLINE_PUBLIC_URL=url), "address")
    assert (grade, says in said) == ("problem", True), said


def test_a_public_address_where_nobody_is(engine: tuple[str, Any]) -> None:
    url = f"http://127.0.0.1:{free_port()}"
    assert of(doctor(engine[0], LEDGERLINE_PUBLIC_URL=url), "address")[0][1].startswith(
        f"nobody answers at {url}"
    )


def test_a_certificate_that_ran_out_is_named(engine: tuple[str, Any], tmp_path: Path) -> None:
    file = write_certificate(tmp_path, "expired", ends_in_days=-1)
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    context.load_cert_chain(file)
    with served(WithoutUpgrade, context) as url:
        settings = {
            "LEDGERLINE_PUBLIC_URL": url,
            "LEDGERLINE_PROXIES": "127.0.0.1",
            "SSL_CERT_FILE": str(file),
        }
        [(grade, says)] = of(doctor(engine[0], **settings), "address")
    assert (grade, "certificate has expired" in says) == ("problem", True), says


@pytest.mark.long
def test_a_machine_that_allows_fewer_files_than_connections(engine: tuple[str, Any]) -> None:
    words = ["prlimit", "--nofile=512:512", *COMMAND, "doctor", "--json"]
    settings = environment(LEDGERLINE_REDIS_URL=engine[0])
    result = subprocess.run(words, cwd=ROOT, env=settings, capture_output=True, text=True, check=False)
    [(grade, says)] = of(json.loads(result.stdout)["findings"], "files")
    assert (grade, "2000 connections need 2256 open files" in says) == ("problem", True)


def test_without_an_engine_it_says_so_and_looks_at_the_rest() -> None:
    found = doctor("redis://127.0.0.1:1/0")
    assert of(found, "engine")[0][1].startswith("the engine doesn't answer")
    assert {"archive", "proxies", "files"} <= {each["part"] for each in found}
    table = run_in_process("doctor", LEDGERLINE_REDIS_URL="redis://127.0.0.1:1/0").stdout
    assert table.startswith("1 to mend\n✗ engine")
    assert "-> docs/how-to/runbook.md" in table


def test_in_a_folder_without_games_it_names_the_option(tmp_path: Path) -> None:
    result = run_in_process("doctor", "--json", data=tmp_path)
    assert of(json.loads(result.stdout)["findings"], "engine")[0][1].startswith("there are no games in ")


@pytest.mark.long
def test_P1_every_service_says_at_its_start_what_the_engine_would_lose(tmp_path: Path) -> None:
    with running_engine(tmp_path / "engine") as url, closing(connect(url)) as client:
        client.config_set("appendonly", "no")
        settings = read_settings(redis_url=url, port=0)
        with capture_logs() as lines, run_embedded_server(tmp_path / "data", settings):
            wait_until(lambda: len(sayers(lines)) == 4)
    assert sayers(lines) == {"referee", "bots", "auditor", "gateway"}


def sayers(lines: list[EventDict]) -> set[str]:
    said = [line for line in lines if line["event"] == "the engine's settings break promises"]
    assert all("the engine keeps no AOF" in line["problem"] for line in said)
    return {line["service"] for line in said}
