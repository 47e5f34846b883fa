"""The commands of `ledgerline` that need the server, and what their errors are called.

A service is started without the others' modules: it is up in two thirds of the time.
"""

from __future__ import annotations

from collections.abc import Sequence

import typer

from schemas.errors import CorruptDataError
from services.archive import ArchiveUnavailableError
from services.cli import SERVICES, services
from services.cli.exit import CommandLineError, GameNotFoundError, exit_with_error
from services.ledger import MissingEntryError
from services.ledger.connection import EngineUnavailableError
from services.ledger.errors import EngineError


def run_app(app: typer.Typer, arguments: Sequence[str]) -> None:
    """Run the app with these commands added to its own; a service's alone where one is named. An error is one clear line."""
    if SERVICES.isdisjoint(arguments[:1]):
        from services.cli.all_commands import add_commands  # noqa: PLC0415 - a service needs no other command

        add_commands(app)
    else:
        app.add_typer(services.app)
    try:
        app(arguments)
    except GameNotFoundError as error:
        exit_with_error(str(error), 2)
    except (
        EngineUnavailableError,
        ArchiveUnavailableError,
        CommandLineError,
        MissingEntryError,
        CorruptDataError,
    ) as error:
        exit_with_error(str(error), 1)
    except EngineError as error:
        exit_with_error(f"the engine can't be reached any more: {error}", 1)
