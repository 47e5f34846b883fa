"""Every command that is printed as a hint works when it is pasted where it was printed."""

from __future__ import annotations

import ast
import os
import re
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Final

import pytest

from services.cli.output import own_command
from tests.cli.command_line import COMMAND, environment, stop_engine
from tests.guide.test_blocks import check_ledgerline
from tests.structure import ROOT

OWN: Final = Path(sys.executable).parent / "ledgerline"
PRINTED: Final = re.compile(rf"{re.escape(str(OWN))} [^`\n]+")


def hints(path: Path) -> Iterator[str]:
    """The commands in the texts of a module; a value that is filled in is a V."""
    for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
        if isinstance(node, ast.JoinedStr | ast.Constant):
            parts = node.values if isinstance(node, ast.JoinedStr) else [node]
            text = "".join(str(each.value) if isinstance(each, ast.Constant) else "V" for each in parts)
            yield from re.findall(r"`ledgerline ([a-z-]+[^`\n]*)`", text)


def test_a_hint_anywhere_in_the_product_names_a_command_and_its_options() -> None:
    found = {hint for path in (ROOT / "services").rglob("*.py") for hint in hints(path)}
    assert {"games", "dead list"} <= found
    for hint in found - {"V"}:
        check_ledgerline(hint.split())


class Folder:
    """A person's folder, and a shell in it whose PATH doesn't lead to the program."""

    def __init__(self, path: Path) -> None:
        self.path = path

    def run(self, *words: str) -> str:
        """All that `ledgerline WORDS` prints there."""
        done = subprocess.run(
            [*COMMAND, *words],
            cwd=self.path,
            env=environment(None, PYTHONPATH=str(ROOT)),
            capture_output=True,
            text=True,
            check=False,
        )
        return done.stdout + done.stderr

    def paste(self, printed: str) -> str:
        """What the one command prints that was printed."""
        [hint] = PRINTED.findall(printed)
        done = subprocess.run(
            hint,
            shell=True,
            cwd=self.path,
            env=environment(None),
            capture_output=True,
            text=True,
            check=False,
        )
        assert done.returncode == 0, f"{hint}\n{done.stderr}"
        return done.stdout


@pytest.mark.long
def test_hints_work_where_they_are_printed(tmp_path: Path) -> None:
    folder, where = Folder(tmp_path), ("--data", "my games")
    try:
        printed = folder.run("play", "--seats", "random,random", "--option", "cars=12", *where)
        assert "claims" in folder.paste(printed)
        [game] = re.findall(r"^Game ([0-9a-f]{12})", printed, re.MULTILINE)
        assert game in folder.paste(folder.run("replay", "nosuchgame", *where))
        rows = folder.run(
            "simulate", "--games", "2", "--option", "cars=8", "--processes", "1", "--out", "rows of games.csv"
        )
        assert "is over" in folder.paste(rows)
    finally:
        for data in ("my games", ".ledgerline"):
            if (tmp_path / data).is_dir():
                stop_engine(tmp_path / data)


@pytest.mark.parametrize("uvx", [True, False])
def test_the_program_is_named_by_its_path_where_a_shell_wouldnt_find_it(
    uvx: bool, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.setenv("PATH", f"{OWN.parent}{os.pathsep}{os.environ['PATH']}")
    if uvx:  # it puts the program on PATH for as long as it runs
        monkeypatch.setenv("UV", "/usr/bin/uv")
    monkeypatch.chdir(tmp_path)
    assert own_command() == (str(OWN) if uvx else "ledgerline")
