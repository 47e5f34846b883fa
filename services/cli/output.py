"""What every command prints with: one console, one way to print JSON."""

from __future__ import annotations

import json
import sys
from typing import Final

from rich.console import Console

DEFAULT_WIDTH: Final = 110  # columns, where the output is no terminal
console: Final = Console(
    highlight=False, soft_wrap=True, width=None if sys.stdout.isatty() else DEFAULT_WIDTH
)


def print_line(sentence: str) -> None:
    """Print text as it is: no markup, no line broken."""
    console.print(sentence, markup=False, soft_wrap=True)


def print_json(document: object) -> None:
    """Print one JSON document, indented, with every character as itself."""
    print(json.dumps(document, ensure_ascii=False, indent=2))
