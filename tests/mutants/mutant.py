"""What a planted bug is, and how a tree looks that has it."""

from __future__ import annotations

import os
import shutil
import subprocess
from pathlib import Path
from typing import Final, NamedTuple

ROOT: Final = Path(__file__).parents[2]


class Mutant(NamedTuple):
    """One line made wrong. `old` stands exactly once in the file; `watched_by` are the tests
    that should notice, the likeliest first."""

    name: str
    promise: str
    file: str
    old: str
    new: str
    watched_by: tuple[str, ...]


def planted(mutant: Mutant) -> str:
    """The file's text with the bug in it. Raises ValueError: the line isn't there, or isn't alone."""
    text = (ROOT / mutant.file).read_text()
    if (count := text.count(mutant.old)) != 1:
        raise ValueError(f"{mutant.name}: {mutant.old!r} stands {count} times in {mutant.file}")
    return text.replace(mutant.old, mutant.new)


def copy_tree(to: Path) -> None:
    """The tree as git knows it, with what isn't committed yet."""
    listed = subprocess.run(
        ["git", "ls-files", "-z", "--cached", "--others", "--exclude-standard"],
        cwd=ROOT, capture_output=True, check=True,
    )  # fmt: skip
    for name in filter(None, listed.stdout.decode().split("\0")):
        source, target = ROOT / name, to / name
        if source.is_file():
            target.parent.mkdir(parents=True, exist_ok=True)
            shutil.copyfile(source, target)


def plant(mutant: Mutant, tree: Path) -> None:
    """Put the bug into a copy of the tree."""
    (tree / mutant.file).write_text(planted(mutant))
    forget_bytecode(tree / mutant.file)


def uproot(mutant: Mutant, tree: Path) -> None:
    """Take it out again."""
    shutil.copyfile(ROOT / mutant.file, tree / mutant.file)
    forget_bytecode(tree / mutant.file)


def forget_bytecode(source: Path) -> None:
    """Python goes by a source's time in seconds and its size, and would take one bug's bytecode for another's."""
    for path in source.parent.glob(f"__pycache__/{source.stem}.*.pyc"):
        path.unlink()


def environment() -> dict[str, str]:
    """What the tests of a mutant run with: bytecode is kept, of which a tree has its own; no soak."""
    dropped = ("PYTHONDONTWRITEBYTECODE", "PYTHONPYCACHEPREFIX", "LEDGERLINE_SOAK")
    kept = {name: value for name, value in os.environ.items() if name not in dropped}
    return {**kept, "PYTHONHASHSEED": "0"}
