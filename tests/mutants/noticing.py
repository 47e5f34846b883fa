"""Which test notices a planted bug: tests are run in copies of the tree, one bug at a time.

The test that noticed it last time comes first, then those that watch for it, and only then their long forms. A test
that fails or takes too long without any bug has noticed nothing; that is tried when all bugs were planted
(`failing_without`).
"""

from __future__ import annotations

import re
import subprocess
import sys
import time
from collections.abc import Collection, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from math import ceil
from pathlib import Path
from queue import SimpleQueue
from tempfile import TemporaryDirectory
from typing import Final, NamedTuple

from tests.mutants.mutant import Mutant, copy_tree, environment, plant, uproot

FAILED: Final = re.compile(r"^(?:FAILED|ERROR) (\S.*?)(?: - .*)?$", re.MULTILINE)
PATIENCE_S: Final = 900  # of all tests that watch for one bug
SHORT: Final = ("-m", "not long", "--timeout", "60")
LONG: Final = ("-m", "long", "--timeout", "300")
# Alone: a bug may make it hang, which it notices by that. Without one the slowest takes 8 s.
ALONE: Final = ("-m", "", "--timeout", "20")
NO_TESTS_COLLECTED: Final = 5
Trees = SimpleQueue[Path]


class Outcome(NamedTuple):
    """What became of a bug: the test that noticed it, "" where none did, and how long that took."""

    name: str
    noticed_by: str
    seconds: float


class Run(NamedTuple):
    """How a run of tests ended: pytest's exit code, the failed tests, and its last words."""

    exit_code: int
    failed: tuple[str, ...]
    last_words: str


@contextmanager
def trees(count: int) -> Iterator[Trees]:
    """A queue of copies of the tree."""
    free: Trees = SimpleQueue()
    with TemporaryDirectory() as folder:
        for number in range(count):
            tree = Path(folder) / str(number)
            copy_tree(tree)
            free.put(tree)
        yield free


def find_out(mutant: Mutant, likeliest: str, free: Trees) -> Outcome:
    """Plant the bug in a free tree and run its tests until one fails, `likeliest` before all others."""
    start, tree = time.monotonic(), free.get()
    try:
        plant(mutant, tree)
        noticed_by = first_failure(mutant.watched_by, likeliest, tree)
    except subprocess.TimeoutExpired:
        noticed_by = f"(the tests hung for {PATIENCE_S} s)"
    finally:
        uproot(mutant, tree)
        free.put(tree)
    return Outcome(mutant.name, noticed_by, round(time.monotonic() - start, 1))


def first_failure(watched_by: Sequence[str], likeliest: str, tree: Path) -> str:
    """The first of these tests that fails in this tree; "" if all pass."""
    if likeliest and run_tests((likeliest,), ALONE, tree).failed == (likeliest,):
        return likeliest
    for chosen in (SHORT, LONG):
        run = run_tests(watched_by, ("-x", *chosen), tree)
        if run.exit_code not in (0, NO_TESTS_COLLECTED):
            return run.failed[0] if run.failed else f"(pytest ended with {run.exit_code}: {run.last_words})"
    return ""


def failing_without(tests: Collection[str], free: Trees) -> tuple[str, ...]:
    """Which of these tests fail without any bug, so that it says nothing that they failed with one; each free tree has
    its share. Raises RuntimeError: they can't be run."""
    count, ordered = free.qsize(), sorted(tests)  # neighbours share what their module starts
    share = ceil(len(tests) / count)
    shares = [ordered[first : first + share] for first in range(0, len(tests), share or 1)]

    def failing(chosen: Sequence[str]) -> tuple[str, ...]:
        run = run_tests(chosen, ALONE, free.get(), patience_s=None)
        if run.exit_code not in (0, 1):
            raise RuntimeError(f"pytest ended with {run.exit_code}: {run.last_words}")
        return run.failed

    with ThreadPoolExecutor(count) as pool:
        return tuple(test for failed in pool.map(failing, shares) for test in failed)


def run_tests(
    tests: Sequence[str], options: Sequence[str], tree: Path, patience_s: float | None = PATIENCE_S
) -> Run:
    """Run these tests in this tree. Raises subprocess.TimeoutExpired."""
    done = subprocess.run(
        [sys.executable, "-m", "pytest", "-n0", "-rfE", "-p", "no:cacheprovider", *options, *tests],
        cwd=tree, env=environment(), capture_output=True, text=True, timeout=patience_s, check=False,
    )  # fmt: skip
    return Run(done.returncode, tuple(FAILED.findall(done.stdout)), done.stdout[-200:].strip())
