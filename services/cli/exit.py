"""How a command ends that goes wrong: one clear line, and an exit code."""

from __future__ import annotations

import sys
from typing import NoReturn

from rich.console import Console


def exit_with_error(message: str, exit_code: int) -> NoReturn:
    """End the process: 2 says that the input was wrong, 1 that something else was."""
    Console(stderr=True, soft_wrap=True, highlight=False).print(f"ledgerline: {message}", markup=False)
    sys.exit(exit_code)
