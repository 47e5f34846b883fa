"""One engine with a replica and a Sentinel: it dies unannounced, the replica takes over, and the services follow it.

The product's address names an engine or a cluster, no Sentinel: who runs one restarts each service with the address that it
gives, as the runbook says of a newer engine.
"""

from __future__ import annotations

import subprocess
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from pathlib import Path

import pytest
import redis

from services.cli.operating.keys import password_file
from services.fast_path.engine_connection import engine_binary
from tests.chaos.systems import OneEngine
from tests.deploy.compose import Running, free_port, stage, wait_until

LEVEL = {"level": "replicated:1", "wait_ms": "20000"}


@contextmanager
def sentinel(folder: Path, primary_port: int, word: str) -> Iterator[redis.Redis]:
    """A Sentinel that watches the engine as the operator does, and needs nobody's agreement."""
    port = free_port()
    config = folder / "sentinel.conf"
    watched = ("auth-user games operator", f"auth-pass games {word}", "down-after-milliseconds games 1000")
    lines = (
        f"port {port}",
        "bind 127.0.0.1",
        f"dir {folder}",
        f"sentinel monitor games 127.0.0.1 {primary_port} 1",
    )
    config.write_text("\n".join((*lines, *(f"sentinel {each}" for each in watched), "")))
    process = subprocess.Popen([engine_binary(), config, "--sentinel"], stdout=subprocess.DEVNULL)
    try:
        with redis.Redis(port=port, decode_responses=True) as client:
            yield client
    finally:
        process.kill()
        process.wait()


def start_replica(system: OneEngine, word: str) -> tuple[Running, int]:
    """A replica of the engine, on a port and in a folder of its own, that has all of it."""
    at, primary = system.at, system.at.engine_port
    at.engine_port = free_port()
    at.engine_folder = at.folder / "replica"
    at.engine_folder.mkdir()
    at.engine_words = (
        "--replicaof",
        f"127.0.0.1 {primary}",
        "--masteruser",
        "operator",
        "--masterauth",
        word,
    )
    replica, port = at.start_engine(), at.engine_port
    wait_until(lambda: system.client.info("replication").get("slave0", {}).get("state") == "online")
    return replica, port


@pytest.mark.long
def test_P1_P7_what_a_replica_had_is_there_after_an_engine_dies_and_a_sentinel_promotes_it(
    tmp_path: Path,
) -> None:
    with ExitStack() as exits:
        # given a game on an engine with a replica, that a Sentinel watches
        at = exits.enter_context(stage(tmp_path))
        system = OneEngine(at)
        exits.callback(system.client.close)
        word = password_file(at.folder / "secrets", "operator").read_text()
        watch = exits.enter_context(sentinel(tmp_path, at.engine_port, word))
        system.start_services(("gateway", "referee"))
        _, port = start_replica(system, word)
        wait_until(lambda: len(watch.sentinel_slaves("games")) == 1)
        game, bearer = at.sit_down()
        path = f"/v1/games/{game}"
        kept = at.http.post(
            f"{path}/commands", params=LEVEL, headers=bearer, json={"type": "keep_tickets", "keep": [0, 1, 2]}
        )
        assert kept.status_code == 200 and kept.json()["level"] == "replicated:1", kept.text
        # when the engine dies, and each service is started with the address that the Sentinel gives
        system.engine.kill()
        wait_until(lambda: watch.sentinel_get_master_addr_by_name("games") == ("127.0.0.1", port))
        for service in [*system.services]:
            system.stop(service)
        wait_until(at.healthy)
        # then what was acknowledged is there, and the game goes on
        entries = at.http.get(f"{path}/view", headers=bearer).json()["entries"]
        assert entries[kept.json()["number"] - 1]["head"] == kept.json()["head"]
        at.start("bots", **system.environment_of("bots"))
        wait_until(lambda: len(at.view(game)) > kept.json()["number"])
