"""The bench works: a quick run measures every figure and records the machine."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
from typer.testing import CliRunner

from tests.bench.__main__ import FIGURES, SLOW, app
from tests.bench.crowds import lines_of

CHEAP = ("rulesets",)
ROOT = Path(__file__).resolve().parents[2]


def bench(*args: str) -> subprocess.CompletedProcess[str]:
    command = [sys.executable, "-m", "tests.bench", *args]
    return subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=False)


def measured(folder: Path, *names: str) -> dict[str, Any]:
    """The figures of a quick run, by name; it measures all of them where none is named."""
    done = bench("--quick", "--out", str(folder / "bench.json"), *names)
    assert done.returncode == 0, done.stderr
    document = json.loads((folder / "bench.json").read_text())
    assert document["failures"] == {}
    assert all(figure["parts"] and figure["measured"] for figure in document["figures"].values())
    assert {"commit", "python", "engine", "cpus"} <= document["machine"].keys()
    figures: dict[str, Any] = document["figures"]
    return figures


@pytest.mark.long
@pytest.mark.timeout(900)
def test_a_quick_bench_measures_every_figure(tmp_path: Path) -> None:
    figures = measured(tmp_path)
    assert list(figures) == [name for name in FIGURES if name not in SLOW]
    assert figures["referee"]["parts"]["errors"] == 0


def test_a_quick_bench_measures_the_figures_that_are_named(tmp_path: Path) -> None:
    assert list(measured(tmp_path, *CHEAP)) == list(CHEAP)


def test_a_crowd_that_comes_in_the_gateways_first_second_finds_no_lines(tmp_path: Path) -> None:
    assert lines_of(tmp_path / "probe") == []


def test_an_unknown_figure_is_named_with_the_known_ones() -> None:
    done = CliRunner().invoke(app, ["speed"])
    assert done.exit_code == 2
    assert "speed" in done.stderr and "latency" in done.stderr
