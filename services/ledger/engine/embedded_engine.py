"""The embedded engine: a real Valkey as a child process, its AOF in a data folder.

One folder has one engine. A process that opens the folder while an engine runs on it (for another
command of the same user) uses that one, because two engines on one AOF would ruin it; the last
process to leave stops it, and a watcher does so where that one was killed. The engine runs in a
session of its own: the Ctrl-C that ends its parent must not end it while the parent still finishes.
"""

from __future__ import annotations

import fcntl
import json
import os
import resource
import secrets
import signal
import socket
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from enum import Enum, auto
from pathlib import Path
from typing import IO, Final, NamedTuple

import redis

from services.fast_path.engine_connection import engine_binary
from services.ledger.engine import engine_watcher
from services.ledger.engine.connection import EngineUnavailableError
from services.ledger.engine.engine_watcher import ALIVE_LOCK, LOCK, STOP_S, USERS_LOCK, end_engine, is_free


@contextmanager
def start_stop_lock(data_folder: Path) -> Iterator[None]:
    """Hold the folder's lock: one process at a time starts or stops its engine."""
    with (data_folder / LOCK).open("w") as lock_file:
        fcntl.flock(lock_file, fcntl.LOCK_EX)
        yield


def is_vacant(data_folder: Path) -> bool:
    """Whether no engine runs on this folder. An engine holds a lock as long as it lives,
    through the file that it inherits, however its parent ended."""
    with (data_folder / ALIVE_LOCK).open("w") as alive_file:
        return is_free(alive_file.fileno())


def why_ended(data_folder: Path) -> str:
    """Why the engine that this process uses doesn't run any more, and what to do; '' while it runs."""
    child = _children.get(data_folder.resolve())
    try:
        inode = (data_folder / ALIVE_LOCK).stat().st_ino
        if child is not None and child.alive_inode != inode:
            raise FileNotFoundError
        if not is_vacant(data_folder):
            return ""
        require_room(data_folder)
    except FileNotFoundError:
        return f"the data folder {data_folder} was deleted while the server ran, and its games with it"
    except EngineUnavailableError as error:
        return f"the engine ended: {error}"
    last_line = last_log_line(data_folder)
    return f"the engine ended ({last_line}); start again, and every game goes on from its log"


def require_room(data_folder: Path) -> None:
    """Raises EngineUnavailableError where ROOM_BYTES more can't be written to the folder's disk: an engine that can't
    write its AOF ends at once, each time that it is started."""
    try:
        with tempfile.TemporaryFile(dir=data_folder) as file:
            file.write(bytes(ROOM_BYTES))
            file.flush()
            os.fsync(file.fileno())
    except OSError as error:
        reason = f"the disk of the data folder {data_folder} takes no more ({error.strerror})"
        raise EngineUnavailableError(f"{reason}: make room, then start again; no game is lost") from None


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
    "maxmemory": "2gb",  # strangers fill no more of the machine; near it no game is created
    "maxmemory-policy": "noeviction",  # a log is never a cache
    "stream-node-max-bytes": 2048,  # a stream takes a node at once, and a game has two streams
    "hash-max-listpack-entries": 512,  # a seat's verdicts stay compact for a whole game
}
START_TIMEOUT_S: Final = 300.0  # without an answer; one that loads a long AOF answers that it does
ANSWER_S: Final = 3.0  # in which an engine answers, or stands still
ROOM_BYTES: Final = 1 << 20  # without so much room no engine is started: it would end within some moves


class ChildEngine(NamedTuple):
    """An engine that this process started, and its watcher."""

    process: subprocess.Popen[bytes]
    watcher: subprocess.Popen[bytes]
    alive_inode: int  # of its lock's file, by which a folder that was made anew is told apart


_children: Final[dict[Path, ChildEngine]] = {}  # by data folder


@contextmanager
def running_engine(
    data_folder: Path, memory_bytes: int | None = None, **settings: str | int
) -> Iterator[str]:
    """The URL of the engine that runs on the data in this folder, started if none does. On Linux it ends where it needs more
    than `memory_bytes` of addresses.

    Raises EngineUnavailableError, with the last line of the engine's log: it can't start."""
    try:
        data_folder.mkdir(mode=0o700, parents=True, exist_ok=True)
        users_file = (data_folder / USERS_LOCK).open("w")
    except OSError as error:
        raise EngineUnavailableError(f"the data folder {data_folder} can't be used: {error}") from None
    with users_file:
        try:
            with start_stop_lock(data_folder):
                fcntl.flock(users_file, fcntl.LOCK_SH)
                url = (
                    _start_engine(data_folder, memory_bytes, {**ENGINE_CONFIG, **settings})
                    if is_vacant(data_folder)
                    else _running_engine_url(data_folder)
                )
        except OSError as error:
            raise EngineUnavailableError(f"the data folder {data_folder} can't be used: {error}") from None
        try:
            yield url
        finally:
            try:
                with start_stop_lock(data_folder):
                    _stop_if_last(data_folder, users_file)
            except FileNotFoundError:  # somebody deleted the folder
                _reap(data_folder)


def kill_if_silent(data_folder: Path, url: str) -> None:
    """Kill the folder's engine where it stands still, so that nobody waits for it: what it has answered is on disk."""
    if _ask_readiness(url, ANSWER_S) is Readiness.SILENT:
        with suppress(OSError, ValueError, KeyError, TypeError):
            if not is_vacant(data_folder):
                os.kill(_engine_pid(data_folder), signal.SIGKILL)


def _start_engine(data_folder: Path, memory_bytes: int | None, settings: dict[str, str | int]) -> str:
    _reap(data_folder)  # one that ended before
    require_room(data_folder)
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
        if memory_bytes is not None and sys.platform == "linux":
            resource.prlimit(process.pid, resource.RLIMIT_AS, (memory_bytes, memory_bytes))
        alive_inode = os.fstat(alive_file.fileno()).st_ino
    watcher = _start_watcher(data_folder, process.pid)
    _children[data_folder.resolve()] = ChildEngine(process, watcher, alive_inode)
    write_private(data_folder / "engine.json", json.dumps({"url": url, "pid": process.pid}))
    try:
        _wait_until_ready(data_folder, url)
    except EngineUnavailableError:
        process.kill()
        _reap(data_folder)
        raise
    return url


def _start_watcher(data_folder: Path, pid: int) -> subprocess.Popen[bytes]:
    """Start the process that ends the engine after this one, if it is killed."""
    return subprocess.Popen(  # noqa: S603 - our own program
        [sys.executable, "-I", "-S", engine_watcher.__file__, str(data_folder.resolve()), str(pid)],
        stdin=subprocess.PIPE,
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
        start_new_session=True,
    )


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


def _ask_readiness(url: str, timeout_s: float = 2) -> Readiness:
    timeouts = {"socket_timeout": timeout_s, "socket_connect_timeout": timeout_s}
    try:
        with redis.Redis.from_url(url, protocol=2, **timeouts) as client:
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
    with (
        suppress(OSError, ValueError, KeyError, TypeError),
        (data_folder / ALIVE_LOCK).open("w") as alive_file,
    ):
        if not is_free(alive_file.fileno()):
            end_engine(_engine_pid(data_folder), alive_file.fileno())
    _reap(data_folder)


def _engine_pid(data_folder: Path) -> int:
    return int(json.loads((data_folder / "engine.json").read_text())["pid"])


def _reap(data_folder: Path) -> None:
    """End an engine that this process started, if it still runs, and its watcher; collect their exit statuses."""
    if (child := _children.pop(data_folder.resolve(), None)) is None:
        return
    child.process.terminate()
    try:
        child.process.wait(STOP_S)
    except subprocess.TimeoutExpired:
        child.process.kill()
        child.process.wait()
    assert child.watcher.stdin is not None
    child.watcher.stdin.close()
    with suppress(subprocess.TimeoutExpired):
        child.watcher.wait(STOP_S)
    child.watcher.kill()
    child.watcher.wait()


def _free_port() -> int:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        port: int = probe.getsockname()[1]
    return port
