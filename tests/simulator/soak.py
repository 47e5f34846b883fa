"""Many seeds on every core, with a summary at the end."""

from __future__ import annotations

import os
import subprocess
import time
from concurrent.futures import ProcessPoolExecutor
from typing import Final

from rich.console import Console
from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeRemainingColumn

from tests.simulator.simulate import Outcome, simulate

CHUNK: Final = 8


def soak(first: int, count: int) -> int:
    """Play so many seeds; 0 if none complains."""
    console, began = Console(soft_wrap=True, highlight=False), time.monotonic()
    games = entries = bad = 0
    result = TextColumn("{task.fields[games]} games, {task.fields[bad]} seeds complain")
    columns = (BarColumn(), MofNCompleteColumn(), result, TimeRemainingColumn())
    with Progress(*columns, console=console) as bar, ProcessPoolExecutor(os.cpu_count()) as cores:
        task = bar.add_task("soak", total=count, games=0, bad=0)
        for outcome in cores.map(_safely, range(first, first + count), chunksize=CHUNK):
            games, entries = games + outcome.games, entries + outcome.entries
            if outcome.complaints:
                bad += 1
                console.print(outcome.summary(), markup=False)
            bar.update(task, advance=1, games=games, bad=bad)
    took = time.monotonic() - began
    console.print(
        f"commit {_commit()}: {count} seeds from {first}, {games} games, {entries} entries "
        f"in {took:.0f} s, {count / took:.1f} seeds/s; seeds that complain: {bad}"
    )
    return 1 if bad else 0


def _safely(seed: int) -> Outcome:
    """A seed that breaks the simulator itself is a complaint, and the others go on."""
    try:
        return simulate(seed)
    except Exception as error:
        return Outcome(seed, "", 0, 0, 0.0, [f"the simulator broke: {error!r}"])


def _commit() -> str:
    """The commit, marked if the tree isn't clean."""
    result = subprocess.run(
        ["git", "describe", "--always", "--dirty", "--abbrev=10"], capture_output=True, text=True, check=False
    )
    return result.stdout.strip() or "unknown"
