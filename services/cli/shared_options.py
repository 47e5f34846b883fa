"""The options of every command, declared once: `--quiet`, and `--json` for those that have no document of their own.

With --json a command prints one JSON object and nothing else. Where it has no more to say than sentences, that is
`{"lines": [...]}`. An error is a line on standard error in any case, and the exit code says what kind of one.
"""

from __future__ import annotations

import json
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager, redirect_stdout
from functools import wraps
from inspect import Parameter, Signature, signature
from io import StringIO
from pathlib import Path
from typing import Annotated, Final, get_type_hints

import typer

from services.cli import SERVICES
from services.cli.output import DATA, DEFAULT_DATA, SHOWS_PROGRESS, print_json

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
