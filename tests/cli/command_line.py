"""The `ledgerline` command for tests: in this process where a process isn't the point, else in one of its own."""

from __future__ import annotations

import io
import json
import os
import signal
import subprocess
import sys
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager, redirect_stderr, redirect_stdout, suppress
from pathlib import Path
from typing import Any, NamedTuple, TextIO

import pytest
import structlog

from services.cli.main import run
from services.ledger.engine.embedded_engine import is_vacant, running_engine
from tests.conftest import to_bytes

ROOT = Path(__file__).parents[2]
COMMAND = (sys.executable, "-m", "services.cli")
OWN_PATH = f"{Path(sys.executable).parent}{os.pathsep}{os.environ['PATH']}"  # leads to the program


class CommandResult(NamedTuple):
    """How a command ended."""

    returncode: int
    stdout: str
    stderr: str


def environment(data: Path | None = None, **settings: str) -> dict[str, str]:
    """This process's environment with these settings and no others."""
    others = {name: value for name, value in os.environ.items() if not name.startswith("LEDGERLINE_")}
    return {**others, **settings, **({"LEDGERLINE_DATA": str(data)} if data else {})}


def run_in_process(
    *words: str, data: Path | None = None, stdin: str | bytes = b"", **settings: str
) -> CommandResult:
    """Run `ledgerline WORDS` here. An exception that the command doesn't turn into a line is raised."""
    out, err = io.StringIO(), io.StringIO()
    stdin_bytes = stdin.encode() if isinstance(stdin, str) else stdin
    returncode = 0
    with ExitStack() as stack:
        patch = stack.enter_context(pytest.MonkeyPatch.context())
        for name in [name for name in os.environ if name.startswith("LEDGERLINE_")]:
            patch.delenv(name)
        patch.setenv("PATH", OWN_PATH)
        for name, value in environment(data, **settings).items():
            patch.setenv(name, value)
        patch.chdir(ROOT)
        patch.setattr(sys, "stdin", io.TextIOWrapper(io.BytesIO(stdin_bytes)))
        patch.setattr(sys, "excepthook", sys.excepthook)  # Typer sets one
        # it would outlive the test
        patch.setattr("services.cli.options.configure_logging", lambda *_, **__: None)
        stack.enter_context(_warnings_logged_to(err))
        stack.enter_context(redirect_stdout(out))
        stack.enter_context(redirect_stderr(err))
        try:
            run([*words])
        except SystemExit as exit_:
            assert isinstance(exit_.code, int | None)
            returncode = exit_.code or 0
    return CommandResult(returncode, out.getvalue(), err.getvalue())


@contextmanager
def _warnings_logged_to(stream: TextIO) -> Iterator[None]:
    """Log as a command does that prints a result: warnings and worse, to its standard error."""
    before = structlog.get_config()
    structlog.configure(
        processors=[step for step in before["processors"] if step is not to_bytes],
        wrapper_class=structlog.make_filtering_bound_logger("warning"),
        logger_factory=structlog.WriteLoggerFactory(stream),
        cache_logger_on_first_use=False,
    )
    try:
        yield
    finally:
        structlog.configure(**before)


def run_process(
    *words: str, data: Path | None = None, stdin: str | bytes = b"", **settings: str
) -> CommandResult:
    """Run `ledgerline WORDS` in a process of its own. Only the test's timeout bounds it."""
    stdin_bytes = stdin.encode() if isinstance(stdin, str) else stdin
    with start_process(*words, data=data, **settings) as process:
        out, err = process.communicate(stdin_bytes)
    return CommandResult(process.returncode, out.decode(), err.decode(errors="replace"))


@contextmanager
def start_process(
    *words: str, data: Path | None = None, **settings: str
) -> Iterator[subprocess.Popen[bytes]]:
    """`ledgerline WORDS` as a process with pipes. At the end neither it nor its engine is left."""
    process = subprocess.Popen(
        [*COMMAND, *words],
        cwd=ROOT,
        env=environment(data, **settings),
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        start_new_session=True,
    )
    try:
        with process:
            try:
                yield process
            finally:
                if process.poll() is None:
                    with suppress(ProcessLookupError):
                        os.killpg(process.pid, signal.SIGKILL)
    finally:
        if data is not None and data.is_dir():
            stop_engine(data)


def stop_engine(data: Path) -> None:
    """Stop the data folder's engine, which a killed process may have left."""
    if not is_vacant(data):
        with running_engine(data):
            pass  # its last user stops it


def read_json(*words: str, data: Path) -> Any:
    """The document that a command prints with `--json`, run in this process."""
    return _parse_json(run_in_process(*words, "--json", data=data))


def read_json_of_process(*words: str, data: Path) -> Any:
    """The same from a process of its own."""
    return _parse_json(run_process(*words, "--json", data=data))


def _parse_json(result: CommandResult) -> Any:
    assert result.returncode == 0, result.stderr
    return json.loads(result.stdout)
