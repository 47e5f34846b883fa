"""The commands of `ledgerline` that need the server, and what their errors are called.

A service, and `play`, are started without the others' modules: a service is up in two thirds of the time.
"""

from __future__ import annotations

from collections.abc import Sequence

import typer

from schemas.errors import CorruptDataError
from services.archive import ArchiveUnavailableError
from services.cli import SERVICES, services
from services.cli.exit import CommandLineError, GameNotFoundError, exit_with_error
from services.ledger import MissingEntryError
from services.ledger.engine.connection import EngineUnavailableError
from services.ledger.engine.errors import EngineError


def run_app(app: typer.Typer, arguments: Sequence[str]) -> None:
    """Run the app with these commands added to its own; that alone which is named where its start is waited for. An error
    is one clear line."""
    if arguments[:1] == ["play"]:
        from services.cli import play  # noqa: PLC0415 - the others take a third as long to import

        app.add_typer(play.app)
    elif SERVICES.isdisjoint(arguments[:1]):
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
