"""A disk of a few MiB of its own: a program runs in a mount namespace in which a folder is such a disk. It needs no root.

`run_on_small_disk` is for one program; `small_disk` stays, for programs that end and are started again."""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Iterator, Sequence
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Final, NamedTuple

from tests.cli.command_line import ROOT, environment

MOUNT: Final = 'mount -t tmpfs -o size={mib}m small-disk "$1" && shift && exec "$@"'
NEW_NAMESPACE: Final = ("unshare", "--user", "--map-root-user", "--mount", "sh", "-c")


class SmallDisk(NamedTuple):
    """A disk that some programs see at a folder: who runs under `enter`."""

    enter: Sequence[str]
    seen: Path  # the disk, as this program sees it

    def use_up(self) -> None:
        """Leave no room on it."""
        fill(self.seen / "ballast")

    def make_room(self) -> None:
        """Delete what isn't the programs' own."""
        (self.seen / "ballast").unlink()


@contextmanager
def small_disk(folder: Path, mib: int) -> Iterator[SmallDisk]:
    """A disk at this folder, for who enters."""
    folder.mkdir(parents=True, exist_ok=True)
    waiting = ["sh", "-c", "echo there; exec cat"]
    words = [*NEW_NAMESPACE, MOUNT.format(mib=mib), "sh", str(folder), *waiting]
    with subprocess.Popen(words, stdin=subprocess.PIPE, stdout=subprocess.PIPE) as keeper:
        assert keeper.stdout is not None
        assert keeper.stdout.readline() == b"there\n"
        enter = ("nsenter", "--target", str(keeper.pid), "--user", "--mount", "--preserve-credentials")
        yield SmallDisk(enter, Path(f"/proc/{keeper.pid}/root{folder}"))


def run_on_small_disk(module: str, folder: Path, mib: int, *words: str) -> subprocess.CompletedProcess[str]:
    """Run a module of the tests, to which this folder is a disk of so many MiB; it is named as the first argument."""
    folder.mkdir(parents=True)
    program = [sys.executable, "-m", module, str(folder), *words]
    return subprocess.run(
        [*NEW_NAMESPACE, MOUNT.format(mib=mib), "sh", str(folder), *program],
        cwd=ROOT,
        env=environment(),
        capture_output=True,
        text=True,
        timeout=300,
        check=False,
    )


def fill(ballast: Path) -> None:
    """Write to a file until its disk takes no more."""
    with suppress(OSError), ballast.open("ab", buffering=0) as file:
        while file.write(bytes(1 << 12)):
            pass
