"""`ledgerline ask` from a cold start: a position and a command in, the verdict out."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

from tests.bench.figure import Figure, Report, Size, seconds

GOAL_S = 1.0
ROOT = Path(__file__).resolve().parents[2]
QUESTION = {
    "ruleset": "europe",
    "seats": 3,
    "position": {"hands": [{"red": 3, "locomotive": 1}], "deck": ["red", "locomotive", "blue"]},
    "commands": [{"seat": 0, "type": "claim_route", "route": "essen-kobenhavn-a", "cards": {"red": 3}}],
    "legal": True,
    "score": True,
}


def measure(size: Size, report: Report) -> Figure:
    times = []
    for number in range(size.of(7, 2)):
        report(f"question {number}")
        times.append(seconds(ask))
    return Figure(
        "ledgerline ask, a whole process from its start to its answer",
        f"{max(times):.2f} s at most, {min(times):.2f} s at least",
        f"under {GOAL_S:g} s",
        max(times) < GOAL_S,
        {"seconds": times},
    )


def ask() -> None:
    """One question to a new process, which must answer it."""
    command = [sys.executable, "-m", "services.cli", "ask", "-"]
    done = subprocess.run(
        command, cwd=ROOT, input=json.dumps(QUESTION), capture_output=True, text=True, check=True
    )
    assert json.loads(done.stdout), "there is an answer"
