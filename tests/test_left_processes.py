"""What a test starts and leaves is found, whoever is its parent by then."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.left_processes import PROC, is_group_running, left_processes

SLEEP = [sys.executable, "-c", "import time; time.sleep(1000)"]
STARTS_ONE = """
import subprocess, sys
quiet = subprocess.DEVNULL
print(subprocess.Popen(sys.argv[1:], start_new_session=True, stdout=quiet, stderr=quiet).pid)
"""

pytestmark = pytest.mark.skipif(not PROC.is_dir(), reason="processes are found in /proc")


@pytest.fixture
def orphan() -> Iterator[int]:
    """The id of a process whose parent has ended."""
    started = subprocess.run(
        [sys.executable, "-c", STARTS_ONE, *SLEEP], capture_output=True, text=True, check=True
    )
    yield int(started.stdout)
    os.kill(int(started.stdout), signal.SIGKILL)


def left() -> set[int]:
    return {process.id for process in left_processes()}


def test_a_child_is_found_as_long_as_it_is_alive() -> None:
    with subprocess.Popen(SLEEP, env={}) as child:
        assert child.pid in left()
        child.kill()
    assert child.pid not in left()


def test_a_process_that_has_outlived_its_parent_is_found(orphan: int) -> None:
    parent = (PROC / str(orphan) / "stat").read_text().rpartition(")")[2].split()[1]
    assert int(parent) != os.getpid()
    while orphan not in left():  # its environment may not be readable yet; the test's timeout bounds the wait
        time.sleep(0.01)
    assert str(orphan) in str(next(each for each in left_processes() if each.id == orphan))


def test_other_processes_are_not_found() -> None:
    assert not {os.getpid(), os.getppid(), *map(int, Path("/proc/1").name.split())} & left()


def test_a_group_runs_until_the_last_of_it_has_ended() -> None:
    """The parent of a process that takes long to end, for the memory that it gives back, ends long before it."""
    large = "import time; kept = bytearray(b'x') * 400_000_000; print('kept', flush=True); time.sleep(1000)"
    command = ["sh", "-c", f'"{sys.executable}" -c "{large}" & wait']
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True, start_new_session=True) as parent:
        assert parent.stdout is not None
        assert parent.stdout.readline() == "kept\n"
        assert is_group_running(parent.pid)
        os.killpg(parent.pid, signal.SIGKILL)
        parent.wait()
        assert is_group_running(parent.pid)
        end_s = time.monotonic() + 60
        while is_group_running(parent.pid):
            assert time.monotonic() < end_s
            time.sleep(0.01)
