"""P7: `/health/ready`, `ledgerline status` and the gateway's log tell of each service that ended, and of its return."""

from __future__ import annotations

import json
import signal
from contextlib import closing
from pathlib import Path
from typing import Final

import pytest

from services.ledger.engine.connection import connect
from services.ledger.operations.backlog_queries import AUDITOR, BOTS, REFEREE
from tests.cli.command_line import run_in_process
from tests.deploy.compose import Running, Stage, stage, wait_until

KINDS: Final = (REFEREE, BOTS, AUDITOR)
SERVICES: Final = tuple(kind.command for kind in KINDS)


def missing(problems: list[str]) -> set[str]:
    """The services that these sentences name as missing."""
    return {
        kind.command
        for kind in KINDS
        for problem in problems
        if problem.startswith(f"no {kind.label} gave a sign for ")
        and f"`ledgerline {kind.command}`" in problem
    }


def status_problems(servers: Stage) -> list[str]:
    result = run_in_process("status", "--json", LEDGERLINE_REDIS_URL=servers.engine_url)
    problems: list[str] = json.loads(result.stdout)["problems"]
    return problems


def missing_in_ready(servers: Stage) -> set[str]:
    return missing(servers.http.get("/health/ready").json()["problems"])


def missing_in_status(servers: Stage) -> set[str]:
    return missing(status_problems(servers))


def said(gateway: Running, words: str) -> int:
    return sum(gateway.says(words.format(kind.label)) for kind in KINDS)


def start(servers: Stage, name: str) -> Running:
    return servers.start(name, LEDGERLINE_LOG_LEVEL="info")


@pytest.mark.long
@pytest.mark.timeout(300)
def test_P7_each_service_that_stops_without_a_word_is_missed_everywhere_and_so_is_its_return(
    tmp_path: Path,
) -> None:
    with stage(tmp_path) as servers:
        servers.start_engine()
        gateway, *services = (start(servers, name) for name in ("gateway", *SERVICES))
        wait_until(
            lambda: all(map(servers.http.get("/health/ready").json().get, ("referees", "bots", "auditors")))
        )
        wait_until(lambda: not missing_in_status(servers))
        for times, number in ((1, signal.SIGSTOP), (2, signal.SIGKILL)):
            for service in services:
                service.process.send_signal(number)
            wait_until(lambda: missing_in_ready(servers) == {*SERVICES})
            assert said(gateway, "no {}: ") == times * len(KINDS)
            wait_until(lambda: missing_in_status(servers) == {*SERVICES})
            if number == signal.SIGSTOP:
                for service in services:
                    service.process.send_signal(signal.SIGCONT)
            else:
                services = [start(servers, name) for name in SERVICES]
            wait_until(lambda: not missing_in_ready(servers))
            assert said(gateway, "{}s are back") == times * len(KINDS)
            wait_until(lambda: not missing_in_status(servers))
        for service in services:
            assert service.stop() == 0
        assert missing_in_status(servers) == set(), "no member is left that was stopped"


@pytest.mark.long
def test_P7_a_gateway_that_runs_apart_leaves_no_idle_connection_and_the_server_is_healthy(
    tmp_path: Path,
) -> None:
    with stage(tmp_path) as servers:
        servers.start_engine()
        gateway = start(servers, "gateway")
        start(servers, "referee")
        wait_until(servers.healthy)
        wait_until(lambda: not status_problems(servers))
        with closing(connect(servers.engine_url)) as client:
            names = {each["name"] for each in client.client_list() if each["name"].startswith("gateway-")}
        assert len(names) == 1, "the connection by which it learned the partitions is closed"
        assert gateway.stop() == 0
        assert any(problem.startswith("no gateway is there: ") for problem in status_problems(servers))
