"""Ends an engine that nobody uses any more, however its users ended: `engine_watcher.py FOLDER PID`.

The process that starts an engine starts this one beside it, with a pipe that closes when that process, and those forked off
it, have ended. It is run by its path and needs the standard library only, so that it takes little.
"""

from __future__ import annotations

import fcntl
import os
import signal
import sys
import time
from contextlib import suppress
from pathlib import Path
from typing import Final

LOCK: Final = "engine.lock"  # held while an engine is started or stopped
USERS_LOCK: Final = "engine.users"  # shared by those who use the engine
ALIVE_LOCK: Final = "engine.alive"  # held by the engine as long as it lives, however its parent ended
STOP_S: Final = 5.0  # then an engine is killed: what it has answered is in its AOF
LOOK_INTERVAL_S: Final = 0.5  # while others use the engine


def is_free(descriptor: int) -> bool:
    """Whether nobody else holds the lock of this open file."""
    try:
        fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        return False
    fcntl.flock(descriptor, fcntl.LOCK_UN)
    return True


def end_engine(pid: int, alive: int) -> None:
    """Ask the engine to end, and kill it STOP_S later; return when its lock is free."""
    for number in (signal.SIGTERM, signal.SIGKILL):
        deadline_s = time.monotonic() + STOP_S
        with suppress(OSError):
            os.kill(pid, number)
        while not is_free(alive):
            if time.monotonic() >= deadline_s:
                break
            time.sleep(0.01)


def is_there(pid: int) -> bool:
    """Whether there is such a process: a lock that others hold is another engine's."""
    try:
        os.kill(pid, 0)
    except ProcessLookupError:
        return False
    return True


def watch(folder: Path, pid: int) -> None:
    """Wait until the starter has ended, and end its engine as soon as nobody uses it."""
    lock, users, alive = (os.open(folder / name, os.O_RDWR) for name in (LOCK, USERS_LOCK, ALIVE_LOCK))
    sys.stdin.buffer.read()
    while not is_free(alive) and is_there(pid):
        fcntl.flock(lock, fcntl.LOCK_EX)
        if is_free(users):
            end_engine(pid, alive)
        fcntl.flock(lock, fcntl.LOCK_UN)
        time.sleep(LOOK_INTERVAL_S)


if __name__ == "__main__":
    watch(Path(sys.argv[1]), int(sys.argv[2]))
