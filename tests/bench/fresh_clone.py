"""`make play` in a fresh clone: how long a first try takes.

The clone is of the last commit, so what isn't committed isn't measured; packages come
through pip as configured, none of them from its cache."""

from __future__ import annotations

import os
import subprocess
from pathlib import Path
from tempfile import TemporaryDirectory

from tests.bench.figure import Figure, Report, Size, seconds

SETUP_S, PLAY_S = 180, 15
ROOT = Path(__file__).resolve().parents[2]


def measure(size: Size, report: Report) -> Figure:
    with TemporaryDirectory() as folder:
        clone = Path(folder) / "ledgerline"
        report("git clone")
        run("git", "clone", "--quiet", str(ROOT), str(clone), where=ROOT)
        report("make setup")
        setup = seconds(lambda: run("make", "setup", where=clone))
        report("make play")
        play = seconds(lambda: run("make", "play", where=clone))
    return Figure(
        "make play in a fresh clone: set-up, then the game",
        f"{setup:.0f} s, {play:.1f} s",
        f"under {SETUP_S} s, under {PLAY_S} s",
        setup < SETUP_S and play < PLAY_S,
        {"setup_s": setup, "play_s": play},
    )


def run(*command: str, where: Path) -> None:
    """Run to the end. Raises RuntimeError with the end of the command's output."""
    given = {
        name: value for name, value in os.environ.items() if not name.startswith(("LEDGERLINE_", "VIRTUAL"))
    }
    done = subprocess.run(
        command,
        cwd=where,
        env={**given, "PIP_NO_CACHE_DIR": "1"},
        capture_output=True,
        text=True,
        check=False,
    )
    if done.returncode:
        raise RuntimeError(f"{' '.join(command)} failed: {(done.stderr or done.stdout)[-600:].strip()}")
