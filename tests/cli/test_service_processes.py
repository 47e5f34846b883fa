"""Services that are forked off `play` and `serve`: they end with the process that started them, and say why they failed."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from io import StringIO
from pathlib import Path
from typing import Any

from services.runtime.logging_setup import get_logger
from tests.cli.command_line import ROOT, environment
from tests.security.captured_logging import logging_to

WAIT_S = 60.0
STARTER = """
import os, sys, time
from threading import Event
from services.bootstrap.embedded import forked_services
from services.runtime.logging_setup import configure_logging

def say(line):  # in one write, so that no other process's line falls into it
    os.write(1, line.encode() + b"\\n")

def waits(name):
    def run(stop):
        say(f"{name} {os.getpid()}")
        stop.wait()
        say(f"{name} stopped")
    return run

def breaks(stop):
    raise ValueError("no such table")

configure_logging("info", "json")
failed = Event()
bodies = {"first": waits("first"), "second": breaks if "break" in sys.argv else waits("second")}
try:
    with forked_services(bodies, failed):
        say("failed" if failed.wait(60) else "went on")
except KeyboardInterrupt:
    say("interrupted")
"""


@contextmanager
def starter(*words: str) -> Iterator[subprocess.Popen[str]]:
    """A process that starts two services, in a group of their own."""
    process = subprocess.Popen(
        [sys.executable, "-c", STARTER, *words],
        cwd=ROOT,
        env=environment(),
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        start_new_session=True,
    )
    try:
        with process:
            yield process
    finally:
        with suppress(ProcessLookupError):
            os.killpg(process.pid, signal.SIGKILL)


def services_of(process: subprocess.Popen[str]) -> dict[str, int]:
    """The process ids of both services, which have begun."""
    assert process.stdout is not None
    lines = [process.stdout.readline() for _ in range(2)]
    return {name: int(number) for name, number in map(str.split, lines)}


def log_lines(text: str) -> list[Any]:
    return [json.loads(line) for line in text.splitlines()]


def wait_until(condition: Callable[[], bool]) -> None:
    deadline = time.monotonic() + WAIT_S
    while not condition():
        assert time.monotonic() < deadline
        time.sleep(0.02)


def is_alive(process_id: int) -> bool:
    with suppress(OSError):
        return Path(f"/proc/{process_id}/stat").read_text().rpartition(")")[2].split()[0] not in "ZX"
    return False


def test_P7_services_stop_when_their_starter_does_and_not_before_it() -> None:
    """A terminal's Ctrl-C reaches all of them; they wait for the starter, which goes first."""
    with starter() as process:
        services_of(process)
        os.killpg(process.pid, signal.SIGINT)
        out, err = process.communicate(timeout=WAIT_S)
    assert sorted(out.splitlines()) == ["first stopped", "interrupted", "second stopped"]
    assert (process.returncode, err) == (0, "")


def test_P7_services_end_with_a_starter_that_is_killed() -> None:
    with starter() as process:
        ids = services_of(process).values()
        process.kill()
        wait_until(lambda: not any(map(is_alive, ids)))


def test_P7_a_service_that_is_killed_is_noticed_and_none_is_left() -> None:
    with starter() as process:
        ids = services_of(process)
        os.kill(ids["second"], signal.SIGKILL)
        out, err = process.communicate(timeout=WAIT_S)
    assert out.splitlines() == ["failed", "first stopped"]
    [line] = log_lines(err)
    assert (line["service"], line["event"], line["exit_code"]) == ("second", "service ended", -signal.SIGKILL)
    assert not any(map(is_alive, ids.values()))


def test_P7_a_service_that_fails_says_why_once() -> None:
    with starter("break") as process:
        out, err = process.communicate(timeout=WAIT_S)
    assert "failed" in out.splitlines()
    [line] = log_lines(err)
    assert (line["service"], line["event"]) == ("second", "service failed")
    assert "no such table" in line["exception"]


class WritesOf(StringIO):
    """A stream that keeps what each write was given."""

    def __init__(self) -> None:
        super().__init__()
        self.writes = list[str]()

    def write(self, text: str) -> int:
        self.writes.append(text)
        return super().write(text)


def test_a_line_of_the_log_is_one_write_so_that_no_other_processs_line_falls_into_it() -> None:
    out = WritesOf()
    with logging_to(out, "json"):
        get_logger("referee").info("game created")
    [line] = out.writes
    assert json.loads(line)["event"] == "game created"
    assert line.endswith("\n")
