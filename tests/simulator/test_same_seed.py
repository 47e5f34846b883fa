"""A seed is a bug report: it gives the same trace everywhere, byte for byte."""

from __future__ import annotations

import os
import subprocess
import sys
from io import StringIO
from pathlib import Path

import pytest

from tests.long_runs import long_after
from tests.simulator.simulate import simulate

ROOT = Path(__file__).parents[2]


def trace(seed: int, salt: str) -> str:
    """A seed's whole trace and its summary, as another process prints them."""
    command = [sys.executable, "-m", "tests.simulator", str(seed), "--trace"]
    environment = {**os.environ, "PYTHONHASHSEED": salt}
    return subprocess.run(
        command, cwd=ROOT, env=environment, capture_output=True, text=True, check=False
    ).stdout


@pytest.mark.long
@pytest.mark.parametrize("seed", long_after(1, (5, 24, 9, 17)))
def test_a_seed_gives_the_same_trace_in_two_processes_whose_hashes_differ(seed: int) -> None:
    salt = "2" if os.environ.get("PYTHONHASHSEED") == "1" else "1"  # another than this process has
    here = StringIO()
    simulate(seed, here)
    assert len(here.getvalue().splitlines()) > 500
    assert trace(seed, salt).startswith(here.getvalue())
