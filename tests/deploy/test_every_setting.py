"""Each documented setting is taken as the text that an environment holds, by a started process of every service."""

from __future__ import annotations

import re
import subprocess
import sys
from collections.abc import Iterator, Mapping
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Final, Literal, get_args, get_origin
from urllib.parse import urlsplit

import pytest
from pydantic import SecretStr

from schemas.errors import InvalidInputError
from services.archive import Signer
from services.cli import SERVICES
from services.ledger.engine.embedded_engine import running_engine
from services.runtime.settings import Settings, read_settings
from tests.cli.command_line import ROOT, environment
from tests.deploy.compose import free_port, wait_until

SIGNING_KEY: Final = "5e" * 32
STARTED: Final = re.compile(r"\b(started|listening|Ledgerline is open)\b")
TEXTS: Final[Mapping[str, str]] = {  # another than the default; three are made where the engine is
    "engine_wait_s": "5.5",
    "partitions": "3",
    "retention_s": "86400",
    "archived_stays_s": "0",
    "signing_key": SIGNING_KEY,
    "public_keys": f"{Signer(SIGNING_KEY).public_key.hex()}@2026-01-01..",
    "webhooks": "http",
    "webhook_networks": "192.168.1.0/24,fd00::/8",
    "public_url": "https://play.example.org/trains",
    "push_key": "p" * 32,
    "remembers_mib": "8",
    "decision_s": "3.5",
    "compiled_rules": "false",
    "token_key": f"{'k' * 40},{'l' * 40}",
    "token_life_s": "86400",
    "own_boards": "operator",
    "operator_key": "o" * 32,
    "host": "0.0.0.0",
    "rate": "10.5",
    "read_rate": "20",
    "connections": "300",
    "connections_per_address": "20",
    "proxies": "127.0.0.2,10.1.0.0/16",
    "origins": "https://play.example.org,http://127.0.0.1:8080",
    "open_games": "3",
    "strict_engine": "true",
    "log_level": "debug",
    "log_form": "console",
}


@pytest.fixture(scope="module")
def texts(tmp_path_factory: pytest.TempPathFactory) -> Iterator[dict[str, str]]:
    """A text for every setting; all of them agree."""
    folder = tmp_path_factory.mktemp("settings")
    secrets = folder / "secrets"
    secrets.mkdir()
    with running_engine(folder / "engine") as url:
        address = urlsplit(url)
        where = {
            "redis_url": f"redis://default@127.0.0.1:{address.port}/1",
            "redis_password": str(address.password),
            "jobs_url": f"redis://:{address.password}@127.0.0.1:{address.port}/2",
            "secrets_dir": str(secrets),
            "archive_url": (folder / "archive").as_uri(),
        }
        yield {**TEXTS, **where, "port": str(free_port()), "metrics": f"127.0.0.1:{free_port()}"}


def variables(texts: Mapping[str, str]) -> dict[str, str]:
    return {f"LEDGERLINE_{name.upper()}": text for name, text in texts.items()}


@contextmanager
def started(words: list[str], texts: Mapping[str, str], output: Path) -> Iterator[subprocess.Popen[bytes]]:
    """A process of a service with these settings and no others."""
    with output.open("w") as out:
        process = subprocess.Popen(
            [sys.executable, "-m", "services.cli", *words],
            cwd=ROOT,
            env=environment(output.parent / "data", **variables(texts)),
            stdout=out,
            stderr=out,
            start_new_session=True,
        )
    try:
        yield process
    finally:
        with suppress(ProcessLookupError):
            process.kill()
        process.wait()


def test_every_setting_has_a_text_here_that_is_none_of_the_defaults(
    texts: dict[str, str], monkeypatch: pytest.MonkeyPatch
) -> None:
    assert {*texts} == {*Settings.model_fields}
    for name, text in variables(texts).items():
        monkeypatch.setenv(name, text)
    settings = read_settings()
    taken_as_one = {"redis_password"}  # the address has it from then on
    for name, field in Settings.model_fields.items():
        assert getattr(settings, name) != field.default or name in taken_as_one, name
    assert settings.redis_url.startswith(f"redis://default:{texts['redis_password']}@")
    assert settings.redis_password == SecretStr("")


def test_every_word_that_a_setting_allows_is_taken_as_a_text(monkeypatch: pytest.MonkeyPatch) -> None:
    words = {
        name: get_args(field.annotation)
        for name, field in Settings.model_fields.items()
        if get_origin(field.annotation) is Literal
    }
    assert {"webhooks", "own_boards", "log_level", "log_form"} <= {*words}
    for name, allowed in words.items():
        for word in allowed:
            monkeypatch.setenv(f"LEDGERLINE_{name.upper()}", str(word))
            assert getattr(read_settings(), name) == word
        monkeypatch.setenv(f"LEDGERLINE_{name.upper()}", "anything else")
        with pytest.raises(InvalidInputError, match=f"LEDGERLINE_{name.upper()}"):
            read_settings()
        monkeypatch.delenv(f"LEDGERLINE_{name.upper()}")


@pytest.mark.long
@pytest.mark.parametrize("service", sorted(SERVICES))
def test_a_process_of_each_service_starts_and_stops_with_every_setting_set(
    texts: dict[str, str], tmp_path: Path, service: str
) -> None:
    output = tmp_path / "output"
    with started([service], texts, output) as process:
        wait_until(lambda: process.poll() is not None or STARTED.search(output.read_text()))
        process.terminate()
        assert process.wait(60) == 0, output.read_text()
    assert "Traceback" not in output.read_text()
