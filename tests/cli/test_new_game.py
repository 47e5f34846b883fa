"""`ledgerline new-game` and docs/tutorials/your-own-game.md: what they write and say, in an environment of its own."""

from __future__ import annotations

import re
import shlex
import subprocess
import sys
import sysconfig
from collections.abc import Iterator
from pathlib import Path

import pytest

from services.referee.games import RULESETS
from tests.cli.command_line import ROOT, environment, run_in_process, stop_engine

PAGE = (ROOT / "docs/tutorials/your-own-game.md").read_text(encoding="utf-8")
BLOCKS = re.findall(r"^```(\w+)\n(.*?)^```", PAGE, re.M | re.S)
INSTALLED = Path(sysconfig.get_path("purelib"))


@pytest.fixture
def folder(tmp_path: Path) -> Iterator[Path]:
    """A folder with an environment like the one that `make dev` makes, in which no game is installed."""
    subprocess.run([sys.executable, "-m", "venv", "--without-pip", str(tmp_path / ".venv")], check=True)
    programs = tmp_path / ".venv/bin"
    purelib = next((tmp_path / ".venv/lib").glob("python*/site-packages"))
    (purelib / "ledgerline.pth").write_text(f"{ROOT}\n{INSTALLED}\n", encoding="utf-8")
    (programs / "uv").symlink_to(Path(sys.executable).parent / "uv")
    command = (
        f"#!{programs / 'python'}\nfrom services.cli import main\nif __name__ == '__main__':\n    main()\n"
    )
    (programs / "ledgerline").write_text(command, encoding="utf-8")
    (programs / "ledgerline").chmod(0o755)
    yield tmp_path
    if (tmp_path / ".ledgerline").is_dir():
        stop_engine(tmp_path / ".ledgerline")


def shell(folder: Path, line: str) -> str:
    """What a line of shell prints, in the folder, without a package index. It must succeed."""
    settings = environment(UV_OFFLINE="1", UV_CACHE_DIR=str(folder / "cache"), PYTHONDONTWRITEBYTECODE="1")
    result = subprocess.run(
        ["sh", "-c", line], check=False, cwd=folder, env=settings, capture_output=True, text=True
    )
    assert result.returncode == 0, f"{line}\n{result.stdout}{result.stderr}"
    return result.stdout


@pytest.mark.long
def test_what_new_game_says_to_do_next_works_as_it_is_pasted(folder: Path) -> None:
    said = shell(folder, ".venv/bin/ledgerline new-game lost-cities2")
    install, test, play, _, serve = [line for line in said.splitlines() if line.startswith("  ")]
    shell(folder, install)
    assert re.search(r"\d+ passed", tested := shell(folder, test)), tested
    assert "lost-cities2, ended: all played" in shell(folder, play)
    assert shlex.split(serve, comments=True) == [".venv/bin/ledgerline", "serve"]
    # which packages are one's own, for the order of imports, differs from folder to folder
    shell(folder, f"{sys.executable} -m ruff check --isolated --ignore I001 lost-cities2")


@pytest.mark.long
def test_every_block_of_the_page_runs(folder: Path) -> None:
    """The shell's as they stand; Python's are in the skeleton, or are put into it, and its tests pass again."""
    commands = [line for language, block in BLOCKS if language == "sh" for line in block.splitlines()]
    new_game, install, test, *others = commands
    shell(folder, new_game)
    shell(folder, install)
    module = folder / "pairs/ledgerline_pairs/__init__.py"
    written = module.read_text(encoding="utf-8")
    added = [block for language, block in BLOCKS if language == "python" and block not in written]
    assert len(added) == 1
    imports = "from schemas.contract import Private\nfrom services.referee.games.kit import ask\n\n\n"
    for command in (test, *others):
        shell(folder, command)
    module.write_text(written.replace("GAME: Final", f"{imports}{added[0]}\n\nGAME: Final"), encoding="utf-8")
    shell(folder, test)


@pytest.mark.parametrize(
    ("name", "why"),
    [
        ("Pairs", "must be a letter and up to 19 more small letters or digits, hyphens between them"),
        ("a--b", "must be a letter"),
        ("../out", "must be a letter"),
        ("a" * 21, "must be a letter"),
        ("docs", "docs is there already: choose another name, or another folder"),
        *((name, f"there is a game {name!r} already") for name in RULESETS),
    ],
)
def test_a_name_that_no_game_can_have_is_one_line_and_writes_nothing(name: str, why: str) -> None:
    result = run_in_process("new-game", name)
    assert (result.returncode, result.stdout) == (2, "")
    assert result.stderr.startswith(f"ledgerline: NAME: {why}")
    assert result.stderr.count("\n") == 1


def test_help_says_what_it_writes() -> None:
    shown = " ".join(run_in_process("new-game", "--help").stdout.split())
    assert "Write a small game that already plays, with its rule page and tests, into a new folder" in shown
    assert "docs/tutorials/your-own-game.md" in shown
