"""P7: `ledgerline serve` ends within seconds whatever stands still, and leaves nothing behind."""

from __future__ import annotations

import json
import os
import shutil
import signal
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

import pytest

from services.cli.services import STUCK_EXIT_CODE
from tests.cli.command_line import ROOT, environment
from tests.cli.test_service_processes import is_alive, wait_until
from tests.left_processes import left_processes

END_S = 30.0  # of ten that it may take, on a machine that does other things too


class Serving:
    """A server of its own, with its engine and its services."""

    def __init__(self, folder: Path) -> None:
        self.data, self.output = folder / "data", folder / "output"
        with self.output.open("w") as output:
            self.process = subprocess.Popen(
                [sys.executable, "-m", "services.cli", "serve", "--port", "0", "--data", str(self.data)],
                cwd=ROOT,
                env=environment(),
                stdout=output,
                stderr=output,
                start_new_session=True,
            )
        wait_until(lambda: "Ledgerline is open" in self.text())
        self.engine: int = json.loads((self.data / "engine.json").read_text())["pid"]
        own = [each for each in left_processes() if each.parent == self.process.pid]
        self.services = [each.id for each in own if "services.cli" in each.command]
        self.everybody = [self.process.pid, *(each.id for each in own)]

    def text(self) -> str:
        return self.output.read_text()

    def end(self) -> int:
        """Press Ctrl-C; the exit code."""
        os.killpg(self.process.pid, signal.SIGINT)
        return self.process.wait(END_S)


@contextmanager
def serving(folder: Path) -> Iterator[Serving]:
    made = Serving(folder)
    try:
        yield made
        wait_until(lambda: not any(map(is_alive, made.everybody)))
        assert "Traceback" not in made.text()
    finally:
        for process in made.everybody:
            with suppress(ProcessLookupError):
                os.kill(process, signal.SIGKILL)
        made.process.wait()


@pytest.mark.long
@pytest.mark.parametrize("frozen", ["engine", "services", "both"])
def test_P7_ctrl_c_ends_a_server_whose_engine_or_services_stand_still(tmp_path: Path, frozen: str) -> None:
    with serving(tmp_path) as server:
        for process in [server.engine, *server.services][slice(*SLICES[frozen])]:
            os.kill(process, signal.SIGSTOP)
        assert server.end() in {0, STUCK_EXIT_CODE}


SLICES = {"engine": (0, 1), "services": (1, None), "both": (None,)}


@pytest.mark.long
def test_P7_a_server_whose_data_folder_is_deleted_says_so_and_ends(tmp_path: Path) -> None:
    with serving(tmp_path) as server:
        shutil.rmtree(server.data)
        assert server.process.wait(END_S) == 1
        last = server.text().splitlines()[-1]
        assert last.startswith(f"ledgerline: the data folder {server.data} was deleted")


@pytest.mark.long
def test_P7_a_server_that_is_killed_leaves_no_engine(tmp_path: Path) -> None:
    with serving(tmp_path) as server:
        server.process.kill()
        server.process.wait()
