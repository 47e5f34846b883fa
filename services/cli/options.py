"""What the commands of `ledgerline` share: options, settings, and the engine to read from."""

from __future__ import annotations

import re
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Annotated

import typer
from pydantic import SecretStr

from schemas.errors import InvalidInputError
from services.archive import PUBLIC_KEY_HEX, TrustedKey, TrustedKeys
from services.auditor.job_queue import Jobs
from services.bootstrap.composition import open_archive_reader
from services.bootstrap.data_folder_keys import data_folder_signing_key
from services.bootstrap.embedded import (
    default_archive_url,
    open_jobs_for_reading,
    open_ledger_for_reading,
)
from services.ledger import RedisLedger
from services.runtime.logging_setup import configure_logging
from services.runtime.settings import Settings, read_settings
from services.verification.game_repository import GameRepository

DataOption = Annotated[
    Path, typer.Option(help="Folder of the embedded engine's log.", envvar="LEDGERLINE_DATA")
]
JsonOption = Annotated[bool, typer.Option("--json", help="Print one JSON document and nothing else.")]
DEFAULT_DATA = Path(".ledgerline")


def load_settings(**overrides: object) -> Settings:
    """The settings of the environment, with these fields set otherwise. Raises InvalidInputError."""
    return read_settings(**overrides)


def set_up_logging(settings: Settings, *, quiet: bool = False) -> None:
    """Log as the settings say; `quiet`, for a command that prints its result, logs no lines of level info."""
    level = "warning" if quiet and settings.log_level == "info" else settings.log_level
    configure_logging(level, settings.log_form)


@contextmanager
def open_read_ledger(data: Path) -> Iterator[RedisLedger]:
    """The ledger to read from: the settings' engine if they name one, else the data folder's.

    Raises InvalidInputError where there is no engine, and EngineUnavailableError."""
    with open_ledger_for_reading(data, _load_read_settings(data)) as ledger:
        yield ledger


@contextmanager
def open_repository(data: Path) -> Iterator[GameRepository]:
    """All games to read: those of that ledger, and those that have left it for the archive."""
    with open_read_ledger(data) as ledger:
        yield GameRepository(ledger, open_archive_reader(with_own_archive(load_settings(), data)))


def with_own_archive(settings: Settings, data: Path) -> Settings:
    """The settings, with the data folder's own archive and signing key where they name none. Raises
    InvalidInputError."""
    return settings.model_copy(
        update={
            "archive_url": settings.archive_url or default_archive_url(data),
            "signing_key": SecretStr(data_folder_signing_key(data, settings, make=False)),
        }
    )


def parse_public_key(text: str | None) -> TrustedKeys | None:
    """The one key that `--key` names, whatever the game's time; None without it. Raises InvalidInputError."""
    if text is None:
        return None
    if not re.fullmatch(PUBLIC_KEY_HEX, text):
        raise InvalidInputError("--key", "must be the server's public key, 64 hex digits")
    return TrustedKeys([TrustedKey(bytes.fromhex(text))])


@contextmanager
def open_jobs(data: Path) -> Iterator[Jobs]:
    """The jobs of the settings' engine if they name one, else of the data folder's."""
    with open_jobs_for_reading(data, _load_read_settings(data)) as jobs:
        yield jobs


def _load_read_settings(data: Path) -> Settings:
    """Settings for a command that reads an existing engine. Raises InvalidInputError."""
    settings = load_settings()
    set_up_logging(settings, quiet=True)
    require_engine(data, settings)
    return settings


def require_engine(data: Path, settings: Settings) -> None:
    """Raises InvalidInputError where neither the data folder nor the settings name an engine."""
    if not (data / "appendonlydir").is_dir() and "redis_url" not in settings.model_fields_set:
        raise InvalidInputError("--data", f"there are no games in {data}; `ledgerline play` plays one")
