"""Options that the commands of `ledgerline` share, the games that they read, and readers of their arguments."""

from __future__ import annotations

import os
import re
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from functools import wraps
from inspect import Parameter, Signature, signature
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Final, NamedTuple, get_type_hints

import typer
from pydantic import SecretStr

from schemas.contract import Schema
from schemas.errors import CorruptDataError, InvalidInputError
from schemas.field_types import GameId, Seat
from schemas.stored.player_names import shown_names
from services.archive import PUBLIC_KEY_HEX, TrustedKey, TrustedKeys
from services.bootstrap.composition import open_archive_reader
from services.bootstrap.data_folder_keys import data_folder_signing_key
from services.cli.output import DEFAULT_DATA as DEFAULT_DATA  # noqa: PLC0414 - the usual value of an option here
from services.cli.output import GameNotFoundError, did_you_mean
from services.cli.output import JsonOption as JsonOption  # noqa: PLC0414 - beside the others that commands share
from services.ledger import GameReader, RedisLedger
from services.referee.games import GameState, fold
from services.runtime.logging_setup import configure_logging
from services.runtime.settings import Settings, read_settings
from services.text.formatting import SEAT_LETTERS
from services.verification.game_repository import GameRepository

if TYPE_CHECKING:
    from services.auditor.job_queue import Jobs

DATA_VARIABLE: Final = "LEDGERLINE_DATA"
DataOption = Annotated[Path, typer.Option(help="Folder of the embedded engine's log.", envvar=DATA_VARIABLE)]
GameArgument = Annotated[
    str, typer.Argument(help="The game's id or its beginning, as `games` lists them; `last`: the latest.")
]
LAST: Final = "last"
ALL_GAMES: Final = 1 << 40  # more than there are
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

    def find(self, named: str) -> str:
        """The id of the game that an argument names: by it, by its beginning if only one begins so, or as `last`.

        Raises InvalidInputError: no game can be named so. GameNotFoundError: there is none, or are several."""
        if not re.fullmatch(r"[a-z0-9-]{1,40}", named):
            GAME_ID.read(named)
        if len(named) > 2:
            try:
                # the log itself is read only where no stream has it: whoever asks reads it next
                is_there = bool(self.ledger.head(named)[0] or self.repository.read_entries(named))
            except CorruptDataError:  # whoever reads it says what is wrong with it
                is_there = True
            if is_there:
                return named
        known = self.repository.games(ALL_GAMES)
        if named == LAST and known:
            return known[0]
        found = [game for game in known if game.startswith(named)]
        if len(found) == 1:
            return found[0]
        if found:
            raise GameNotFoundError(f"{named} is the beginning of {len(found)} games: {', '.join(found[:5])}")
        meant = did_you_mean(named, known, 1) or ";"
        raise GameNotFoundError(f"there is no game {named}{meant} `ledgerline games` lists them")


def set_up_logging(settings: Settings, *, quiet: bool = False) -> None:
    """Log as the settings say; `quiet`, for a command that prints its result, logs no lines of level info."""
    level = "warning" if quiet and settings.log_level == "info" else settings.log_level
    configure_logging(level, settings.log_form)


@contextmanager
def open_read_ledger(data: Path) -> Iterator[RedisLedger]:
    """Open the ledger of the settings' engine if they name one, else of the data folder's.

    Raises InvalidInputError where there is no engine, and EngineUnavailableError."""
    from services.bootstrap.embedded import open_ledger_for_reading  # noqa: PLC0415 - a service reads no folder

    with open_ledger_for_reading(data, _read_settings(data)) as ledger:
        yield ledger


@contextmanager
def open_games(data: Path) -> Iterator[OpenedGames]:
    """Open that ledger, and the archive of the settings or else of the data folder. Raises what `open_read_ledger` does."""
    from services.bootstrap.embedded import default_archive_url  # noqa: PLC0415 - the same

    with open_read_ledger(data) as ledger:
        settings = _settings_of(data)
        own = {
            "archive_url": settings.archive_url or default_archive_url(data),
            "signing_key": SecretStr(data_folder_signing_key(data, settings, make=False)),
        }
        settings = settings.model_copy(update=own)
        yield OpenedGames(settings, ledger, GameRepository(ledger, open_archive_reader(settings)))


@contextmanager
def open_jobs(data: Path) -> Iterator[Jobs]:
    """Open the jobs of the settings' engine if they name one, else of the data folder's."""
    from services.bootstrap.embedded import open_jobs_for_reading  # noqa: PLC0415 - the same

    with open_jobs_for_reading(data, _read_settings(data)) as jobs:
        yield jobs


def _read_settings(data: Path) -> Settings:
    """The settings of a command that reads an existing engine. Raises InvalidInputError where there is none."""
    settings = _settings_of(data)
    set_up_logging(settings, quiet=True)
    if not (data / "appendonlydir").is_dir() and "redis_url" not in settings.model_fields_set:
        raise InvalidInputError("--data", f"there are no games in {data}; `ledgerline play` plays one")
    return settings


def _settings_of(data: Path) -> Settings:
    """The settings. Where the command line names a data folder, its engine and archive come before the environment's: an
    operator looks at a restored backup beside the server that is there."""
    settings = read_settings()
    if data not in (DEFAULT_DATA, Path(os.environ.get(DATA_VARIABLE, DEFAULT_DATA))):
        settings = settings.model_copy(update={"archive_url": ""})
        settings.model_fields_set.discard("redis_url")
    return settings


def read_game_log(games: GameReader, game: str) -> list[bytes]:
    """The packed entries of the game of this id. Raises InvalidInputError or GameNotFoundError."""
    log = games.read_entries(GAME_ID.read(game))
    if not log:
        raise GameNotFoundError(f"there is no game {game}; `ledgerline games` lists them")
    return log


def fold_with_names(games: GameRepository, game: str, log: Sequence[bytes]) -> GameState:
    """The game after these entries, with the names of its players that lie beside the log."""
    return fold(log, GameState(shown_names(games.read_names(game))))


def parse_seat(text: str, state: GameState) -> Seat | None:
    """The seat that a letter, a number or its player's name means; None: there is none, or are several of that name."""
    seat = int(text) if text.isdecimal() else SEAT_LETTERS.find(text.upper()) if len(text) == 1 else -1
    if 0 <= seat < len(state.seats):
        return seat
    named = [each for each, taken in enumerate(state.seats) if _same_name(taken.name, text)]
    return named[0] if len(named) == 1 else None


def _same_name(name: str | None, text: str) -> bool:
    return name is not None and name.casefold() == text.casefold()


def parse_viewer(text: str, state: GameState) -> Seat | None:
    """The viewer that `--as` names: a seat, or None for the public. Raises InvalidInputError."""
    if text == "public":
        return None
    if (seat := parse_seat(text, state)) is None:
        names = [each.name for each in state.seats if each.name is not None]
        meant = did_you_mean(text, names, 1)
        last = SEAT_LETTERS[len(state.seats) - 1]
        raise InvalidInputError(
            "--as", f"{text!r} is neither public nor a seat from A to {last}, nor a player's name{meant}"
        )
    return seat


def parse_public_key(text: str | None) -> TrustedKeys | None:
    """The one key that `--key` names, whatever the game's time; None without it. Raises InvalidInputError."""
    if text is None:
        return None
    if not re.fullmatch(PUBLIC_KEY_HEX, text):
        raise InvalidInputError("--key", "must be the server's public key, 64 hex digits")
    return TrustedKeys([TrustedKey(bytes.fromhex(text))])
