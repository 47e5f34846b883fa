"""The processes that tests of this run have started and left behind.

Known are the descendants of this process, and by a mark in their environment those that have outlived
their parents. Both are read from /proc: where there is none (not Linux), nothing is found."""

from __future__ import annotations

import os
import secrets
from collections.abc import Iterator
from contextlib import suppress
from multiprocessing import forkserver, resource_tracker
from pathlib import Path
from typing import Final, NamedTuple

MARK: Final = "TEST_RUN_OF_LEDGERLINE"  # LEDGERLINE_.. are settings, which tests don't hand on
RUN: Final = secrets.token_hex(8)
PROC: Final = Path("/proc")


class RunningProcess(NamedTuple):
    """One process that is alive."""

    id: int
    parent: int
    command: str
    is_marked: bool

    def __str__(self) -> str:
        return f"{self.id}: {self.command}"


def mark_children() -> None:
    """From here on every process that this one starts has the mark in its environment."""
    os.environ[MARK] = RUN


def left_processes() -> list[RunningProcess]:
    """The processes alive that this one has started, or a process started by it, at any depth."""
    every = list(_running_processes())
    found = {process.id: process for process in every if process.is_marked}
    parents = {os.getpid(), *found}
    while more := [process for process in every if process.parent in parents and process.id not in found]:
        found |= {process.id: process for process in more}
        parents |= {process.id for process in more}
    return sorted(found.values())


def is_group_running(group: int) -> bool:
    """Whether a process of this group runs, or a thread of one that is ending."""
    for folder in PROC.glob("[0-9]*"):
        with suppress(OSError):  # it has ended meanwhile
            state, _, its_group, *others = (folder / "stat").read_text().rpartition(")")[2].split()
            if int(its_group) == group and (state not in "ZX" or int(others[14]) > 1):
                return True
    return False


def end_multiprocessing() -> None:
    """End what multiprocessing starts beside processes and keeps as long as this one lives."""
    forkserver._forkserver._stop()  # type: ignore[attr-defined]  # there is no public way
    resource_tracker._resource_tracker._stop()  # type: ignore[attr-defined]


def _running_processes() -> Iterator[RunningProcess]:
    mark = f"{MARK}={RUN}".encode()
    for folder in PROC.glob("[0-9]*"):
        with suppress(OSError):  # it has ended meanwhile, or is another user's
            state, parent = (folder / "stat").read_text().rpartition(")")[2].split()[:2]
            if state not in "ZX" and int(folder.name) != os.getpid():
                environment = (folder / "environ").read_bytes().split(b"\0")
                command = (folder / "cmdline").read_bytes().replace(b"\0", b" ").decode(errors="replace")
                yield RunningProcess(int(folder.name), int(parent), command[:200], mark in environment)
