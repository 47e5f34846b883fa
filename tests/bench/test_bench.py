"""The bench works: a quick run measures every figure and records the machine."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
from typer.testing import CliRunner

from tests.bench.__main__ import FIGURES, SLOW, app, show_comparison
from tests.bench.comparison import compare
from tests.bench.crowds import lines_of

CHEAP = ("rulesets",)
PARTS = 3  # of all figures: the workers of a run share them, and each part imports all that measures
ROOT = Path(__file__).resolve().parents[2]


def bench(*args: str) -> subprocess.CompletedProcess[str]:
    command = [sys.executable, "-m", "tests.bench", *args]
    return subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=False)


def measured(folder: Path, *names: str) -> dict[str, Any]:
    """These figures of a quick run, by name."""
    done = bench("--quick", "--out", str(folder / "bench.json"), *names)
    assert done.returncode == 0, done.stderr
    document = json.loads((folder / "bench.json").read_text())
    assert document["failures"] == {}
    assert all(figure["parts"] and figure["measured"] for figure in document["figures"].values())
    assert {"commit", "python", "engine", "cpus"} <= document["machine"].keys()
    figures: dict[str, Any] = document["figures"]
    return figures


@pytest.mark.long
@pytest.mark.parametrize("part", range(PARTS))
def test_a_quick_bench_measures_every_figure(tmp_path: Path, part: int) -> None:
    names = [name for name in FIGURES if name not in SLOW][part::PARTS]
    figures = measured(tmp_path, *names)
    assert list(figures) == names
    assert "referee" not in figures or figures["referee"]["parts"]["errors"] == 0


def test_a_quick_bench_measures_the_figures_that_are_named(tmp_path: Path) -> None:
    assert list(measured(tmp_path, *CHEAP)) == list(CHEAP)


def test_a_crowd_that_comes_in_the_gateways_first_second_finds_no_lines(tmp_path: Path) -> None:
    assert lines_of(tmp_path / "probe") == []


def test_an_unknown_figure_is_named_with_the_known_ones() -> None:
    done = CliRunner().invoke(app, ["speed"])
    assert done.exit_code == 2
    assert "speed" in done.stderr and "latency" in done.stderr


def run_of(**parts: object) -> dict[str, Any]:
    """The document of a run, as bench.json has it."""
    machine = {"commit": "c", "cpu": "x", "cpus": 2, "python": "3.11", "rules": "pure"}
    return {"machine": machine, "quick": False, "figures": {"core": {"parts": parts}}}


def test_two_runs_are_shown_side_by_side_and_5_percent_worse_fails(
    capsys: pytest.CaptureFixture[str],
) -> None:
    # given a run, and one in which a rate fell and a time rose, each by 6 percent
    before = run_of(ours_per_s=[99, 100, 101], p50_ms=10.0, theirs_per_s=[7], games=4)
    assert [part.is_worse for part in compare(before, run_of(ours_per_s=[94], p50_ms=10.6))] == [True, True]
    # what rose by as much, or fell by 4 percent, isn't worse; a peer's and a count aren't compared
    now = run_of(ours_per_s=[106], p50_ms=10.4, theirs_per_s=[1], games=1)
    assert [part.is_worse for part in compare(before, now)] == [False, False]
    assert not show_comparison(before, now)
    assert "100 (99 to 101)" in capsys.readouterr().out


@pytest.mark.parametrize(
    ("text", "reason"), [(None, "no such file"), ("[]", "no run"), ("quick", "is quick")]
)
def test_what_is_compared_with_must_be_such_a_run(tmp_path: Path, text: str | None, reason: str) -> None:
    path = tmp_path / "bench.json"
    if text is not None:
        path.write_text(json.dumps(run_of() | {"quick": True}) if text == "quick" else text)
    done = CliRunner().invoke(app, ["core", "--compare", str(path)])
    assert done.exit_code == 2
    assert reason in " ".join(done.stderr.replace("│", "").split())
