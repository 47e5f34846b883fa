"""compose.yaml as compose reads it, and its services as plain processes on loopback."""

from __future__ import annotations

import json
import os
import re
import secrets
import signal
import socket
import subprocess
import sys
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Any

import httpx
import yaml

from services.archive import Signer
from services.cli.operating.keys import password_file, write_users
from services.fast_path.engine_connection import engine_binary
from tests.left_processes import MARK, RUN, is_group_running
from tests.many_clients import environment_for_many_clients

ROOT = Path(__file__).parents[2]
SHORT = {"cars": 15}  # a game of some hundred entries
SIGNING_KEY = "5e" * 32
GIVEN = {
    "LEDGERLINE_PUBLIC_KEYS": Signer(SIGNING_KEY).public_key.hex(),
    "LEDGERLINE_LOG_LEVEL": "debug",
}
VARIABLE = re.compile(r"\$(?:(?P<dollar>\$)|\{(?P<name>\w+)(?:(?P<kind>:?[-?])(?P<word>[^}]*))?\})")


class MissingVariableError(Exception):
    """A variable that the file requires is missing."""


def read_compose(given: Mapping[str, str]) -> dict[str, Any]:
    """The file with its variables interpolated, and without those that it only passes on and nobody gave. Raises
    MissingVariableError."""
    document: dict[str, Any] = interpolated(yaml.safe_load((ROOT / "compose.yaml").read_text()), given)
    for service in document["services"].values():
        passed_on = {
            name: given.get(name) if value is None else value
            for name, value in service.get("environment", {}).items()
        }
        service["environment"] = {name: value for name, value in passed_on.items() if value is not None}
    return document


def interpolated(value: Any, given: Mapping[str, str]) -> Any:
    def substitute(match: re.Match[str]) -> str:
        if match["dollar"]:
            return "$"
        name, kind, word = match["name"], match["kind"] or "", match["word"] or ""
        known = given.get(name)
        if known is None or (kind.startswith(":") and not known):
            if kind.endswith("?"):
                raise MissingVariableError(f"{name}: {word}")
            return word
        return known

    if isinstance(value, dict):
        return {key: interpolated(inner, given) for key, inner in value.items()}
    if isinstance(value, list):
        return [interpolated(inner, given) for inner in value]
    return VARIABLE.sub(substitute, value) if isinstance(value, str) else value


class Running:
    """A running service, and its output."""

    def __init__(self, name: str, words: Sequence[str], environment: Mapping[str, str], folder: Path) -> None:
        self.name, self.output = name, folder / f"{name}-{time.monotonic_ns()}.log"
        self.metrics = environment.get("LEDGERLINE_METRICS", "")
        self.given: Mapping[str, str] = {}  # beside what the file says
        with self.output.open("w") as output:
            self.process = subprocess.Popen(
                [*words],
                cwd=folder,
                env=dict(environment),
                stdout=output,
                stderr=output,
                start_new_session=True,
            )

    def lines(self) -> list[dict[str, Any]]:
        """The complete lines so far; each must be a JSON object."""
        return [json.loads(line) for line in self.text().splitlines(keepends=True) if line.endswith("\n")]

    def text(self) -> str:
        return self.output.read_text()

    def says(self, words: str) -> int:
        """How many events of its log contain these words."""
        return sum(words in line["event"] for line in self.lines())

    def stop(self) -> int:
        """The exit code after SIGTERM."""
        self.process.send_signal(signal.SIGTERM)
        return self.process.wait()

    def kill(self) -> None:
        """End it, and what it may have started; return when nothing of that runs any more. An engine under another program
        ends after it, once its last write is on the disk: until then it has its port and its files."""
        with suppress(ProcessLookupError):
            os.killpg(self.process.pid, signal.SIGKILL)
        self.process.wait()
        wait_until(lambda: not is_group_running(self.process.pid))


class Stage:
    """The services of the compose file, each started with exactly its command and environment."""

    def __init__(self, folder: Path, given: Mapping[str, str] = GIVEN) -> None:
        self.folder, self.file = folder, read_compose(given)
        self.engine_folder = folder
        self.running: list[Running] = []
        self.engine_binary: Path | None = None  # another than the embedded one
        self.engine_words: Sequence[str] = ()  # settings of its own, after the file's
        self.engine_port, self.gateway_port = free_port(), free_port()
        self.url = f"http://127.0.0.1:{self.gateway_port}"
        write_users(folder / "secrets")
        (folder / "secrets" / "signing.key").write_text(SIGNING_KEY)
        self.engine_url = self.engine_url_of("operator", self.engine_port)
        self.http = httpx.Client(base_url=self.url, timeout=120, trust_env=False)

    def engine_url_of(self, user: str, port: int) -> str:
        """The address of the engine, or of a proxy of it, as this user."""
        return f"redis://{user}:{password_file(self.folder / 'secrets', user).read_text()}@127.0.0.1:{port}/0"

    def start(self, name: str, **differently: str) -> Running:
        written = self.file["services"][name]
        environment = {key: self.here(value) for key, value in written["environment"].items()}
        environment["LEDGERLINE_SECRETS_DIR"] = str(self.mounted_secrets(name))
        environment["LEDGERLINE_METRICS"] = (
            f"127.0.0.1:{free_port()}"  # a container has an address of its own
        )
        words = [sys.executable, str(ROOT / "deploy" / "ledgerline"), *written["command"]]
        image = {"PATH": os.environ["PATH"], "PYTHONPATH": str(ROOT), "PYTHONDONTWRITEBYTECODE": "1"}
        service = self._run(
            name, words, {**image, **environment, **environment_for_many_clients(), **differently}
        )
        service.given = differently
        return service

    def start_engine(self, under: Sequence[str] = ()) -> Running:
        """The engine; started again, on the same data and port. `under` are words before its own, of a program that
        runs it."""
        name, *words = self.file["services"]["engine"]["command"]
        assert name == "valkey-server"
        secrets = str(self.mounted_secrets("engine"))
        words = [word.replace("/run/secrets", secrets) for word in words]
        here = ["--port", str(self.engine_port), "--bind", "127.0.0.1", "--dir", str(self.engine_folder)]
        binary = str(self.engine_binary or engine_binary())
        return self._run("engine", [*under, binary, *words, *here, *self.engine_words], {})

    def mounted_secrets(self, name: str) -> Path:
        """A folder with the secrets of a service and no others: what /run/secrets is in its container."""
        mounted = self.folder / f"secrets of {name}"
        mounted.mkdir(exist_ok=True)
        for secret in self.file["services"][name]["secrets"]:
            source, target = (
                (secret, secret) if isinstance(secret, str) else (secret["source"], secret["target"])
            )
            path = self.folder / self.file["secrets"][source]["file"]
            (mounted / target).write_text(path.read_text())
        return mounted

    def here(self, text: str) -> str:
        """A service's address inside compose's network, on this machine."""
        text = text.replace("engine:6379", f"127.0.0.1:{self.engine_port}")
        text = text.replace("file:///archive", (self.folder / "archive").as_uri())
        return text.replace("0.0.0.0", "127.0.0.1").replace("8720", str(self.gateway_port))

    def healthy(self) -> bool:
        """The result of the gateway's health check in the file, which is run only when the gateway answers."""
        try:
            if self.http.get("/health").status_code != 200:
                return False
        except httpx.HTTPError:
            return False
        _, python, *words = self.file["services"]["gateway"]["healthcheck"]["test"]
        assert python == "python"
        check = [sys.executable, *(self.here(word) for word in words)]
        return subprocess.run(check, capture_output=True, check=False).returncode == 0

    # -- games -------------------------------------------------------------------------

    def new_game(self, policies: Sequence[str]) -> str:
        """A short game of bots, created and started over HTTP."""
        seats = [{"kind": "bot", "policy": policy} for policy in policies]
        created = self.http.post("/v1/games", json={"ruleset": "usa", "seats": seats, "options": SHORT})
        assert created.status_code == 201, created.text
        game: str = created.json()["game"]
        bearer = {"Authorization": f"Bearer {created.json()['token']}"}
        started = self.http.post(f"/v1/games/{game}/start", headers=bearer)
        assert started.status_code == 200, started.text
        return game

    def sit_down(self) -> tuple[str, dict[str, str]]:
        """A game with a person in it, started, and the person's token as a header."""
        seats = [{"kind": "human"}, {"kind": "bot", "policy": "random"}]
        game = self.http.post("/v1/games", json={"ruleset": "usa", "seats": seats}).json()["game"]
        token = self.http.post(f"/v1/games/{game}/join", json={"name": "Ada"}).json()["token"]
        bearer = {"Authorization": f"Bearer {token}"}
        assert self.http.post(f"/v1/games/{game}/start", headers=bearer).status_code == 200
        return game, bearer

    def view(self, game: str, bearer: Mapping[str, str] | None = None) -> list[dict[str, Any]]:
        """All entries of a view so far, the public's or a seat's."""
        entries: list[dict[str, Any]] = []
        more = True
        while more:
            reply = self.http.get(f"/v1/games/{game}/view", params={"after": len(entries)}, headers=bearer)
            page = reply.json()
            entries += page["entries"]
            more = page["more"]
        return entries

    def ended(self, game: str) -> bool:
        return any(
            event["type"] == "game_ended" for entry in self.view(game)[-1:] for event in entry["events"]
        )

    def close(self) -> None:
        self.http.close()
        for running in self.running:
            running.kill()

    def _run(self, name: str, words: Sequence[str], environment: Mapping[str, str]) -> Running:
        running = Running(name, words, {**environment, MARK: RUN}, self.folder)
        self.running.append(running)
        return running


@contextmanager
def stage(folder: Path, given: Mapping[str, str] = GIVEN) -> Iterator[Stage]:
    made = Stage(folder, given)
    try:
        yield made
    finally:
        made.close()


def free_port() -> int:
    """A port that nobody has, below those that the system gives to clients: one of them would have it meanwhile, or while
    what listens there is killed and started again."""
    while True:
        port = 11_000 + secrets.randbelow(21_000)
        with socket.socket() as probe, suppress(OSError):
            probe.bind(("127.0.0.1", port))
            return port


def wait_until(holds: Callable[[], object]) -> None:
    """Return as soon as it holds; only the test's timeout bounds the wait.

    An engine or a gateway that can't be reached yet counts as no."""
    while True:
        with suppress(httpx.HTTPError, KeyError):  # KeyError: a problem instead of a view
            if holds():
                return
        time.sleep(0.1)
