"""compose.yaml: what it claims holds, and a game is played by just what it starts.

No Docker engine is needed: each service runs as a plain process with its command and
environment from the file."""

from __future__ import annotations

import math
import os
import re
import subprocess
from collections.abc import Callable, Iterator
from functools import partial
from ipaddress import ip_address, ip_network
from pathlib import Path
from typing import Any

import pytest
import yaml
from annotated_types import Le

from services.archive import Archive, decode_game_file
from services.cli.operating.keys import KEY_FILES
from services.fast_path.engine_connection import engine_binary
from services.ledger import RedisLedger
from services.ledger.engine.connection import connect, init_partition_count
from services.ledger.engine.embedded_engine import ENGINE_CONFIG
from services.runtime.connection_limits import OTHER_FILES
from services.runtime.settings import Settings
from tests.deploy.compose import (
    GIVEN,
    ROOT,
    MissingVariableError,
    Running,
    interpolated,
    read_compose,
    stage,
    wait_until,
)

READY_S = 2.0
SERVICES = ("gateway", "referee", "bots", "auditor")
MOVE = {"game", "seat", "command", "sequence"}
KNOWN = {f"LEDGERLINE_{name.upper()}" for name in Settings.model_fields}
FIXED = {f"LEDGERLINE_{name}" for name in ("REDIS_URL", "SECRETS_DIR", "LOG_FORM", "METRICS")}
LISTENING = {"LEDGERLINE_HOST", "LEDGERLINE_PORT"}  # the port that is given is the machine's
WITH_DEFAULT_HERE = {f"LEDGERLINE_{name}" for name in ("ARCHIVE_URL", "LOG_LEVEL", "PUBLIC_KEYS", "PROXIES")}
SECRET = {
    f"LEDGERLINE_{name}"
    for name in ("REDIS_PASSWORD", "TOKEN_KEY", "OPERATOR_KEY", "PUSH_KEY", "SIGNING_KEY")
}


def to_bytes(size: str) -> int:
    """Bytes, as compose and the engine read `2gb` or `3g`."""
    unit = {"m": 1 << 20, "g": 1 << 30}[size.lower().removesuffix("b")[-1]]
    return int(size.lower().removesuffix("b")[:-1]) * unit


@pytest.fixture
def file() -> dict[str, Any]:
    return read_compose(GIVEN)


@pytest.mark.long
def test_a_game_is_played_by_what_the_file_starts(tmp_path: Path) -> None:
    with stage(tmp_path) as servers:
        engine = servers.start_engine()
        gateway, bots, auditor = (servers.start(name) for name in ("gateway", "bots", "auditor"))
        referees = [servers.start("referee"), servers.start("referee")]
        wait_until(servers.healthy)

        game = servers.new_game(["greedy", "greedy", "random", "random"])
        wait_until(lambda: servers.ended(game))
        entries = servers.view(game)
        assert [entry["number"] for entry in entries] == [*range(1, len(entries) + 1)]
        client = connect(servers.engine_url)
        ledger = RedisLedger(client, init_partition_count(client))
        assert len(ledger.read_entries(game)) == len(entries)
        client.close()

        archive = Archive((tmp_path / "archive").as_uri())
        wait_until(lambda: archive.has(game))
        assert decode_game_file(archive.read(game) or b"").number == len(entries)

        for service in (gateway, bots, auditor, *referees, engine):
            threads = len([*Path(f"/proc/{service.process.pid}/task").iterdir()])
            assert 2 * threads < servers.file["services"][service.name]["pids_limit"]
            assert service.stop() == 0, service.text()
        assert len(gateway.lines()) > 1
        moves = [line for each in (*referees, bots) for line in each.lines() if "command" in line]
        assert all(line.keys() >= MOVE for line in moves)
        decided = {line["sequence"] for each in referees for line in each.lines() if "command" in line}
        assert decided == {*range(1, len(entries) + 1)}
        for service in (gateway, bots, auditor, *referees):
            assert all({"service", "level", "event", "timestamp"} <= line.keys() for line in service.lines())
            assert not any(line["level"] in ("warning", "error") for line in service.lines()), service.text()


def work_until(ready: Callable[[], bool], service: Running) -> float:
    """The seconds of CPU that a service has taken once it is ready."""
    wait_until(ready)
    fields = Path(f"/proc/{service.process.pid}/stat").read_text().rpartition(")")[2].split()
    return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")


@pytest.mark.long
def test_each_service_is_ready_after_less_than_two_seconds_of_work(tmp_path: Path) -> None:
    with stage(tmp_path) as servers:
        servers.start_engine()
        least = dict.fromkeys(SERVICES, math.inf)
        for _ in range(3):  # another program on the same core makes a start look dearer
            running = {name: servers.start(name) for name in ("referee", "bots", "auditor", "gateway")}
            for name, service in running.items():
                ready = servers.healthy if name == "gateway" else partial(service.says, "started")
                least[name] = min(least[name], work_until(lambda ready=ready: bool(ready()), service))  # type: ignore[misc]
            for service in running.values():
                service.stop()
    assert max(least.values()) < READY_S, least


def test_every_setting_is_passed_to_every_service_or_fixed_for_it_or_a_secret() -> None:
    given = {name: f"<{name}>" for name in KNOWN}
    file = read_compose(given)
    for name in (*SERVICES, "operator", "second-gateway"):
        service = file["services"][name]
        environment = service["environment"]
        assert environment.keys() <= KNOWN
        passed = {key for key in environment if environment[key] == given[key]}
        listening = LISTENING & environment.keys()
        assert "gateway" not in name or listening == LISTENING
        assert environment.keys() - passed == FIXED | listening
        assert KNOWN - environment.keys() == SECRET | (LISTENING - listening)
        assert {secret["target"].upper() for secret in service["secrets"]} <= SECRET


def test_a_setting_that_nobody_gives_is_left_out_so_that_the_product_s_default_holds() -> None:
    for name in SERVICES:
        environment = read_compose({})["services"][name]["environment"]
        assert environment.keys() == FIXED | WITH_DEFAULT_HERE | (LISTENING if name == "gateway" else set())


def test_a_setting_in_the_file_reaches_the_started_service(tmp_path: Path) -> None:
    with stage(tmp_path, {**GIVEN, "LEDGERLINE_RATE": "many"}) as servers:
        gateway = servers.start("gateway")
        assert gateway.process.wait() != 0
        assert "LEDGERLINE_RATE" in gateway.text()


def test_every_container_is_bounded_and_its_log_turns_over(file: dict[str, Any]) -> None:
    for name, service in file["services"].items():
        assert service["logging"]["driver"] == "json-file", name
        assert service["logging"]["options"].keys() == {"max-size", "max-file"}
        assert service["pids_limit"] and to_bytes(service["mem_limit"]), name


def test_the_engine_s_memory_leaves_room_for_a_fork_in_its_container(file: dict[str, Any]) -> None:
    engine = file["services"]["engine"]
    words = engine["command"]
    assert to_bytes(words[words.index("--maxmemory") + 1]) <= 0.7 * to_bytes(engine["mem_limit"])
    assert (
        engine["ulimits"]["nofile"] >= 10_000 + 32
    )  # the engine's maxclients, unless it is set, and its own


def test_the_containers_hold_what_the_settings_allow(file: dict[str, Any]) -> None:
    (most,) = (bound.le for bound in Settings.model_fields["connections"].metadata if isinstance(bound, Le))
    assert file["services"]["gateway"]["ulimits"]["nofile"]["hard"] >= float(str(most)) + OTHER_FILES
    remembered = Settings.model_fields["remembers_mib"].default
    assert to_bytes(file["services"]["referee"]["mem_limit"]) > remembered << 20


def test_the_proxy_has_two_gateways_behind_it_and_is_believed_by_its_address_alone(
    file: dict[str, Any],
) -> None:
    first, second, proxy = (file["services"][name] for name in ("gateway", "second-gateway", "proxy"))
    changed = {"profiles": ["proxy"], "ports": []}
    assert second == {**first, **changed}
    assert proxy["environment"]["GATEWAYS"].split() == ["gateway:8720", "second-gateway:8720"]
    address = proxy["networks"]["default"]["ipv4_address"]
    assert first["environment"]["LEDGERLINE_PROXIES"] == address
    (network,) = file["networks"]["default"]["ipam"]["config"]
    assert ip_address(address) in ip_network(network["subnet"])
    assert ip_address(address) not in ip_network(network["ip_range"])  # nobody else gets it
    for volume in proxy["volumes"]:
        source = volume.partition(":")[0]
        assert source in file["volumes"] or (ROOT / source).is_file()


@pytest.mark.parametrize(
    ("key", "holder"), [("token", "gateway"), ("operator", "gateway"), ("signing", "auditor")]
)
def test_only_one_service_holds_each_key_and_from_a_file(file: dict[str, Any], key: str, holder: str) -> None:
    mounted = {"source": f"{key}.key", "target": f"ledgerline_{key}_key"}
    assert [name for name in SERVICES if mounted in file["services"][name]["secrets"]] == [holder]
    for service in file["services"].values():
        assert not {name for name in service.get("environment", ()) if name.endswith(("_KEY", "_PASSWORD"))}


def test_each_service_is_its_own_user_of_the_engine_and_has_that_password_alone(file: dict[str, Any]) -> None:
    for name in (*SERVICES, "operator"):
        service = file["services"][name]
        assert service["environment"]["LEDGERLINE_REDIS_URL"] == f"redis://{name}@engine:6379/0"
        passwords = [secret for secret in service["secrets"] if secret["source"].endswith(".password")]
        assert passwords == [{"source": f"{name}.password", "target": "ledgerline_redis_password"}]
    assert file["services"]["engine"]["secrets"] == ["users.acl"]
    assert file["secrets"] == {
        secret: {"file": f"./secrets/{secret}"}
        for secret in ("users.acl", *KEY_FILES, *(f"{name}.password" for name in (*SERVICES, "operator")))
    }
    assert file["services"]["operator"]["profiles"] == ["operator"]


def test_every_service_knows_that_there_is_an_archive_and_only_the_auditor_writes_it(
    file: dict[str, Any],
) -> None:
    assert {file["services"][name]["environment"]["LEDGERLINE_ARCHIVE_URL"] for name in SERVICES} == {
        "file:///archive"
    }
    mounted = {name: file["services"][name].get("volumes", []) for name in SERVICES}
    assert mounted == {
        "gateway": ["archive:/archive:ro"],
        "referee": ["archive:/archive:ro"],
        "bots": [],
        "auditor": ["archive:/archive", "engine:/data:ro"],
    }
    assert "archive" in file["volumes"]


def test_the_engine_is_configured_as_the_embedded_one(file: dict[str, Any]) -> None:
    name, *words = file["services"]["engine"]["command"]
    options = dict(zip(words[::2], words[1::2], strict=True))
    assert name == "valkey-server"
    embedded = {
        f"--{key}": str(value) for key, value in ENGINE_CONFIG.items() if key != "bind"
    }  # there: loopback
    assert options == {**embedded, "--protected-mode": "no", "--aclfile": "/run/secrets/users.acl"}
    (volume,) = file["services"]["engine"]["volumes"]
    assert volume.partition(":")[0] in file["volumes"]
    assert "ports" not in file["services"]["engine"]


def test_services_without_an_address_can_be_scaled(file: dict[str, Any]) -> None:
    for name in ("referee", "bots"):
        service = file["services"][name]
        assert not service.keys() & {"container_name", "hostname", "ports"}
        assert all(volume.endswith(":ro") for volume in service.get("volumes", []))


def test_the_services_wait_for_the_engine_restart_and_have_few_rights(file: dict[str, Any]) -> None:
    for name in SERVICES:
        service = file["services"][name]
        assert service["depends_on"] == {"engine": {"condition": "service_healthy"}}
        assert service["restart"] == "unless-stopped"
        assert service["read_only"] and service["cap_drop"] == ["ALL"]
    for name, service in file["services"].items():
        assert "no-new-privileges:true" in service["security_opt"], name
        assert service["restart"] and service["stop_grace_period"], name


def pulled(value: Any) -> Iterator[str]:
    """The images that a document names, but those that are built from this tree."""
    if isinstance(value, dict):
        if isinstance(image := value.get("image"), str) and image != "ledgerline":
            yield image
        value = [*value.values()]
    for inner in value if isinstance(value, list) else ():
        yield from pulled(inner)


def test_what_is_pulled_is_named_by_version_and_digest_and_the_engine_is_the_one_that_is_tested() -> None:
    files = [ROOT / "compose.yaml", *(ROOT / "deploy" / "kubernetes").rglob("*.yaml")]
    images = {
        image for each in files for read in yaml.safe_load_all(each.read_text()) for image in pulled(read)
    }
    assert len(images) == 4, "one engine everywhere, a proxy, and what looks"
    assert all(re.fullmatch(r"[a-z/]+:v?\d+\.\d+\.\d+@sha256:[0-9a-f]{64}", image) for image in images)
    said = subprocess.run([engine_binary(), "--version"], capture_output=True, text=True, check=True).stdout
    version = re.search(r"v=(\S+)", said)
    assert version and any(image.startswith(f"valkey/valkey:{version[1]}@") for image in images)


def test_variables_are_interpolated_as_compose_does() -> None:
    given = {"SET": "x", "EMPTY": ""}
    assert interpolated("${SET} ${EMPTY:-y} ${EMPTY-y}. ${GONE-z} ${GONE} $$", given) == "x y . z  $"
    with pytest.raises(MissingVariableError, match="GONE: why"):
        interpolated(["${GONE?why}"], given)


def test_prometheus_reads_every_service_where_it_shows_its_metrics(file: dict[str, Any]) -> None:
    [scraped] = yaml.safe_load((ROOT / "deploy/observe/prometheus.yml").read_text())["scrape_configs"]
    [found] = scraped["dns_sd_configs"]
    assert {*found["names"]} == {*SERVICES, "second-gateway"}
    for name in SERVICES:
        shown = file["services"][name]["environment"]["LEDGERLINE_METRICS"]
        assert shown == f"0.0.0.0:{found['port']}"
        assert not any(str(found["port"]) in port for port in file["services"][name].get("ports", ()))


def test_the_profile_that_looks_is_asked_for_and_reached_from_this_machine_alone(
    file: dict[str, Any],
) -> None:
    for name in ("prometheus", "grafana"):
        service = file["services"][name]
        assert service["profiles"] == ["observe"]
        assert all(port.startswith("127.0.0.1:") for port in service.get("ports", ()))
        for mounted in service["volumes"]:
            source, _, _ = mounted.partition(":")
            assert source in file["volumes"] or (ROOT / source).is_dir(), mounted
