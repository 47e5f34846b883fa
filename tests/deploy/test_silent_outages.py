"""P7, P8: outages in which everything runs and nothing is decided are told of, once, by lines and by /health/ready."""

from __future__ import annotations

import signal
from collections.abc import Callable
from pathlib import Path

import httpx
import pytest
import redis

from tests.deploy.compose import Running, Stage, stage, wait_until

SERVICES = ("gateway", "referee", "referee", "bots")
KEEP = {"type": "keep_tickets", "keep": [0, 1, 2]}


def ready(servers: Stage) -> httpx.Response:
    return servers.http.get("/health/ready")


def start(servers: Stage) -> list[Running]:
    """A system that is ready."""
    servers.start_engine()
    services = [servers.start(name, LEDGERLINE_LOG_LEVEL="info") for name in SERVICES]
    wait_until(
        lambda: ready(servers).json().get("status") == "ok" and len(ready(servers).json()["referees"]) == 2
    )
    return services


def ask_in_vain(servers: Stage) -> Callable[[], bool]:
    """Send a command whose answer is `unknown`; whether it has its verdict later."""
    game, bearer = servers.sit_down()
    headers = {**bearer, "Idempotency-Key": "asked-in-vain"}

    def send() -> httpx.Response:
        return servers.http.post(f"/v1/games/{game}/commands", json=KEEP, headers=headers)

    return lambda: send().json().get("verdict") == "accepted"


@pytest.mark.long
@pytest.mark.timeout(300)
def test_P7_all_referees_stopped_is_told_of_and_so_is_their_return(tmp_path: Path) -> None:
    with stage(tmp_path) as servers:
        gateway, *others = start(servers)
        has_verdict = ask_in_vain(servers)
        referees = [service for service in others if service.name == "referee"]
        for referee in referees:
            referee.process.send_signal(signal.SIGSTOP)
        assert not has_verdict()
        wait_until(lambda: ready(servers).status_code == 503)
        assert any(
            problem.startswith("no referee gave a sign for ") for problem in ready(servers).json()["problems"]
        )
        assert servers.http.get("/health/live").status_code == 200
        assert not servers.healthy()
        wait_until(lambda: gateway.says("partition stalled"))
        for referee in referees:
            referee.process.send_signal(signal.SIGCONT)
        wait_until(has_verdict)
        wait_until(lambda: ready(servers).json()["status"] == "ok")
        wait_until(lambda: gateway.says("answers have verdicts again"))
        for event in (
            "no referee",
            "referees are back",
            "partition stalled",
            "partition goes on",
            "answers are unknown",
        ):
            assert gateway.says(event) == 1, gateway.text()


@pytest.mark.long
@pytest.mark.timeout(300)
def test_P8_an_engine_without_memory_is_told_of_by_every_service_and_never_called_away(
    tmp_path: Path,
) -> None:
    with stage(tmp_path) as servers, redis.Redis.from_url(servers.engine_url) as engine:
        gateway, *others = start(servers)
        has_verdict = ask_in_vain(servers)
        engine.config_set("maxmemory", 1)
        assert not has_verdict()
        wait_until(lambda: ready(servers).status_code == 503)
        assert ready(servers).json()["engine"] == {"status": "refuses writes"}
        referees = [service for service in others if service.name == "referee"]
        wait_until(lambda: all(referee.says("engine refuses writes") for referee in referees))
        engine.config_set("maxmemory", 0)
        wait_until(has_verdict)
        wait_until(lambda: ready(servers).json()["status"] == "ok")
        wait_until(lambda: gateway.says("answers have verdicts again"))
        assert (gateway.says("answers are unknown"), gateway.says("engine takes writes again")) == (1, 1)
        assert gateway.says("engine refuses writes: ") == 1
        assert sum(service.says("engine away") for service in (gateway, *others)) == sum(
            service.says("engine back") for service in (gateway, *others)
        )
        for referee in referees:
            wait_until(lambda: bool(referee.says("engine takes writes again")))  # noqa: B023 - waited for here
            assert referee.says("engine refuses writes") == referee.says("engine takes writes again") == 1
