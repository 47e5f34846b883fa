"""How a command that fails ends: one clear line on standard error, and an exit code."""

from __future__ import annotations

import sys
from typing import NoReturn

from rich.console import Console

from schemas.errors import LedgerlineError


class CommandLineError(LedgerlineError):
    """The command could not be carried out."""


class GameNotFoundError(LedgerlineError):
    """Neither the engine nor the archive has a game of this id."""


def exit_with_error(message: str, exit_code: int) -> NoReturn:
    """End the process: with 2 where the input is wrong, with 1 where something else is."""
    Console(stderr=True, soft_wrap=True, highlight=False).print(f"ledgerline: {message}", markup=False)
    sys.exit(exit_code)
