"""The embedded engine: a real Valkey as a child process, its AOF in a data folder.

One folder has one engine. A process that opens the folder while an engine runs on it (for another
command of the same user, or with its parent killed) uses that one, because two engines on one AOF
would ruin it; the last process to leave stops it. The engine runs in a session of its own: the
Ctrl-C that ends its parent must not end it while the parent still finishes.
"""

from __future__ import annotations

import fcntl
import json
import os
import secrets
import signal
import socket
import subprocess
import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from enum import Enum, auto
from pathlib import Path
from typing import IO, Final

import redis

from services.fast_path.engine_binary import engine_binary
from services.ledger.engine.connection import EngineUnavailableError

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


ENGINE_CONFIG: Final[dict[str, str | int]] = {
    "bind": "127.0.0.1",
    "appendonly": "yes",
    "appendfsync": "always",  # what it answers is on disk; one sync for all that is asked at once
    "save": "",  # the AOF is the record; snapshots besides would only cost
    "maxmemory-policy": "noeviction",  # a log is never a cache
    "stream-node-max-bytes": 2048,  # a stream takes a node at once, and a game has two streams
    "hash-max-listpack-entries": 512,  # a seat's verdicts stay compact for a whole game
}
START_TIMEOUT_S: Final = 300.0  # without an answer; one that loads a long AOF answers that it does
STOP_TIMEOUT_S: Final = 300.0  # it writes the rest of its AOF first
_child_processes: Final[dict[Path, subprocess.Popen[bytes]]] = {}  # engines of this process, to be reaped


@contextmanager
def running_engine(data_folder: Path, **settings: str | int) -> Iterator[str]:
    """The URL of the engine that runs on the data in this folder, started if none does.

    Raises EngineUnavailableError, with the last line of the engine's log: it can't start."""
    try:
        data_folder.mkdir(mode=0o700, parents=True, exist_ok=True)
        users_file = (data_folder / "engine.users").open("w")
    except OSError as error:
        raise EngineUnavailableError(f"the data folder {data_folder} can't be used: {error}") from None
    with users_file:
        try:
            with start_stop_lock(data_folder):
                fcntl.flock(users_file, fcntl.LOCK_SH)
                url = (
                    _start_engine(data_folder, {**ENGINE_CONFIG, **settings})
                    if is_vacant(data_folder)
                    else _running_engine_url(data_folder)
                )
        except OSError as error:
            raise EngineUnavailableError(f"the data folder {data_folder} can't be used: {error}") from None
        try:
            yield url
        finally:
            with start_stop_lock(data_folder):
                _stop_if_last(data_folder, users_file)


def _start_engine(data_folder: Path, settings: dict[str, str | int]) -> str:
    port = _free_port()
    config = data_folder / "valkey.conf"
    password = secrets.token_hex(24)  # other users of this machine must not read games, nor write them
    lines = {
        **settings,
        "port": port,
        "dir": data_folder.resolve(),
        "logfile": "valkey.log",
        "requirepass": password,
    }
    write_private(config, "".join(f"{name} {json.dumps(str(value))}\n" for name, value in lines.items()))
    url = f"redis://:{password}@127.0.0.1:{port}/0"
    with (data_folder / ALIVE_LOCK).open("w") as alive_file:
        fcntl.flock(alive_file, fcntl.LOCK_EX)
        try:
            process = subprocess.Popen(  # noqa: S603 - our own engine, on our own file
                [str(engine_binary()), str(config.resolve())],
                stdout=subprocess.DEVNULL,
                stderr=subprocess.DEVNULL,
                start_new_session=True,
                pass_fds=(alive_file.fileno(),),
                umask=0o077,
            )
        except OSError as error:
            raise EngineUnavailableError(f"there is no engine for this machine: {error}") from None
    _reap(data_folder)  # one that ended before
    _child_processes[data_folder.resolve()] = process
    write_private(data_folder / "engine.json", json.dumps({"url": url, "pid": process.pid}))
    try:
        _wait_until_ready(data_folder, url)
    except EngineUnavailableError:
        process.kill()
        _reap(data_folder)
        raise
    return url


def _running_engine_url(data_folder: Path) -> str:
    """The URL of the engine that runs on this folder."""
    try:
        url: str = json.loads((data_folder / "engine.json").read_text())["url"]
    except (OSError, ValueError, KeyError, TypeError):
        reason = f"an engine runs on {data_folder}, and {data_folder / 'engine.json'} doesn't say where"
        raise EngineUnavailableError(reason) from None
    _wait_until_ready(data_folder, url)
    return url


def _wait_until_ready(data_folder: Path, url: str) -> None:
    """Return when the folder's engine has loaded its data and answers, however long it loads."""
    deadline_s = time.monotonic() + START_TIMEOUT_S
    while (readiness := _ask_readiness(url)) is not Readiness.READY:
        if readiness is Readiness.LOADING:
            deadline_s = time.monotonic() + START_TIMEOUT_S
        if is_vacant(data_folder) or time.monotonic() > deadline_s:
            raise EngineUnavailableError(
                f"the embedded engine can't start in {data_folder}: {last_log_line(data_folder)}"
            )
        time.sleep(0.01)


class Readiness(Enum):
    """What an engine that starts answers, if it does."""

    SILENT = auto()
    LOADING = auto()
    READY = auto()


def _ask_readiness(url: str) -> Readiness:
    try:
        with redis.Redis.from_url(url, socket_timeout=2, socket_connect_timeout=2, protocol=2) as client:
            client.exists("ledgerline:partitions")  # refused while the AOF is being loaded
    except redis.BusyLoadingError:
        return Readiness.LOADING
    except redis.RedisError:
        return Readiness.SILENT
    return Readiness.READY


def _stop_if_last(data_folder: Path, users_file: IO[str]) -> None:
    try:
        fcntl.flock(users_file, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        return  # another process still uses the engine, and will stop it
    if not is_vacant(data_folder):
        _terminate(data_folder)
    _reap(data_folder)


def _terminate(data_folder: Path) -> None:
    """Signal the folder's engine to stop, and wait until it has."""
    with suppress(OSError, ValueError, KeyError, TypeError):
        os.kill(int(json.loads((data_folder / "engine.json").read_text())["pid"]), signal.SIGTERM)
        deadline_s = time.monotonic() + STOP_TIMEOUT_S
        while not is_vacant(data_folder) and time.monotonic() < deadline_s:
            time.sleep(0.01)


def _reap(data_folder: Path) -> None:
    """Collect the exit status of an engine that this process started and that has ended."""
    if (process := _child_processes.pop(data_folder.resolve(), None)) is not None:
        process.wait(STOP_TIMEOUT_S)


def _free_port() -> int:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        port: int = probe.getsockname()[1]
    return port
