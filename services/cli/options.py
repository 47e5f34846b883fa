"""What the commands of `ledgerline` share: their options, their settings, and the engine to look into."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Annotated, Any

import typer

from schemas.contract import Malformed
from services.auditor.jobs import Jobs
from services.bootstrap.composition import shelf_of
from services.bootstrap.embedded import archive_url, reading_jobs, reading_ledger
from services.ledger import RedisLedger
from services.runtime.logging_setup import set_up_logs
from services.runtime.settings import Settings, read_settings
from services.verification.game_repository import Kept

Data = Annotated[Path, typer.Option(help="Folder of the embedded engine's log.", envvar="LEDGERLINE_DATA")]
AsJson = Annotated[bool, typer.Option("--json", help="Print one JSON document and nothing else.")]
DATA = Path(".ledgerline")


def settings_of(**given: Any) -> Settings:
    return read_settings(**given)


def set_logs(settings: Settings, *, quiet: bool = False) -> None:
    """Log lines as the settings say; a command that prints a game keeps to warnings."""
    level = "warning" if quiet and settings.log_level == "info" else settings.log_level
    set_up_logs(level, settings.log_form)


@contextmanager
def open_to_read(data: Path) -> Iterator[RedisLedger]:
    """The ledger to read from: the settings' engine if they name one, else the data folder's."""
    with reading_ledger(data, _settings_to_read(data)) as ledger:
        yield ledger


@contextmanager
def open_games(data: Path) -> Iterator[Kept]:
    """Every game to read: those of that ledger, and those that have left it for the archive."""
    with open_to_read(data) as ledger:
        yield Kept(ledger, shelf_of(with_archive(settings_of(), data)))


def with_archive(settings: Settings, data: Path) -> Settings:
    """The settings, with the data folder's own archive where they name none."""
    return settings.model_copy(update={"archive_url": settings.archive_url or archive_url(data)})


@contextmanager
def jobs_of(data: Path) -> Iterator[Jobs]:
    """The jobs of the settings' engine if they name one, else of the data folder's."""
    with reading_jobs(data, _settings_to_read(data)) as found:
        yield found


def _settings_to_read(data: Path) -> Settings:
    """For who looks into an engine that there is. Raises Malformed."""
    settings = settings_of()
    set_logs(settings, quiet=True)
    require_engine(data, settings)
    return settings


def require_engine(data: Path, settings: Settings) -> None:
    if not (data / "appendonlydir").is_dir() and "redis_url" not in settings.model_fields_set:
        raise Malformed("--data", f"there are no games in {data}; `ledgerline play` plays one")
