"""A real engine whose users are those of deploy/redis/users.acl."""

from __future__ import annotations

import subprocess
import time
from collections.abc import Iterator
from contextlib import closing, contextmanager, suppress
from pathlib import Path
from typing import Any, NamedTuple

import redis

from services.cli.operating.keys import USERS_FILE, password_file, write_users
from services.fast_path.engine_connection import engine_binary
from services.ledger.engine.connection import connect
from tests.deploy.compose import free_port


class UsersEngine(NamedTuple):
    """The engine's port, and the folder with its users' passwords."""

    port: int
    passwords: Path

    def url(self, user: str) -> str:
        """The engine's address as this user; nobody's without one."""
        if not user:
            return f"redis://127.0.0.1:{self.port}/0"
        return f"redis://{user}:{password_file(self.passwords, user).read_text()}@127.0.0.1:{self.port}/0"

    def refused(self) -> list[str]:
        """What users asked for and may not: user, kind and name of each. Forgotten afterwards. Left out is the text of a
        script, which gateways and bots send where no referee has loaded it yet."""
        with closing(connect(self.url("operator"))) as client:
            untyped: Any = client
            lines = [
                f"{entry['username']}: {entry['reason']} {entry['object']} ({entry['context']})"
                for entry in untyped.acl_log(128)
                if (entry["reason"], entry["object"]) != ("command", "eval")
            ]
            untyped.acl_log_reset()
        return lines


@contextmanager
def engine_with_users(folder: Path) -> Iterator[UsersEngine]:
    """The engine, started with the file that `write_users` makes; stopped at the end of the block."""
    write_users(folder / "secrets")
    engine = UsersEngine(free_port(), folder / "secrets")
    settings = {
        "port": engine.port,
        "bind": "127.0.0.1",
        "dir": folder,
        "aclfile": folder / "secrets" / USERS_FILE,
        "appendonly": "yes",
        "appendfsync": "always",
        "save": "",
    }
    words = [str(word) for name, value in settings.items() for word in (f"--{name}", value)]
    with (folder / "engine.log").open("w") as output:
        process = subprocess.Popen([str(engine_binary()), *words], stdout=output, stderr=output)
    try:
        _wait_until_up(engine, process, folder / "engine.log")
        engine.refused()  # the client that asked whether it is up said its name
        yield engine
    finally:
        process.terminate()
        process.wait()


def _wait_until_up(engine: UsersEngine, process: subprocess.Popen[bytes], output: Path) -> None:
    while True:
        assert process.poll() is None, output.read_text()
        with suppress(redis.ConnectionError), closing(connect(engine.url("operator"))) as client:
            untyped: Any = client
            assert untyped.ping()
            return
        time.sleep(0.01)
