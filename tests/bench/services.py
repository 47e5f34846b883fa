"""The services as they are deployed: a referee and a gateway, each a process of its own."""

from __future__ import annotations

import os
import secrets
import subprocess
import sys
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from time import monotonic, sleep
from typing import Final, NamedTuple

import httpx

from services.gateway.server import open_listener

SERVICES: Final = {
    "referee": "tests.bench.rehearsed_referee",
    "gateway": "services.cli",
}  # modules that run them
UP_S: Final = 120.0  # on a busy machine
STOP_S: Final = 60.0  # with thousands of sockets


class Server(NamedTuple):
    """Where its gateway listens, what signs its tokens, and its processes' ids."""

    url: str
    key: bytes
    pids: Mapping[str, int]


@contextmanager
def running_services(
    engine: str, modules: Mapping[str, str] = SERVICES, /, **settings: object
) -> Iterator[Server]:
    """Both services on this engine, with these LEDGERLINE_ settings besides. `modules` are those that run other
    services too, or these in another way."""
    with open_listener("127.0.0.1", 0) as free:
        port = free.getsockname()[1]
    key = secrets.token_hex(32)
    given = {name: value for name, value in os.environ.items() if not name.startswith("LEDGERLINE_")}
    wanted = {"redis_url": engine, "token_key": key, "port": port, "log_level": "warning", **settings}
    environment = given | {f"LEDGERLINE_{name.upper()}": str(value) for name, value in wanted.items()}
    services = {
        name: subprocess.Popen([sys.executable, "-m", module, name], env=environment)
        for name, module in {**SERVICES, **modules}.items()
    }
    try:
        _wait_until_up(url := f"http://127.0.0.1:{port}", list(services.values()))
        yield Server(url, key.encode(), {name: service.pid for name, service in services.items()})
    finally:
        for service in services.values():
            service.terminate()
        for service in services.values():
            service.wait(STOP_S)


def _wait_until_up(url: str, services: list[subprocess.Popen[bytes]]) -> None:
    limit = monotonic() + UP_S
    while monotonic() < limit and all(service.poll() is None for service in services):
        try:
            if httpx.get(f"{url}/health", trust_env=False).is_success:
                return
        except httpx.TransportError:
            sleep(0.05)
    raise RuntimeError("referee and gateway did not come up; the lines above say why")
