"""`python -m tests.mutants`: plant every bug, and check that a test notices it."""

from __future__ import annotations

import re
import subprocess
import sys
import time
from collections.abc import Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from pathlib import Path
from queue import SimpleQueue
from tempfile import TemporaryDirectory
from typing import Annotated, Final, NamedTuple

import typer
from rich.console import Console
from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeElapsedColumn
from rich.table import Table

from tests.mutants.mutant import Mutant, copy_tree, environment, plant, uproot
from tests.mutants.planted import MUTANTS

out: Final = Console(highlight=False, width=None if sys.stdout.isatty() else 120)
aside: Final = Console(stderr=True, highlight=False)
app = typer.Typer(add_completion=False)
FAILED: Final = re.compile(r"^(?:FAILED|ERROR) (\S+)", re.MULTILINE)
PATIENCE_S: Final = 900


class Found(NamedTuple):
    """A bug, and the test that noticed it, if any."""

    mutant: Mutant
    caught_by: str | None
    seconds: float


@app.command()
def mutants(
    names: Annotated[
        list[str] | None, typer.Argument(metavar="[NAME]...", help="Only those whose name has one of these.")
    ] = None,
    jobs: Annotated[int, typer.Option(min=1, max=64, help="How many at a time.")] = 2,
) -> None:
    """Plant bugs, one at a time, in copies of this tree, and report which test noticed each.

    First the tests are run without any bug: they must pass. Exit code 1 if a bug survives."""
    chosen = [mutant for mutant in MUTANTS if not names or any(name in mutant.name for name in names)]
    if not chosen:
        raise typer.BadParameter(f"unknown bug; there are {', '.join(m.name for m in MUTANTS)}")
    with trees(jobs) as free:
        aside.print(f"the tests without a bug, then {len(chosen)} bugs, {jobs} at a time", style="dim")
        watched_by = sorted({test for mutant in chosen for test in mutant.watched_by})
        if (failed := first_failure(None, watched_by, free, jobs)) is not None:
            out.print(f"{failed} fails without any bug: fix it first", style="red")
            raise typer.Exit(2)
        found = all_found(chosen, free, jobs)
    show(found)
    if any(each.caught_by is None for each in found):
        raise typer.Exit(1)


@contextmanager
def trees(count: int) -> Iterator[SimpleQueue[Path]]:
    """A queue of copies of the tree."""
    free: SimpleQueue[Path] = SimpleQueue()
    with TemporaryDirectory() as folder:
        for number in range(count):
            tree = Path(folder) / str(number)
            copy_tree(tree)
            free.put(tree)
        yield free


def all_found(chosen: Sequence[Mutant], free: SimpleQueue[Path], jobs: int) -> list[Found]:
    columns = (TextColumn("{task.description}"), BarColumn(), MofNCompleteColumn(), TimeElapsedColumn())
    with (
        Progress(*columns, console=aside, disable=not aside.is_terminal, transient=True) as progress,
        ThreadPoolExecutor(jobs) as pool,
    ):
        task, found = progress.add_task("planting", total=len(chosen)), []
        for each in pool.map(lambda mutant: watched(mutant, free), chosen):
            found.append(each)
            progress.advance(task)
            if not aside.is_terminal:
                aside.print(
                    f"{each.mutant.name}: {each.caught_by or 'SURVIVED'}", markup=False, soft_wrap=True
                )
    return found


def watched(mutant: Mutant, free: SimpleQueue[Path]) -> Found:
    start = time.monotonic()
    caught_by = first_failure(mutant, mutant.watched_by, free)
    return Found(mutant, caught_by, time.monotonic() - start)


def first_failure(
    mutant: Mutant | None, tests: Sequence[str], free: SimpleQueue[Path], jobs: int = 0
) -> str | None:
    """The first of these tests that fails in a tree with this bug; None if all pass."""
    tree = free.get()
    plant(mutant, tree)
    try:
        done = subprocess.run(
            [sys.executable, "-m", "pytest", "-x", "-n", str(jobs), "-m", "", "-p", "no:cacheprovider", "--timeout", "60", *tests],
            cwd=tree, env=environment(), capture_output=True, text=True, timeout=PATIENCE_S, check=False,
        )  # fmt: skip
    except subprocess.TimeoutExpired:
        return f"(the tests hung for {PATIENCE_S} s)"
    finally:
        uproot(mutant, tree)
        free.put(tree)
    if done.returncode == 0:
        return None
    named = FAILED.search(done.stdout)
    return named[1] if named else f"(pytest ended with {done.returncode}: {done.stdout[-200:].strip()})"


def show(found: Sequence[Found]) -> None:
    table = Table("bug", "promise", "noticed by", "s", title=f"{len(found)} planted bugs", show_lines=False)
    for mutant, caught_by, seconds in found:
        result = caught_by.removeprefix("tests/") if caught_by else "[red]nobody: it survives[/]"
        table.add_row(mutant.name, mutant.promise, result, f"{seconds:.0f}")
    out.print(table)
    survived = sum(each.caught_by is None for each in found)
    out.print(f"{len(found) - survived} of {len(found)} noticed.")


if __name__ == "__main__":
    app()
