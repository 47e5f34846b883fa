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
    """Add the commands to the app, and run the one that is named. An error is one clear line."""
    name = arguments[0] if arguments else ""
    if name in SERVICES:
        app.add_typer(services.app)
    else:
        _add_other_commands(app, only_play=name == "play")
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


def _add_other_commands(app: typer.Typer, *, only_play: bool) -> None:
    from services.cli.playing import play  # noqa: PLC0415 - a service needs none of these

    app.add_typer(play.app)
    if only_play:
        return
    # `play` needs none of these, which take as long to import
    from services.cli.games import audit, export_verify, fork, fuzz, new_game, replay, suggest  # noqa: PLC0415
    from services.cli.operating import (  # noqa: PLC0415
        dead_letters,
        disputes,
        jobs,
        keys,
        person,
        status,
    )
    from services.cli.playing import tournament  # noqa: PLC0415
    from services.cli.trains import board, remote_play  # noqa: PLC0415

    for module in (
        replay,
        fork,
        fuzz,
        new_game,
        audit,
        board,
        export_verify,
        remote_play,
        services,
        status,
        suggest,
        tournament,
        keys,
    ):
        app.add_typer(module.app)
    for group, name in ((dead_letters, "dead"), (jobs, "jobs"), (disputes, "disputes"), (person, "person")):
        app.add_typer(group.app, name=name)
