"""How many instructions of Python fixed work takes: what a test of every run compares with what is recorded beside this.

Counted are the bytecodes that run in the product's own code, one by one, so a busy machine, another one, or another version
of a package changes nothing. What C does between two of them isn't seen: `--compare` measures time. valgrind would count
that too, but takes a minute for what takes seconds here, and each build of Python has numbers of its own.

`python -m tests.bench.instructions` prints them as JSON; with `--record "WHY"` it writes them down, and why they changed.
"""

from __future__ import annotations

import json
import logging
import os
import subprocess
import sys
import threading
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from random import Random
from tempfile import TemporaryDirectory
from types import FrameType
from typing import Any, Final

import structlog

ROOT: Final = Path(__file__).resolve().parents[2]
RECORD: Final = Path(__file__).with_suffix(".json")
COUNTED: Final = (f"{ROOT}/services/", f"{ROOT}/schemas/")
# Hashes order sets, and compiled rules have no bytecodes.
FIXED: Final = {"PYTHONHASHSEED": "0", "LEDGERLINE_COMPILED_RULES": "off"}
PYTHON: Final = f"{sys.version_info.major}.{sys.version_info.minor}"
TURNS: Final = 16
MOST_CHANGE: Final = 0.05
MOST_ELSEWHERE: Final = 0.25  # in another version of Python, whose bytecodes are others


class Counter:
    """Counts the bytecodes of the product in the threads that it traces, while it is on."""

    def __init__(self) -> None:
        self.count, self.is_on = 0, False

    def trace(self, frame: FrameType, _event: str, _argument: object) -> Callable[..., Any] | None:
        """What sys.settrace takes."""
        if not frame.f_code.co_filename.startswith(COUNTED):
            return None
        frame.f_trace_lines, frame.f_trace_opcodes = False, True
        return self._opcode

    def _opcode(self, _frame: FrameType, event: str, _argument: object) -> Callable[..., Any]:
        if event == "opcode" and self.is_on:
            self.count += 1
        return self._opcode

    def counted(self, work: Callable[[], object]) -> int:
        """The bytecodes that this work takes in the threads that are traced."""
        before, self.is_on = self.count, True
        try:
            work()
        finally:
            self.is_on = False
        return self.count - before

    def of_this_thread(self, work: Callable[[], object]) -> int:
        """The bytecodes that this work takes here, beyond a first time, which reads boards and fills caches."""
        sys.settrace(self.trace)
        try:
            return self.counted(work)
        finally:
            sys.settrace(None)


def count_core() -> int:
    """A game of two seats on the rules alone: legal list, random choice, decide and evolve."""
    from tests.bench.core import playout  # noqa: PLC0415 - the gateway's thread is traced from before its imports on

    playout("warm", Random(0))
    return Counter().of_this_thread(lambda: playout("fixed", Random(1)))


def count_referee_and_fold() -> tuple[int, int]:
    """A referee's steps over whole games of four seats, on a real engine; and the fold of their logs."""
    from services.bootstrap.composition import build_referee  # noqa: PLC0415 - as above
    from services.referee.games import fold  # noqa: PLC0415
    from services.runtime.settings import read_settings  # noqa: PLC0415
    from tests.bench.games import bots, fresh_ledger, script  # noqa: PLC0415

    with fresh_ledger(partitions=1) as ledger:
        referee, _ = build_referee(ledger, read_settings(), all_partitions=True)

        scripts = {game: script(game, bots(*("random",) * 4), game) for game in ("warm", "fixed")}

        def play(game: str) -> None:
            for envelope in scripts[game]:
                ledger.submit(envelope)
            while referee.step(50):
                pass

        play("warm")
        fold(ledger.read_entries("warm"))
        steps = Counter().of_this_thread(lambda: play("fixed"))
        log = ledger.read_entries("fixed")
        return steps, Counter().of_this_thread(lambda: fold(log))


def count_gateway() -> int:
    """A gateway's thread while a seat draws two cards over its WebSocket and all four see it: the least of some turns, as
    now and then a poll falls into one."""
    counter = Counter()

    def trace(frame: FrameType, event: str, argument: object) -> Callable[..., Any] | None:
        if threading.current_thread().name != "gateway":
            sys.settrace(None)
            return None
        sys.settrace(counter.trace)
        return counter.trace(frame, event, argument)

    threading.settrace(trace)
    try:
        with seats_of_a_game() as move:
            for _ in range(8):
                move()
            return min(counter.counted(lambda: (move(), move())) for _ in range(TURNS))
    finally:
        threading.settrace(None)


@contextmanager
def seats_of_a_game() -> Iterator[Callable[[], None]]:
    """Yield what makes one move of a game of four, each seat of which has a socket."""
    import httpx  # noqa: PLC0415 - as above

    from services.bootstrap.embedded import run_embedded_server  # noqa: PLC0415
    from tests.gateway.clients import DRAW, Socket, in_turn  # noqa: PLC0415
    from tests.many_clients import PATIENT, settings_for_many_clients  # noqa: PLC0415

    with (
        TemporaryDirectory() as folder,
        run_embedded_server(Path(folder), settings_for_many_clients(), limits=PATIENT) as server,
        httpx.Client(base_url=server.url, timeout=120, trust_env=False) as http,
    ):
        players = in_turn(http, 4, seed="fixed")
        sockets = [Socket(http, players[0].game, player.token, 10) for player in players]
        opened, turn = [socket.__enter__() for socket in sockets], 0

        def move() -> None:
            nonlocal turn
            opened[turn // 2 % len(opened)].send(f"move-{turn}", DRAW)
            turn += 1
            for socket in opened:
                assert (message := socket.next())["type"] == "entry", message

        try:
            yield move
        finally:
            for socket in sockets:
                socket.__exit__(None, None, None)


def count() -> dict[str, int]:
    """The bytecodes of each work."""
    structlog.configure(wrapper_class=structlog.make_filtering_bound_logger(logging.WARNING))
    referee, fold = count_referee_and_fold()
    return {"core": count_core(), "referee": referee, "fold": fold, "gateway": count_gateway()}


def count_apart() -> dict[str, int]:
    """The same, in a process of its own in which hashes are fixed and nothing is compiled."""
    command = [sys.executable, "-m", "tests.bench.instructions"]
    done = subprocess.run(
        command, cwd=ROOT, env={**os.environ, **FIXED}, stdout=subprocess.PIPE, text=True, check=True
    )
    counted: dict[str, int] = json.loads(done.stdout)
    return counted


def record(why: str) -> None:
    """Write down what the work takes now, and why that has changed."""
    found = {"python": PYTHON, "counted": count_apart(), "why": why}
    RECORD.write_text(json.dumps(found, indent=2) + "\n", encoding="utf-8")


def unexplained(record: Mapping[str, Any], counted: Mapping[str, int], python: str = PYTHON) -> list[str]:
    """Which work takes another number of instructions than is recorded, in words."""
    most = MOST_CHANGE if python == record["python"] else MOST_ELSEWHERE
    pairs = {name: (record["counted"].get(name, 0), count) for name, count in counted.items()}
    return [
        f"{name}: {count:,} instructions, recorded are {before:,}"
        for name, (before, count) in pairs.items()
        if abs(count - before) > most * before
    ]


if __name__ == "__main__":
    if sys.argv[1:2] == ["--record"]:
        record(sys.argv[2])
    else:
        print(json.dumps(count()))
