"""The end of a command that fails: one clear line on standard error, and an exit code."""

from __future__ import annotations

import sys
from typing import NoReturn

from schemas.errors import LedgerlineError
from services.cli.output import PlainTextConsole


class CommandLineError(LedgerlineError):
    """The command could not be carried out."""


class GameNotFoundError(LedgerlineError):
    """Neither the engine nor the archive has a game of this id."""


def exit_with_error(message: str, exit_code: int) -> NoReturn:
    """End the process: with 2 where the input is wrong, with 1 where something else is."""
    PlainTextConsole(stderr=True).print(f"ledgerline: {message}")
    sys.exit(exit_code)
