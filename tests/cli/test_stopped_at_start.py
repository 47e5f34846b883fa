"""How a service starts: without the modules of other commands; one that is stopped meanwhile ends with 0, as later."""

from __future__ import annotations

import signal
import subprocess
import sys

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
