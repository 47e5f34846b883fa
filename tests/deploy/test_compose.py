"""compose.yaml: what it claims holds, and a game is played by just what it starts.

No Docker engine is needed: each service runs as a plain process with its command and
environment from the file."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from services.archive import Archive, decode_game_file
from services.ledger import RedisLedger
from services.ledger.embedded.embedded_engine import ENGINE_CONFIG
from services.ledger.embedded.engine_users import KEY_FILES
from services.ledger.engine.connection import connect, init_partition_count
from services.runtime.settings import Settings
from tests.deploy.compose import GIVEN, MissingVariableError, interpolated, read_compose, stage, wait_until

SERVICES = ("gateway", "referee", "bots", "auditor")
MOVE = {"game", "seat", "command", "sequence"}
KNOWN = {f"LEDGERLINE_{name.upper()}" for name in Settings.model_fields}


@pytest.fixture
def file() -> dict[str, Any]:
    return read_compose(GIVEN)


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
            assert service.stop() == 0, service.text()
        assert len(gateway.lines()) > 1
        moves = [line for each in (*referees, bots) for line in each.lines() if "command" in line]
        assert all(line.keys() >= MOVE for line in moves)
        decided = {line["sequence"] for each in referees for line in each.lines() if "command" in line}
        assert decided == {*range(1, len(entries) + 1)}
        for service in (gateway, bots, auditor, *referees):
            assert all({"service", "level", "event", "timestamp"} <= line.keys() for line in service.lines())
            assert not any(line["level"] in ("warning", "error") for line in service.lines()), service.text()


def test_every_setting_in_the_file_exists(file: dict[str, Any]) -> None:
    for name in SERVICES:
        assert file["services"][name]["environment"].keys() <= KNOWN


@pytest.mark.parametrize(
    ("key", "holder"), [("token", "gateway"), ("operator", "gateway"), ("signing", "auditor")]
)
def test_only_one_service_holds_each_key_and_from_a_file(file: dict[str, Any], key: str, holder: str) -> None:
    mounted = {"source": f"{key}.key", "target": f"ledgerline_{key}_key"}
    assert [name for name in SERVICES if mounted in file["services"][name]["secrets"]] == [holder]
    for service in file["services"].values():
        assert not {name for name in service.get("environment", ()) if name.endswith(("_KEY", "_PASSWORD"))}


def test_who_may_create_games_on_own_boards_is_a_variable() -> None:
    for given in ("everyone", "operator"):
        gateway = read_compose({"LEDGERLINE_OWN_BOARDS": given})["services"]["gateway"]
        assert gateway["environment"]["LEDGERLINE_OWN_BOARDS"] == given
    assert read_compose({})["services"]["gateway"]["environment"]["LEDGERLINE_OWN_BOARDS"] == "everyone"


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
        "auditor": ["archive:/archive"],
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


def test_variables_are_interpolated_as_compose_does() -> None:
    given = {"SET": "x", "EMPTY": ""}
    assert interpolated("${SET} ${EMPTY:-y} ${EMPTY-y}. ${GONE-z} ${GONE} $$", given) == "x y . z  $"
    with pytest.raises(MissingVariableError, match="GONE: why"):
        interpolated(["${GONE?why}"], given)
