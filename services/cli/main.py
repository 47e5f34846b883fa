"""The `ledgerline` command. What needs the house (play, serve and so on) is in cli_house.

The house takes longer to import than a question to answer, so `ask` goes without it.
"""

from __future__ import annotations

import json
import os
import signal
import sys
from typing import Annotated

import typer

from schemas.errors import InvalidInputError
from services.cli.ask import answer_file as ask_referee
from services.cli.exit import exit_with_error

app = typer.Typer(
    name="ledgerline",
    no_args_is_help=True,
    add_completion=False,
    pretty_exceptions_enable=False,
)


@app.callback()
def ledgerline() -> None:
    """A multiplayer backend for train board games: play, serve, watch, replay, and ask the referee."""


@app.command()
def ask(
    file: Annotated[str, typer.Argument(help="The question in JSON or YAML; - is standard input.")],
) -> None:
    """Tell what the referee says to commands in a position, as JSON: docs/ask.md has the form."""
    print(json.dumps(ask_referee(file), indent=2))


def main() -> None:
    """Run the command; what goes wrong is one clear line, and exit code 2 if it was the input."""
    for signal_number in (signal.SIGTERM, signal.SIGHUP):  # like Ctrl-C: leave the house in order
        signal.signal(signal_number, signal.default_int_handler)
    try:
        if sys.argv[1:2] == ["ask"]:
            app()
        else:
            from services.cli.app import run  # noqa: PLC0415 - ask needs none of it: see the top

            run(app)
    except InvalidInputError as error:
        exit_with_error(str(error), 2)
    except BrokenPipeError:  # whoever read our lines has enough
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
    except KeyboardInterrupt:
        exit_with_error("stopped", 130)
