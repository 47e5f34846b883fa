"""What every command prints, and how it ends: text is never markup, a character that can't be seen is shown as its escape, an
error is one line.

Names, boards and reasons come from strangers. So nothing here reads `[bold]` or an escape sequence in them.

Every command has `--quiet`, and `--json` where it has no document of its own. With --json it prints one JSON object and
nothing else: where it has no more to say than sentences, that is `{"lines": [...]}`. An error is a line on standard error
in any case, and the exit code says what kind of one.
"""

from __future__ import annotations

import json
import os
import re
import shlex
import shutil
import sys
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager, redirect_stdout
from contextvars import ContextVar
from difflib import get_close_matches
from functools import wraps
from inspect import Parameter, Signature, signature
from io import StringIO
from pathlib import Path
from reprlib import repr as short_repr
from typing import TYPE_CHECKING, Annotated, Any, Final, NoReturn, TextIO, TypeVar, get_type_hints

import typer
from rich.console import Console, Group, HighlighterType, JustifyMethod, OverflowMethod
from rich.style import Style
from rich.table import Table
from rich.text import Text

from schemas.errors import LedgerlineError, what_was_meant
from services.cli import SERVICES
from services.runtime.visible_text import visible_json, visible_text

if TYPE_CHECKING:
    from rich.progress import Progress, ProgressColumn

T = TypeVar("T")
DEFAULT_WIDTH: Final = 110  # columns, where the output is no terminal
ANY_WIDTH: Final = 10_000  # columns, for a table that is only measured
EXIT_CODES: Final[Mapping[int, str]] = {
    0: "It is done, and nothing is wrong.",
    1: "Something is wrong: a finding, a server that can't be reached, or what can't be done.",
    2: "The input is wrong: an option, a file, or a game that isn't there.",
    70: "A service was stuck, and ended itself.",
    130: "It was stopped (Ctrl-C, SIGTERM).",
}
SHOWS_PROGRESS: Final = ContextVar("SHOWS_PROGRESS", default=True)  # --quiet says no
DEFAULT_DATA: Final = Path(".ledgerline")
DATA: Final = ContextVar[Path | None](
    "DATA", default=None
)  # the folder that --data names, if not the usual one
HINT: Final = re.compile(
    r"(?:(?<=`)|(?<=: ))ledgerline ([a-z-]+)([^`\n]*)(?=`|\Z)|^(\s*-> )ledgerline (?=[a-z])"
)
WITHOUT_DATA: Final = {
    "auditor",
    "bots",
    "engine-users",
    "gateway",
    "new-game",
    "referee",
    "restore",
    "verify",
}


class CommandLineError(LedgerlineError):
    """The command could not be carried out."""


class GameNotFoundError(LedgerlineError):
    """Neither the engine nor the archive has a game of this id."""


def exit_with_error(message: str, exit_code: int) -> NoReturn:
    """End the process with one line on standard error, and one of EXIT_CODES."""
    PlainTextConsole(stderr=True).print(f"ledgerline: {message}")
    sys.exit(exit_code)


def no_such(what: str, given: str, names: Iterable[str]) -> str:
    """The sentence that there is no such thing, which one may be meant, and which there are."""
    return f"there is no {what} {short_repr(given)}{there_are(given, names)}"


def there_are(given: str, names: Iterable[str]) -> str:
    """The end of such a sentence."""
    known = list(names)
    return f"{did_you_mean(given, known) or ';'} there is {', '.join(known)}"


def did_you_mean(given: str, names: Sequence[str], most: int = 3) -> str:
    """What may be meant, as the end of such a sentence; empty where nothing is like it."""
    return what_was_meant(get_close_matches(given, names, most))


def progress_bar(*columns: ProgressColumn) -> Progress:
    """A bar of these columns on standard error, if that is a terminal and nobody wants quiet."""
    from rich.progress import Progress  # noqa: PLC0415 - few commands draw one

    console = PlainTextConsole(stderr=True)
    is_shown = console.is_terminal and SHOWS_PROGRESS.get()
    return Progress(*columns, console=console, transient=True, disable=not is_shown)


def counted(what: str, items: Iterable[T], total: int | None = None) -> Iterator[T]:
    """The items as they come; on a terminal a bar shows how many there were of so many, or of all, and the time left."""
    from rich.progress import BarColumn, MofNCompleteColumn, TextColumn, TimeRemainingColumn  # noqa: PLC0415 - likewise

    items = items if total is not None else list(items)
    columns = TextColumn(what), BarColumn(), MofNCompleteColumn(), TimeRemainingColumn()
    with progress_bar(*columns) as progress:
        yield from progress.track(items, total)


def own_command() -> str:
    """How a shell in this folder starts this very program: by its name where PATH leads to it, else by its path."""
    own, path = Path(sys.executable).parent / "ledgerline", os.environ.get("PATH", "")
    if "UV" in os.environ:  # uvx puts the program's folder on PATH for as long as it runs
        path = os.pathsep.join(each for each in path.split(os.pathsep) if Path(each) != own.parent)
    found = shutil.which("ledgerline", path=path)
    by_name = not own.exists() or (found is not None and Path(found).resolve() == own.resolve())
    return "ledgerline" if by_name else path_here(own)


def as_pasted(text: str) -> str:
    """A text whose commands a shell here can run, on the games that this command has read."""

    def command(found: re.Match[str]) -> str:
        if found[3]:
            return f"{found[3]}{own_command()} "
        data = DATA.get()
        elsewhere = data is not None and found[1] not in WITHOUT_DATA and "--data" not in found[2]
        return f"{own_command()} {found[1]}{found[2]}" + (
            f" --data {path_here(data)}" if data and elsewhere else ""
        )

    return HINT.sub(command, text) if "ledgerline " in text else text


def path_here(path: Path) -> str:
    """A path as a shell in this folder takes it."""
    here = Path.cwd()
    return shlex.quote(str(path.relative_to(here) if path.is_relative_to(here) else path))


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

    def print(self, *objects: object, **options: Any) -> None:  # as rich declares them
        """Print these; a table whose words the terminal has no room for as a line for each of its rows."""
        super().print(*(self._with_room(each) for each in objects), **options)

    def _with_room(self, printed: object) -> object:
        if isinstance(printed, Text) and (pasted := as_pasted(printed.plain)) != printed.plain:
            return Text(pasted, printed.style)
        if not isinstance(printed, Table):
            return printed
        if self.measure(printed, options=self.options.update(max_width=ANY_WIDTH)).minimum <= self.width:
            return printed
        headings = [str(column.header) for column in printed.columns]
        rows = zip(*(column.cells for column in printed.columns), strict=True)
        cells = (zip(headings, row, strict=True) for row in rows)
        lines = (", ".join(f"{heading} {cell}".strip() for heading, cell in row if cell) for row in cells)
        return Group(*(str(each) for each in (printed.title, *lines, printed.caption) if each))

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
            visible_text(as_pasted(text)),
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


JsonOption = Annotated[bool, typer.Option("--json", help="Print one JSON document and nothing else.")]
QuietOption = Annotated[
    bool, typer.Option("--quiet", "-q", help="Print errors alone, and what --json prints.")
]
QUIET: Final = Parameter("quiet", Parameter.KEYWORD_ONLY, default=False, annotation=QuietOption)
LINES: Final = Parameter("lines_as_json", Parameter.KEYWORD_ONLY, default=False, annotation=JsonOption)
STREAMS: Final = {*SERVICES, "top"}  # that print as long as they run


def share_options(app: typer.Typer) -> None:
    """Give every command of the app these options, those of its groups too."""
    for command in app.registered_commands:
        assert command.callback is not None
        name = command.name or command.callback.__name__
        if "quiet" not in signature(command.callback).parameters and name not in STREAMS:
            command.callback = _with_options(command.callback)
    for group in app.registered_groups:
        if group.typer_instance is not None:
            share_options(group.typer_instance)


def _with_options(command: Callable[..., None]) -> Callable[..., None]:
    declared, hints = signature(command).parameters, get_type_hints(command, include_extras=True)
    options = [each.replace(annotation=hints[name]) for name, each in declared.items()]
    has_document = "as_json" in declared
    options += [QUIET] if has_document else [LINES, QUIET]

    @wraps(command)
    def run(*, quiet: bool, lines_as_json: bool = False, **values: object) -> None:
        as_json = lines_as_json or bool(values.get("as_json"))
        SHOWS_PROGRESS.set(not quiet and not as_json)
        data = values.get("data")
        DATA.set(data if isinstance(data, Path) and data != DEFAULT_DATA else None)
        with _printed(quiet=quiet and not as_json, in_a_document=lines_as_json):
            command(**values)

    run.__signature__ = Signature(options)  # type: ignore[attr-defined]  # what typer reads
    run.__annotations__ = {option.name: option.annotation for option in options}
    return run


@contextmanager
def _printed(*, quiet: bool, in_a_document: bool) -> Iterator[None]:
    """Have nothing printed, or all of it at the end as one JSON object; after an error nothing."""
    if not quiet and not in_a_document:
        yield
        return
    said = StringIO()
    try:
        with redirect_stdout(said):
            yield
    except typer.Exit:  # a finding, which has been said
        _print_lines(said.getvalue(), wanted=in_a_document)
        raise
    _print_lines(said.getvalue(), wanted=in_a_document)


def _print_lines(said: str, *, wanted: bool) -> None:
    if not wanted:
        return
    try:
        json.loads(said)
        sys.stdout.write(said)  # a document, which the command prints in any case
    except ValueError:
        print_json({"lines": said.splitlines()})
