"""Every command of `ledgerline` but `ask`. Each module defines its own; here they come together."""

from __future__ import annotations

import typer

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


def add_commands(app: typer.Typer) -> None:
    """Add them all to this app."""
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
