"""`ledgerline status`: services, engine, backlog, dead letters and jobs, and whether all is well."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from contextlib import closing, contextmanager
from pathlib import Path
from typing import Any, Final

import pytest

from schemas.commands import CommandEnvelope
from schemas.trains.commands import DrawBlind
from services.bootstrap.embedded import run_embedded_server
from services.ledger import RedisLedger
from services.ledger.engine import keys
from services.ledger.engine.connection import connect, init_partition_count
from services.ledger.operations.backlog_queries import AUDITOR, BOTS, GATEWAY, ServiceKind
from services.ledger.queues.membership import Membership
from services.runtime.settings import read_settings
from tests.cli.command_line import CommandResult, run_in_process
from tests.conftest import ALL, PARTITIONS
from tests.deploy.compose import wait_until

GAME: Final = "game-one"
HOME: Final = keys.partition_of(GAME, PARTITIONS)


@pytest.fixture
def client(engine_url: str) -> Iterator[Any]:
    """An engine that has no games and no services, but for a gateway and a referee that just gave a sign."""
    with closing(connect(engine_url)) as client:
        client.flushdb()
        init_partition_count(client, PARTITIONS)
        RedisLedger(client, PARTITIONS).load_scripts()
        Membership(client).beat(GATEWAY, "gateway-1")
        Membership(client).heartbeat("referee-1", None, 1)
        yield client
        client.flushdb()


def status(url: str, *words: str) -> CommandResult:
    return run_in_process("status", *words, LEDGERLINE_REDIS_URL=url)


def problems(url: str) -> list[str]:
    """What is wrong; the exit code says whether anything is."""
    result = status(url, "--json")
    found: list[str] = json.loads(result.stdout)["problems"]
    assert result.returncode == bool(found)
    return found


@contextmanager
def engine_set(client: Any, name: str, value: object) -> Iterator[None]:
    before = client.config_get(name)[name]
    client.config_set(name, value)
    try:
        yield
    finally:
        client.config_set(name, before)


def test_a_server_that_is_well_shows_each_service_with_its_sign(tmp_path: Path) -> None:
    with run_embedded_server(tmp_path / "data", read_settings(port=0)) as running:
        url = running.settings.redis_url
        # the first signs of bots and auditor may come later, and nobody misses them before
        wait_until(lambda: len(json.loads(status(url, "--json").stdout)["services"]) >= 4)
        wait_until(lambda: status(url).returncode == 0)
        document, table = json.loads(status(url, "--json").stdout), status(url).stdout
    services = {each["name"].partition("-")[0]: each for each in document["services"]}
    assert set(services) == {"referee", "bots", "auditor", "gateway"}
    assert services["referee"]["partitions"] == list(range(16))
    assert all(each["last_sign_s"] < 10 for each in services.values())
    [engine] = document["engine"]
    assert (engine["role"], engine["eviction"], engine["is_aof_well"]) == ("master", "noeviction", True)
    assert (document["healthy"], document["dead_letters"], document["jobs"]["failed"]) == (True, 0, 0)
    assert table.startswith("healthy")
    assert services["referee"]["name"] in table


def test_P7_without_a_referee_it_isnt_healthy(client: Any, engine_url: str) -> None:
    assert problems(engine_url) == []
    client.zadd(keys.MEMBERSHIP_KEY, {"referee-1": 1})
    [missing] = problems(engine_url)
    assert missing.startswith("no referee gave a sign for ")
    assert missing.endswith(": commands wait; start `ledgerline referee`")
    client.delete(keys.MEMBERSHIP_KEY)
    assert problems(engine_url) == ["no referee is there: commands wait; start `ledgerline referee`"]
    assert status(engine_url).stdout.startswith("NOT HEALTHY")


@pytest.mark.parametrize("kind", [BOTS, AUDITOR, GATEWAY])
def test_P7_a_service_that_ended_without_a_word_is_missed_until_another_is_there(
    client: Any, engine_url: str, kind: ServiceKind
) -> None:
    client.delete(kind.members_key)
    client.zadd(kind.members_key, {"the-one": client.time()[0] * 1000 - 6_000})
    [missing] = problems(engine_url)
    said = re.fullmatch(r"no (.+) gave a sign for (\d+)\.\d s: (.+); start `ledgerline (.+)`", missing)
    assert said
    assert (said[1], said[3], said[4]) == (kind.label, kind.waiting, kind.command)
    assert int(said[2]) >= 6
    Membership(client).beat(kind, "another")
    document = json.loads(status(engine_url, "--json").stdout)
    assert (document["problems"], len(document["notices"])) == ([], 1)
    assert document["notices"][0].startswith("the-one gave no sign for ")


def test_P7_bots_and_auditors_are_missed_where_their_tasks_wait(client: Any, engine_url: str) -> None:
    client.xadd(keys.bot_tasks(HOME), {"t": "?"})
    client.zadd(keys.unanswered_disputes(HOME), {"d1": 1, "d2": 2})
    assert problems(engine_url) == [BOTS.describe_absence(None, 1), AUDITOR.describe_absence(None, 2)]
    for kind in (BOTS, AUDITOR):
        Membership(client).beat(kind, "one")
    assert problems(engine_url) == []


def test_P8_keys_of_another_type_are_named(client: Any, engine_url: str) -> None:
    client.delete(keys.MEMBERSHIP_KEY)
    for name in (keys.MEMBERSHIP_KEY, keys.deadlines(HOME)):
        client.set(name, "what?")
    assert problems(engine_url) == [
        f"keys that hold another type: {keys.MEMBERSHIP_KEY}, {keys.deadlines(HOME)}"
    ]


def test_P8_what_waits_is_shown_with_its_age_and_partition(
    client: Any, engine_url: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    ledger = RedisLedger(client, PARTITIONS)
    ledger.submit(CommandEnvelope("c1", GAME, 2, DrawBlind()))
    [load] = [each for each in loads(engine_url) if each["commands"]]
    assert (load["partition"], load["commands"]) == (HOME, 1)
    assert 0 <= load["oldest_command_ms"] < 60_000
    monkeypatch.setattr("services.bootstrap.system_report.STALL_MS", 0)
    assert problems(engine_url)[0].endswith(f"in partitions: {', '.join(map(str, ALL))}")


def test_P8_dead_letters_are_pointed_at_and_the_games_are_well(client: Any, engine_url: str) -> None:
    ledger = RedisLedger(client, PARTITIONS)
    envelope = CommandEnvelope("c1", GAME, 2, DrawBlind())
    ledger.submit(envelope)
    [delivered] = ledger.commands.take("one", ALL, 10, 0)
    ledger.move_to_dead_letters(delivered, envelope, "KeyError: 'purple'")
    result = status(engine_url)
    assert result.returncode == 0
    assert "dead letters: 1; `ledgerline dead list` shows them" in result.stdout


@pytest.mark.parametrize(
    ("name", "value", "problem"),
    [
        ("appendonly", "no", "the engine keeps no AOF"),
        ("appendfsync", "no", "the engine never syncs its AOF itself"),
        ("maxmemory-policy", "allkeys-lru", "drops keys when its memory is full (allkeys-lru)"),
    ],
)
def test_P1_settings_that_break_promises_are_named(
    client: Any, engine_url: str, name: str, value: str, problem: str
) -> None:
    with engine_set(client, "maxmemory", 1 << 32), engine_set(client, name, value):
        [found] = problems(engine_url)
    assert problem in found


def test_P9_an_engine_that_is_full_is_named_though_it_refuses_every_write(
    client: Any, engine_url: str
) -> None:
    with engine_set(client, "maxmemory", 1 << 20):
        assert "of its memory" in problems(engine_url)[0]


def test_an_engine_that_isnt_there_is_one_line_and_exit_code_1() -> None:
    result = status("redis://127.0.0.1:1/0")
    assert (result.returncode, result.stdout) == (1, "")
    assert result.stderr.startswith("ledgerline: the engine doesn't answer")


def loads(url: str) -> list[dict[str, Any]]:
    found: list[dict[str, Any]] = json.loads(status(url, "--json").stdout)["partitions"]
    return found
