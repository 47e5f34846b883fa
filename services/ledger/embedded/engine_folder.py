"""The data folder of an embedded engine: its locks, and files that only their owner may read."""

from __future__ import annotations

import fcntl
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Final

ALIVE_LOCK: Final = "engine.alive"


@contextmanager
def start_stop_lock(data_folder: Path) -> Iterator[None]:
    """Hold the folder's lock: one process at a time starts or stops its engine."""
    with (data_folder / "engine.lock").open("w") as lock_file:
        fcntl.flock(lock_file, fcntl.LOCK_EX)
        yield


def is_vacant(data_folder: Path) -> bool:
    """Whether no engine runs on this folder. An engine holds this lock as long as it lives,
    through the file that it inherits, however its parent ended."""
    with (data_folder / ALIVE_LOCK).open("w") as alive_file:
        try:
            fcntl.flock(alive_file, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            return False
    return True


def write_private(path: Path, text: str) -> None:
    """Write a file that only its owner may read."""
    path.unlink(missing_ok=True)
    path.touch(mode=0o600)
    path.write_text(text)


def last_log_line(data_folder: Path) -> str:
    """The last line of the engine's log."""
    try:
        lines = (data_folder / "valkey.log").read_text(errors="replace").strip().splitlines()
    except OSError as error:
        return str(error)
    return lines[-1] if lines else "its log is empty"
