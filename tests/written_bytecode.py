"""The byte code of a checkout, written once: the workers of a parallel run would each make all of it, at the same time."""

from __future__ import annotations

import compileall
import os
import sys
from collections.abc import Iterator
from concurrent.futures import ProcessPoolExecutor
from fnmatch import fnmatch
from importlib.util import cache_from_source
from multiprocessing import get_context
from pathlib import Path
from typing import Final

from _pytest.assertion import rewrite  # there is no public way to rewrite a module and not run it

ROOT: Final = Path(__file__).parents[1]
SOURCES: Final = ("schemas", "services", "tests")
REWRITTEN: Final = ("conftest.py", "test_*.py")
FEW: Final = 50  # are left to the workers


def write_bytecode() -> None:
    """Write what is missing, or older than its source, in a process for each core."""
    unwritten = [path for path in python_files() if not is_written(path)]
    if len(unwritten) > FEW and not sys.dont_write_bytecode:
        with ProcessPoolExecutor(mp_context=get_context("spawn")) as pool:
            list(pool.map(write, unwritten, chunksize=20))


def python_files() -> Iterator[Path]:
    for folder in SOURCES:
        yield from (ROOT / folder).rglob("*.py")


def bytecode(path: Path) -> Path:
    """Where the byte code of a source file is read: that of tests, whose asserts are rewritten, in a file of pytest's."""
    if is_rewritten(path):
        return rewrite.get_cache_dir(path) / f"{path.stem}{rewrite.PYC_TAIL}"
    return Path(cache_from_source(str(path)))


def is_rewritten(path: Path) -> bool:
    return any(fnmatch(path.name, pattern) for pattern in REWRITTEN)


def is_written(path: Path) -> bool:
    written = bytecode(path)
    return written.exists() and written.stat().st_mtime >= path.stat().st_mtime


def write(path: Path) -> None:
    """Write the byte code of one source file, whole or not at all."""
    if not is_rewritten(path):
        compileall.compile_file(path, quiet=2)
        return
    source_hash, code = rewrite._rewrite_test(path, None)  # type: ignore[arg-type]  # no option of ours changes it
    written = bytecode(path)
    unfinished = written.with_suffix(f".{os.getpid()}")
    written.parent.mkdir(parents=True, exist_ok=True)
    with unfinished.open("wb") as file:
        rewrite._write_pyc_fp(file, source_hash, code)
    unfinished.replace(written)
