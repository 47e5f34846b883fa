"""`ledgerline new-game`: the skeleton of a game as a package of its own, which plays at once."""

from __future__ import annotations

import os
import re
import shlex
import sys
from importlib import resources
from pathlib import Path
from string import Template
from typing import Annotated, Final

import typer

from schemas.errors import InvalidInputError
from services.cli.output import path_here, print_line
from services.documents import write_bytes
from services.referee.games.found_games import GAMES, RULESETS

SLUG: Final = re.compile(r"[a-z][a-z0-9]*(-[a-z0-9]+)*")
MAX_NAME: Final = 20  # what a code on the wire has room for
SKELETON: Final = {  # where each file of services/cli/games/skeleton goes
    "pyproject.toml.txt": "pyproject.toml",
    "rules.py.txt": "$module/__init__.py",
    "rules.md.txt": "$module/rules.md",
    "conftest.py.txt": "tests/conftest.py",
    "tests.py.txt": "tests/test_$slug.py",
}
ROOT: Final = Path(__file__).parents[3]  # what a test of the game imports from
app = typer.Typer()


@app.command("new-game")
def new_game(
    name: Annotated[str, typer.Argument(help="The game's name, like high-cards: also the new folder's.")],
) -> None:
    """Write a small game that already plays, with its rule page and tests, into a new folder: a package to change.

    It says at its end what to do next. docs/tutorials/your-own-game.md goes on from there, to a game with friends."""
    _require_new(name)
    slug = name.replace("-", "_")
    words = {
        "name": name,
        "slug": slug,
        "module": f"ledgerline_{slug}",
        "title": name.replace("-", " ").capitalize(),
        "rule": re.sub("[^A-Z]", "", name.upper()),  # a rule's id has no digit before its hyphen
    }
    for source, target in SKELETON.items():
        text = resources.files(__package__).joinpath("skeleton", source).read_text(encoding="utf-8")
        _write(Path(name) / Template(target).substitute(words), Template(text).substitute(words))
    print_line(f"{name}/ is a game that plays already: change {words['module']}/__init__.py. Next:")
    for command in _next_commands(name):
        print_line(f"  {command}")
    print_line("docs/tutorials/your-own-game.md goes on from here.")


def _require_new(name: str) -> None:
    """Raises InvalidInputError unless a game and a folder can have the name."""
    if not SLUG.fullmatch(name) or len(name) > MAX_NAME:
        reason = (
            f"must be a letter and up to {MAX_NAME - 1} more small letters or digits, hyphens between them"
        )
        raise InvalidInputError("NAME", reason)
    if name in GAMES or name in RULESETS:
        raise InvalidInputError("NAME", f"there is a game {name!r} already")
    if os.path.lexists(name):
        raise InvalidInputError("NAME", f"{name} is there already: choose another name, or another folder")


def _write(path: Path, text: str) -> None:
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise InvalidInputError("NAME", f"{path.parent} can't be made: {error.args[-1]}") from None
    write_bytes(path, text.encode(), "NAME")


def _next_commands(name: str) -> list[str]:
    """What to do with the new game, from the folder in which this was asked, each line as a shell takes it."""
    folder, here = Path(sys.executable).parent, Path.cwd()
    tools = {tool: path_here(folder / tool) for tool in ("uv", "python", "ledgerline")}
    imports = "" if here == ROOT else f"PYTHONPATH={shlex.quote(str(ROOT))} "
    install = f"{tools['python']} -m pip install"  # has the package index build it; uv does so by itself
    if (folder / "uv").exists():
        install = f"{tools['uv']} pip install --python {tools['python']}"
    return [
        f"{install} --no-deps -e {name}   # now this Ledgerline knows it",
        f"{imports}{tools['python']} -m pytest {name}",
        f"{tools['ledgerline']} play --rules {name} --seats random,random",
        f"{tools['ledgerline']} fuzz {name}",
        f"{tools['ledgerline']} serve   # and play it with friends",
    ]
