"""The bench works: a quick run measures every figure and says what it was measured on."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

import pytest

from tests.bench.__main__ import FIGURES, SLOW

ROOT = Path(__file__).resolve().parents[2]


def bench(*args: str) -> subprocess.CompletedProcess[str]:
    command = [sys.executable, "-m", "tests.bench", *args]
    return subprocess.run(command, cwd=ROOT, capture_output=True, text=True, timeout=290, check=False)


@pytest.mark.timeout(300)  # every figure, on machines that are slower than ours too
def test_a_quick_bench_measures_every_figure(tmp_path: Path) -> None:
    done = bench("--quick", "--out", str(tmp_path / "bench.json"))
    assert done.returncode == 0, done.stderr
    told = json.loads((tmp_path / "bench.json").read_text())
    assert told["failures"] == {}
    assert list(told["figures"]) == [name for name in FIGURES if name not in SLOW]
    assert told["figures"]["referee"]["parts"]["errors"] == 0
    assert all(figure["parts"] and figure["measured"] for figure in told["figures"].values())
    assert {"commit", "python", "engine", "cpus"} <= told["machine"].keys()


def test_an_unknown_figure_is_named_with_the_known_ones() -> None:
    done = bench("speed")
    assert done.returncode == 2
    assert "speed" in done.stderr and "latency" in done.stderr
