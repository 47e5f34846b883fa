"""The console of every command: text is never markup, and a character that can't be seen is shown as its escape.

Names, boards and reasons come from strangers. So nothing here reads `[bold]` or an escape sequence in them.
"""

from __future__ import annotations

import sys
from typing import Final, TextIO

from rich.console import Console, HighlighterType, JustifyMethod, OverflowMethod
from rich.style import Style
from rich.text import Text

from services.runtime.visible_text import visible_json, visible_text

DEFAULT_WIDTH: Final = 110  # columns, where the output is no terminal


class PlainTextConsole(Console):
    """A console that takes every string, in a table or alone, as text of a stranger."""

    def __init__(self, file: TextIO | None = None, *, stderr: bool = False) -> None:
        stream = file or (sys.stderr if stderr else sys.stdout)
        super().__init__(
            file=file,
            stderr=stderr,
            markup=False,
            emoji=False,
            highlight=False,
            soft_wrap=True,
            width=None if stream.isatty() else DEFAULT_WIDTH,
        )

    def render_str(
        self,
        text: str,
        *,
        style: str | Style = "",
        justify: JustifyMethod | None = None,
        overflow: OverflowMethod | None = None,
        emoji: bool | None = None,
        markup: bool | None = None,
        highlight: bool | None = None,
        highlighter: HighlighterType | None = None,
    ) -> Text:
        """The text with visible characters only. It is never read as markup or emoji, whatever is asked."""
        return super().render_str(
            visible_text(text),
            style=style,
            justify=justify,
            overflow=overflow,
            emoji=False,
            markup=False,
            highlight=highlight,
            highlighter=highlighter,
        )


console: Final = PlainTextConsole()


def print_line(sentence: str = "") -> None:
    """Print one line, not broken."""
    console.print(sentence, soft_wrap=True)


def print_json(document: object) -> None:
    """Print one JSON document, indented, with every character that can be seen as itself."""
    print(visible_json(document))
