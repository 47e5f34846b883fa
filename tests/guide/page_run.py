"""A page, run as a reader would: its blocks in order, in one folder, in terminals of their own.

`sh` is a line or more for the reader's terminal; `sh other terminal` goes on while the rest is done, and is ready when
it prints its address. A block in another language whose fence names a file is written there, else it is run. Ports are free
ones; an id that a page shows stands for the latest game of the reader's folder.
"""

from __future__ import annotations

import json
import os
import re
import signal
import socket
import subprocess
import sys
import sysconfig
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from threading import Thread
from typing import Final

from tests.cli.command_line import ROOT, environment, stop_engine
from tests.guide.markdown_pages import Block, blocks

SCRIPTS: Final = {"python": ("python", "-c"), "js": ("node", "--input-type=module", "-e")}
TUTORIALS: Final = tuple(
    f"docs/tutorials/{name}.md"
    for name in (
        "board",
        "club",
        "course",
        "disputed-move",
        "game-night",
        "javascript-bot",
        "python-bot",
        "research",
    )
)
RUN: Final = (*TUTORIALS, "docs/how-to/library.md")
PORT: Final = re.compile(r"\b(8720|45678)\b")
SHOWN_ID: Final = "07453b4f348d"
WRITTEN: Final = {"json", "yaml", "toml"}


class Reader:
    """Who follows a page, in a folder."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.printed = ""
        self._others: list[subprocess.Popen[str]] = []
        self._drains: list[Thread] = []
        self._ports: dict[str, str] = {}
        _set_up(folder)

    def do(self, block: Block) -> str:
        """Do what a block says, and return what it prints. An assertion fails where a command does."""
        text = PORT.sub(lambda found: self.port(found[0]), block.text)
        if SHOWN_ID in text:
            text = text.replace(SHOWN_ID, self._latest_game())
        if block.language == "sh" and block.words == "other terminal":
            return self._start(text)
        if block.language == "sh":
            return self._run("sh", "-euc", text)
        if block.words:
            (self.folder / block.words).write_text(text, encoding="utf-8")
            return ""
        return self._run(*SCRIPTS[block.language], text)

    def close(self) -> None:
        """Stop what goes on in the other terminals."""
        for process in reversed(self._others):
            with suppress(ProcessLookupError):
                os.killpg(process.pid, signal.SIGINT)
            try:
                process.wait(timeout=30)
            except subprocess.TimeoutExpired:
                os.killpg(process.pid, signal.SIGKILL)
                process.wait()
        for drain in self._drains:
            drain.join(timeout=30)
        for process in self._others:
            assert process.stdout is not None
            process.stdout.close()
        if (self.folder / ".ledgerline").is_dir():
            stop_engine(self.folder / ".ledgerline")

    def _environment(self) -> dict[str, str]:
        programs = f"{self.folder / '.venv/bin'}:{Path(sys.executable).parent}"
        return environment(
            PATH=f"{programs}:{os.environ['PATH']}",
            LEDGERLINE_PORT=self.port("8720"),
            LEDGERLINE_HOST="127.0.0.1",
            PYTHONDONTWRITEBYTECODE="1",
            UV_OFFLINE="1",
        )

    def _run(self, *command: str) -> str:
        result = subprocess.run(
            command, check=False, cwd=self.folder, env=self._environment(), capture_output=True, text=True
        )
        assert result.returncode == 0, f"{command[-1]}\n{result.stdout}{result.stderr}"
        self.printed += result.stdout
        return result.stdout

    def _start(self, text: str) -> str:
        process = subprocess.Popen(
            ["sh", "-euc", f"exec {text.strip()}"],
            cwd=self.folder,
            env=self._environment(),
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
            start_new_session=True,
        )
        self._others.append(process)
        assert process.stdout is not None
        said = ""
        for line in process.stdout:
            said += line
            if any(f":{port}" in line for port in self._ports.values()):
                self._drains.append(
                    Thread(target=process.stdout.read, daemon=True)
                )  # or it would wait for a reader
                self._drains[-1].start()
                self.printed += line
                return line
        raise AssertionError(f"{text} named no address and ended with {process.wait()}:\n{said}")

    def port(self, shown: str) -> str:
        """The free port that stands for a port that the page shows."""
        if shown not in self._ports:
            with socket.socket() as probe:
                probe.bind(("127.0.0.1", 0))
                self._ports[shown] = str(probe.getsockname()[1])
        return self._ports[shown]

    def _latest_game(self) -> str:
        listed = json.loads(self._run("ledgerline", "games", "--json"))["games"]
        assert listed, "no game was played before the page shows an id"
        return str(listed[0]["game"])


@contextmanager
def reader(folder: Path) -> Iterator[Reader]:
    """A reader in a folder; at the end nothing is left running."""
    one = Reader(folder)
    try:
        yield one
    finally:
        one.close()


def run_page(name: str, folder: Path) -> None:
    """Follow a page to its end. What it says that a block prints is printed."""
    with reader(folder) as one:
        printed = ""
        for block in blocks(name):
            if block.language in {*SCRIPTS, "sh", *WRITTEN}:
                printed = one.do(block)
            elif block.language == "text" and block.words == "prints":
                assert_prints(block.text, printed)


def assert_prints(shown: str, printed: str) -> None:
    """Each line that the page shows is printed, in order: `...` is anything, a number any number, an id any id."""
    rest = printed
    for line in filter(str.strip, shown.splitlines()):
        pattern = re.escape(line.strip()).replace(re.escape("..."), ".*")
        pattern = re.sub(r"[0-9a-f]{12}", "[0-9a-f]{12}", pattern)
        pattern = re.sub(r"(?<![\[{,\w])\d+(?![\w}\]])", r"\\d+", pattern)
        found = re.search(re.sub(r"(\\ )+", r"\\s+", pattern), rest)
        assert found, f"{line!r} isn't printed:\n{printed}"
        rest = rest[found.end() :]


def _set_up(folder: Path) -> None:
    """An environment like the one that `make setup` makes."""
    subprocess.run([sys.executable, "-m", "venv", "--without-pip", str(folder / ".venv")], check=True)
    programs = folder / ".venv/bin"
    packages = next((folder / ".venv/lib").glob("python*/site-packages"))
    (packages / "ledgerline.pth").write_text(f"{ROOT}\n{sysconfig.get_path('purelib')}\n", encoding="utf-8")
    launcher = (
        f"#!{programs / 'python'}\nfrom services.cli import main\nif __name__ == '__main__':\n    main()\n"
    )
    (programs / "ledgerline").write_text(launcher, encoding="utf-8")
    (programs / "ledgerline").chmod(0o755)
