"""The commands of `ledgerline`, each imported only when it runs, and what their errors are called.

The help says the first sentence of each command's docstring, read from its file: importing them all takes five times as
long, and the clients of engines and web servers among what they bring are of no use to a reader.
"""

from __future__ import annotations

import ast
import gc
import os
import sys
from collections.abc import Mapping, Sequence
from importlib import import_module
from importlib.util import find_spec
from pathlib import Path
from typing import Final

import typer
from typer.models import CommandInfo

from schemas.errors import LedgerlineError
from services.cli import SERVICES
from services.cli.output import CommandLineError, GameNotFoundError, exit_with_error, share_options
from services.cli.trains import OWN_COMMANDS, WITH_OTHER_PROGRAMS
from services.runtime.interpreter_tuning import tune_garbage_collector

# The commands by what people want, in the order of the help. Whoever adds a command says here whom it is for.
PANELS: Final[Mapping[str, Sequence[str]]] = {
    "Play": ("play", "serve"),
    "Watch and replay": ("games", "replay", "watch", "fork"),
    "Judge": ("audit", "verify", "export", "import", "ask", "disputes"),
    "Build a bot, a board or a game": (
        "suggest",
        "board",
        "new-game",
        "fuzz",
        *WITH_OTHER_PROGRAMS,
    ),
    "Research": ("tournament", "simulate"),
    "Operate": (
        "status",
        "doctor",
        "top",
        "backup",
        "restore",
        "jobs",
        "dead",
        "person",
        "public-key",
        "withdraw-token",
        "engine-users",
        "referee",
        "bots",
        "auditor",
        "gateway",
    ),
}
# Where each of them is, below this package.
MODULES: Final[Mapping[str, str]] = {
    **OWN_COMMANDS,
    **dict.fromkeys(SERVICES, "services"),
    "play": "playing.play",
    **dict.fromkeys(("games", "replay", "watch"), "games.replay"),
    "fork": "games.fork",
    "audit": "games.audit",
    **dict.fromkeys(("verify", "export", "import"), "games.export_verify"),
    "disputes": "operating.disputes",
    "suggest": "games.suggest",
    "new-game": "games.new_game",
    "fuzz": "games.fuzz",
    "tournament": "playing.tournament",
    "simulate": "playing.simulate_games",
    "status": "operating.status",
    "doctor": "operating.doctor",
    "top": "operating.top",
    **dict.fromkeys(("backup", "restore"), "operating.backup"),
    "jobs": "operating.jobs",
    "dead": "operating.dead_letters",
    "person": "operating.person",
    **dict.fromkeys(("public-key", "withdraw-token", "engine-users"), "operating.keys"),
}
COMPLETING: Final = "_LEDGERLINE_COMPLETE"  # a shell asks so what may follow, by typer's way
GROUPS: Final = frozenset({"disputes", "jobs", "dead", "person"})  # that have commands of their own
UNUSED: Final = {"opentelemetry.sdk.metrics", "rich.traceback"}  # of what redis-py and structlog import
_PANEL_OF: Final = {name: panel for panel, names in PANELS.items() for name in names}


def run_app(app: typer.Typer, arguments: Sequence[str]) -> None:
    """Add the commands to the app, and run the one that is named. An error is one clear line."""
    typed = os.environ.get("COMP_WORDS") or os.environ.get("_TYPER_COMPLETE_ARGS") or ""
    words = typed.split()[1:] if COMPLETING in os.environ else arguments
    name = words[0] if words else ""
    try:
        if name in MODULES:
            _add_command(app, name)
            share_options(app)
            if name not in SERVICES and not gc.isenabled():  # they have more to import, and do it then
                tune_garbage_collector()
        else:
            _add_sentences(app)
        app(arguments)
    except GameNotFoundError as error:
        exit_with_error(str(error), 2)
    except CommandLineError as error:
        exit_with_error(str(error), 1)
    except Exception as error:
        if (message := _describe(error)) is None:
            raise
        exit_with_error(message, 1)


def add_commands(app: typer.Typer) -> None:
    """Add all commands, in panels."""
    for name in _PANEL_OF:
        _add_command(app, name)


def _add_command(app: typer.Typer, name: str) -> None:
    unused = UNUSED - sys.modules.keys()
    sys.modules.update(dict.fromkeys(unused))  # type: ignore[arg-type]  # as if it weren't installed
    try:
        module = import_module(f"{__package__}.{MODULES[name]}")
    except LedgerlineError as error:  # a game of another package can't be played
        raise CommandLineError(str(error)) from None
    finally:
        for each in unused:
            del sys.modules[each]
    if name in GROUPS:
        app.add_typer(module.app, name=name, rich_help_panel=_PANEL_OF[name])
        return
    [command] = [each for each in module.app.registered_commands if _name_of(each) == name]
    command.rich_help_panel = _PANEL_OF[name]
    app.registered_commands.append(command)


def _name_of(command: CommandInfo) -> str:
    assert command.callback is not None
    return command.name or command.callback.__name__


def _add_sentences(app: typer.Typer) -> None:
    """Add what the help says of every command."""
    read = {module: _sentences(module) for module in set(MODULES.values())}
    for name, panel in _PANEL_OF.items():
        sentence = read[MODULES[name]]["" if name in GROUPS else name]
        app.command(name, help=sentence, rich_help_panel=panel)(lambda: None)


def _sentences(module: str) -> dict[str, str]:
    """The docstring of each command of a module, by the command's name; under '' the help of them all."""
    found = find_spec(f"{__package__}.{module}")
    assert found is not None
    assert found.origin is not None
    sentences = dict[str, str]()
    for node in ast.parse(Path(found.origin).read_text(encoding="utf-8")).body:
        match node:
            case ast.FunctionDef(
                name=name, decorator_list=[ast.Call(ast.Attribute(attr="command"), names), *_]
            ):
                own = [each.value for each in names if isinstance(each, ast.Constant)]
                sentences[str(own[0]) if own else name] = ast.get_docstring(node) or ""
            case ast.Assign([ast.Name("app")], ast.Call(keywords=keywords)):
                for each in keywords:
                    if each.arg == "help" and isinstance(each.value, ast.Constant):
                        sentences[""] = str(each.value.value)
    return sentences


def _describe(error: Exception) -> str | None:
    """The line for an expected error; None for another."""
    from schemas.errors import CorruptDataError  # noqa: PLC0415 - a help has no errors, and needs none of these
    from services.archive import ArchiveUnavailableError  # noqa: PLC0415 - the same
    from services.ledger import MissingEntryError  # noqa: PLC0415 - the same
    from services.ledger.engine.connection import EngineUnavailableError  # noqa: PLC0415 - the same
    from services.ledger.ports import EngineError  # noqa: PLC0415 - the same

    if isinstance(
        error, EngineUnavailableError | ArchiveUnavailableError | MissingEntryError | CorruptDataError
    ):
        return str(error)
    return f"the engine can't be reached any more: {error}" if isinstance(error, EngineError) else None
