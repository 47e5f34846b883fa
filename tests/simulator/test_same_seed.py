"""A seed is a bug report: it gives the same trace everywhere, byte for byte."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

from tests.long_runs import long_after

ROOT = Path(__file__).parents[2]


def trace(seed: int, salt: str) -> bytes:
    """A seed's whole trace, as another process prints it."""
    command = [sys.executable, "-m", "tests.simulator", str(seed), "--trace"]
    environment = {**os.environ, "PYTHONHASHSEED": salt}
    return subprocess.run(command, cwd=ROOT, env=environment, capture_output=True, check=False).stdout


@pytest.mark.parametrize("seed", long_after(1, (5, 24, 9, 17)))
def test_a_seed_gives_the_same_trace_in_two_processes_whose_hashes_differ(seed: int) -> None:
    one, other = trace(seed, "1"), trace(seed, "2")
    assert len(one.splitlines()) > 500
    assert one == other
