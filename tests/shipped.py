"""What this working tree would ship, built as `make release` does, once in a whole run."""

from __future__ import annotations

import fcntl
import os
import shutil
from pathlib import Path
from typing import NamedTuple

import pytest

from deploy.make_release import build
from tests.structure import ROOT

LEFT_OUT = (
    *(".git", ".venv", ".*_cache", ".hypothesis", ".ledgerline", ".mypy_worker.*", "__pycache__"),
    *("node_modules", "build", "dist", "screenshots", "secrets", "*.egg-info"),
)
LONG_AGO = "1700000000"


class Shipped(NamedTuple):
    """A release: its files, and the tree that it was built of, which has the guide in build/guide."""

    wheel: Path
    sdist: Path
    bill: Path
    tree: Path


@pytest.fixture(scope="session")
def shipped(tmp_path_factory: pytest.TempPathFactory) -> Shipped:
    """The first worker that needs it builds it, for all others."""
    own = tmp_path_factory.getbasetemp()
    folder = (own.parent if os.environ.get("PYTEST_XDIST_WORKER") else own) / "shipped"
    with folder.with_suffix(".lock").open("w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        if not (folder / "out").exists():
            copy = shutil.copytree(ROOT, folder / "tree", ignore=shutil.ignore_patterns(*LEFT_OUT))
            build(copy, folder / "building", LONG_AGO)
            (folder / "building").rename(folder / "out")
    (wheel,), (sdist,), (bill,) = (folder.glob(f"out/*.{end}") for end in ("whl", "tar.gz", "cdx.json"))
    return Shipped(wheel, sdist, bill, folder / "tree")
