"""Options that the commands of `ledgerline` share, the games that they read, and readers of their arguments."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from functools import wraps
from inspect import Parameter, Signature, signature
from pathlib import Path
from typing import Annotated, Final, NamedTuple, get_type_hints

import typer
from pydantic import SecretStr

from schemas.contract import Schema
from schemas.errors import InvalidInputError
from schemas.field_types import GameId, Seat
from services.archive import PUBLIC_KEY_HEX, TrustedKey, TrustedKeys
from services.auditor.job_queue import Jobs
from services.bootstrap.composition import open_archive_reader
from services.bootstrap.data_folder_keys import data_folder_signing_key
from services.bootstrap.embedded import (
    default_archive_url,
    open_jobs_for_reading,
    open_ledger_for_reading,
)
from services.cli.exit import GameNotFoundError
from services.ledger import GameReader, RedisLedger
from services.runtime.logging_setup import configure_logging
from services.runtime.settings import Settings, read_settings
from services.verification.game_repository import GameRepository

DataOption = Annotated[
    Path, typer.Option(help="Folder of the embedded engine's log.", envvar="LEDGERLINE_DATA")
]
JsonOption = Annotated[bool, typer.Option("--json", help="Print one JSON document and nothing else.")]
GameArgument = Annotated[str, typer.Argument(help="The game's id, as play and games print it.")]
DEFAULT_DATA = Path(".ledgerline")
GAME_ID: Final[Schema[str]] = Schema(GameId, "game")


def in_groups(command: Callable[..., None]) -> Callable[..., None]:
    """Let a command take options in groups: for typer, the fields of a parameter's NamedTuple are its own parameters."""
    hints = get_type_hints(command, include_extras=True)
    groups, options = dict[str, type[object]](), list[Parameter]()
    for name, parameter in signature(command).parameters.items():
        hint, declared, annotations = hints[name], {name: parameter}, hints
        if isinstance(hint, type) and issubclass(hint, tuple):
            groups[name], declared = hint, {**signature(hint).parameters}
            annotations = get_type_hints(hint, include_extras=True)
        options += [
            each.replace(annotation=annotations[field], kind=Parameter.KEYWORD_ONLY)
            for field, each in declared.items()
        ]

    @wraps(command)
    def run(**values: object) -> None:
        for name, group in groups.items():
            values[name] = group(**{field: values.pop(field) for field in signature(group).parameters})
        command(**values)

    run.__signature__ = Signature(options)  # type: ignore[attr-defined]  # what typer reads
    run.__annotations__ = {option.name: option.annotation for option in options}
    return run


class OpenedGames(NamedTuple):
    """All games to read: those of the ledger, and those that have left it for the archive."""

    settings: Settings  # with the data folder's own archive and signing key where they name none
    ledger: RedisLedger
    repository: GameRepository


def set_up_logging(settings: Settings, *, quiet: bool = False) -> None:
    """Log as the settings say; `quiet`, for a command that prints its result, logs no lines of level info."""
    level = "warning" if quiet and settings.log_level == "info" else settings.log_level
    configure_logging(level, settings.log_form)


@contextmanager
def open_read_ledger(data: Path) -> Iterator[RedisLedger]:
    """Open the ledger of the settings' engine if they name one, else of the data folder's.

    Raises InvalidInputError where there is no engine, and EngineUnavailableError."""
    with open_ledger_for_reading(data, _read_settings(data)) as ledger:
        yield ledger


@contextmanager
def open_games(data: Path) -> Iterator[OpenedGames]:
    """Open that ledger, and the archive of the settings or else of the data folder. Raises what `open_read_ledger` does."""
    with open_read_ledger(data) as ledger:
        settings = read_settings()
        own = {
            "archive_url": settings.archive_url or default_archive_url(data),
            "signing_key": SecretStr(data_folder_signing_key(data, settings, make=False)),
        }
        settings = settings.model_copy(update=own)
        yield OpenedGames(settings, ledger, GameRepository(ledger, open_archive_reader(settings)))


@contextmanager
def open_jobs(data: Path) -> Iterator[Jobs]:
    """Open the jobs of the settings' engine if they name one, else of the data folder's."""
    with open_jobs_for_reading(data, _read_settings(data)) as jobs:
        yield jobs


def _read_settings(data: Path) -> Settings:
    """The settings of a command that reads an existing engine. Raises InvalidInputError where there is none."""
    settings = read_settings()
    set_up_logging(settings, quiet=True)
    if not (data / "appendonlydir").is_dir() and "redis_url" not in settings.model_fields_set:
        raise InvalidInputError("--data", f"there are no games in {data}; `ledgerline play` plays one")
    return settings


def read_game_log(games: GameReader, game: str) -> list[bytes]:
    """The packed entries of the game that an argument names. Raises InvalidInputError or GameNotFoundError."""
    log = games.read_entries(GAME_ID.read(game))
    if not log:
        raise GameNotFoundError(f"there is no game {game}; `ledgerline games` lists them")
    return log


def parse_viewer(text: str, seats: int) -> Seat | None:
    """The viewer that `--as` names: a seat, or None for the public. Raises InvalidInputError."""
    if text == "public":
        return None
    if not text.isdecimal() or int(text) >= seats:
        raise InvalidInputError("--as", f"{text!r} is neither public nor a seat from 0 to {seats - 1}")
    return int(text)


def parse_public_key(text: str | None) -> TrustedKeys | None:
    """The one key that `--key` names, whatever the game's time; None without it. Raises InvalidInputError."""
    if text is None:
        return None
    if not re.fullmatch(PUBLIC_KEY_HEX, text):
        raise InvalidInputError("--key", "must be the server's public key, 64 hex digits")
    return TrustedKeys([TrustedKey(bytes.fromhex(text))])
