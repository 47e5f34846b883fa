"""The commands of `ledgerline` that need the server. Each module defines its own; here they come together."""

from __future__ import annotations

from collections.abc import Sequence

import typer

from schemas.errors import CorruptDataError
from services.archive import ArchiveUnavailableError
from services.cli import (
    audit,
    board,
    dead_letters,
    disputes,
    engine_users,
    export_verify,
    fork,
    jobs,
    person,
    play,
    replay,
    services,
    status,
    suggest,
    tournament,
    trains_cases,
    trains_client,
    trains_server,
    watch_command,
    withdraw_token,
)
from services.cli.exit import CommandLineError, GameNotFoundError, exit_with_error
from services.ledger import MissingEntryError
from services.ledger.connection import EngineUnavailableError
from services.ledger.errors import EngineError


def run_app(app: typer.Typer, arguments: Sequence[str]) -> None:
    """Run the app with these commands added to its own. An error is one clear line."""
    for module in (
        play,
        replay,
        watch_command,
        fork,
        audit,
        board,
        export_verify,
        trains_cases,
        trains_server,
        trains_client,
        services,
        status,
        suggest,
        tournament,
        engine_users,
        withdraw_token,
    ):
        app.add_typer(module.app)
    app.add_typer(dead_letters.app, name="dead")
    app.add_typer(jobs.app, name="jobs")
    app.add_typer(disputes.app, name="disputes")
    app.add_typer(person.app, name="person")
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
