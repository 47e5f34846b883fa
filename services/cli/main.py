"""The `ledgerline` command: its arguments, signals, errors and exit codes."""

from __future__ import annotations

import io
import os
import sys
from collections.abc import Sequence
from typing import Annotated

import typer

import services.compiled_rules.at_start  # noqa: F401 - before any module that may be compiled
from schemas.errors import InvalidInputError
from services import VERSION
from services.cli.app import run_app
from services.cli.output import EXIT_CODES, exit_with_error
from services.compiled_rules import rules_form


def run_process() -> None:
    """Run the command of this process."""
    for stream in (sys.stdout, sys.stderr):
        if isinstance(stream, io.TextIOWrapper):  # a terminal without a character shows its escape
            stream.reconfigure(errors="backslashreplace")
    run(sys.argv[1:])


def run(arguments: Sequence[str]) -> None:
    """Run one command with these arguments. An error is one clear line, and exit code 2 if it was the input.

    Raises SystemExit, with 0 too."""
    app = typer.Typer(
        name="ledgerline",
        no_args_is_help=True,
        pretty_exceptions_enable=False,
        context_settings={"help_option_names": ["--help", "-h"]},
    )
    codes = "; ".join(f"{code}: {meaning[:1].lower()}{meaning[1:-1]}" for code, meaning in EXIT_CODES.items())
    app.callback(
        epilog=f"Exit codes: {codes}. Every command has --help and --quiet, and --json for programs."
    )(_ledgerline)
    try:
        if arguments[:1] == ["--version"]:
            app(arguments)
        else:
            run_app(app, arguments)
    except InvalidInputError as error:
        exit_with_error(str(error), 2)
    except BrokenPipeError:  # the reader of our output has closed it
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
    except KeyboardInterrupt:
        exit_with_error("stopped", 130)


def _show_version(asked: bool) -> None:
    if asked:
        typer.echo(f"ledgerline {VERSION}\nrules: {rules_form()}")
        raise typer.Exit


def _ledgerline(
    version: Annotated[
        bool,
        typer.Option(
            "--version",
            callback=_show_version,
            is_eager=True,
            help="Show the version, and whether the rules are compiled.",
        ),
    ] = False,
) -> None:
    """A multiplayer backend for turn-based board games: play, serve, watch, replay, and ask the referee."""
