"""A fresh environment that has the product, its dependencies, and games that are installed there as packages of their own."""

from __future__ import annotations

import os
import re
import shutil
import signal
import subprocess
import sysconfig
import venv
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

from tests.cli.command_line import ROOT, CommandResult, environment, stop_engine

UV = Path(sysconfig.get_path("scripts")) / "uv"
OPEN = re.compile(r"Ledgerline is open at (\S+)")


class Environment:
    """A virtual environment without network: it borrows what this one has, by a .pth file. The product in it is this
    checkout, or else the wheel. Commands run in a folder of their own."""

    def __init__(self, folder: Path, wheel: Path | None = None) -> None:
        self.folder = folder
        self.elsewhere = folder / "elsewhere"
        self.elsewhere.mkdir(parents=True)
        venv.create(folder, symlinks=True)
        self.python = folder / "bin/python"
        self.packages = next(folder.glob("lib/python*/site-packages"))
        borrowed = [*([] if wheel else [str(ROOT)]), sysconfig.get_path("purelib")]
        (self.packages / "borrowed.pth").write_text("\n".join(borrowed))
        self.command: tuple[str | Path, ...] = (self.python, "-m", "services.cli")
        if wheel:
            self._install(wheel)
            self.command = (folder / "bin/ledgerline",)

    def install(self, package: Path) -> None:
        """Build and install a package from a copy of its folder, in which nothing is left."""
        copy = shutil.copytree(
            package, self.folder / "build" / package.name, ignore=shutil.ignore_patterns("__py*")
        )
        self._install(copy)

    def _install(self, package: Path) -> None:
        words = ("pip", "install", "--offline", "--no-cache", "--no-deps", "--python", self.python, package)
        subprocess.run([UV, *words], check=True, capture_output=True, env=environment())

    def install_module(self, name: str, value: str, source: str) -> None:
        """A package of one module, as an installer leaves it, with a game that stands at `value`."""
        (self.packages / f"{name}.py").write_text(source)
        metadata = self.packages / f"{name}-2.0.dist-info"
        metadata.mkdir()
        (metadata / "METADATA").write_text(f"Metadata-Version: 2.1\nName: {name}\nVersion: 2.0\n")
        (metadata / "entry_points.txt").write_text(f"[ledgerline.games]\n{name} = {value}\n")

    def run(self, *words: str, **settings: str) -> CommandResult:
        """`ledgerline WORDS` in this environment."""
        return self._run(*self.command, *words, **settings)

    def run_python(self, *words: str, **settings: str) -> CommandResult:
        """`python WORDS` in this environment."""
        return self._run(self.python, *words, **settings)

    def _run(self, *command: str | Path, **settings: str) -> CommandResult:
        done = subprocess.run(
            command,
            cwd=self.elsewhere, env=environment(None, **settings), capture_output=True, text=True, check=False,
        )  # fmt: skip
        return CommandResult(done.returncode, done.stdout, done.stderr)

    @contextmanager
    def running(
        self, *words: str, data: Path | None = None, **settings: str
    ) -> Iterator[subprocess.Popen[str]]:
        """`ledgerline WORDS` as a process, until the end of the block; neither it nor its engine is left."""
        process = subprocess.Popen(
            [*self.command, *words],
            cwd=self.elsewhere, env=environment(data, **settings), stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL, text=True, start_new_session=True,
        )  # fmt: skip
        try:
            with process:
                yield process
                process.terminate()
        finally:
            with suppress(ProcessLookupError):
                os.killpg(process.pid, signal.SIGKILL)
            if data is not None and data.is_dir():
                stop_engine(data)

    @contextmanager
    def serving(self, data: Path) -> Iterator[str]:
        """A server with its data in this folder, until the end of the block. Yields its address."""
        with self.running("serve", "--port", "0", data=data) as process:
            assert process.stdout is not None
            opened = next(found for line in process.stdout if (found := OPEN.search(line)))
            yield opened[1]
