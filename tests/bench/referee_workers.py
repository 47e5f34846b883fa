"""The two processes of the referee benchmark: a referee, and a client without rules."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable, Sequence
from itertools import tee
from multiprocessing import get_context
from multiprocessing.connection import Connection
from pathlib import Path
from time import perf_counter
from types import TracebackType
from typing import Any, NamedTuple, TypeAlias

from services.bootstrap.composition import build_referee
from services.ledger import RedisLedger
from services.ledger.engine.connection import connect, init_partition_count
from services.ledger.engine.queries import Client, RedisCommand, Reply, send_and_wait
from services.ledger.scripts.lua_scripts import APPEND_ENTRY
from services.runtime.interpreter_tuning import tune_garbage_collector
from services.runtime.logging_setup import configure_logging
from services.runtime.settings import read_settings

Calls: TypeAlias = Sequence[Sequence[RedisCommand]]  # batches: each one round trip
ANSWER_S = 600


class Spent(NamedTuple):
    """What so many commands took: time, and the process's own CPU time."""

    commands: int
    seconds: float
    user: float
    system: float


class Worker:
    """A process that answers requests over a pipe until it gets None."""

    def __init__(self, run: Callable[[str, Connection], None], url: str) -> None:
        spawn = get_context("spawn")
        self.pipe, far = spawn.Pipe()
        self.process = spawn.Process(target=run, args=(url, far), daemon=True)

    def __enter__(self) -> Worker:
        self.process.start()
        self.answer()  # it is ready
        return self

    def ask(self, request: object) -> Any:
        self.pipe.send(request)
        return self.answer()

    def answer(self) -> Any:
        if not self.pipe.poll(ANSWER_S):
            raise RuntimeError(f"no answer within {ANSWER_S} s")
        return self.pipe.recv()

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        if self.process.is_alive():
            self.pipe.send(None)
        self.process.join(10)
        self.process.kill()


class Recording(RedisLedger):
    """The ledger, recording the scripts that it runs."""

    def __init__(self, url: str) -> None:
        client = connect(url)
        super().__init__(client, init_partition_count(client))
        client.script_load(APPEND_ENTRY.source)  # else the first batch would be run, and recorded, twice
        self.calls: list[Sequence[RedisCommand]] = []
        self._send_and_wait = self.record

    def record(self, client: Client, commands: Iterable[RedisCommand]) -> list[Reply]:
        to_run, made = tee(commands)
        replies = send_and_wait(client, to_run)
        if recorded := [*made]:
            self.calls.append(recorded)
        return replies


def run_referee(url: str, pipe: Connection) -> None:
    """For each number received, process so many commands; reply the time and the scripts that were run."""
    configure_logging("info", "json", Path(os.devnull).open("w"))  # noqa: SIM115 - for the whole process
    ledger = Recording(url)
    referee, _ = build_referee(ledger, read_settings(), all_partitions=True)
    referee.step(1)  # makes the consumer groups
    tune_garbage_collector()  # as a service does
    pipe.send("ready")
    while envelopes := pipe.recv():
        ledger.calls = []
        start, before, processed = perf_counter(), os.times(), 0
        while processed < envelopes:
            processed += (taken := referee.step(1000))
            assert taken, "commands got lost"
        pipe.send((spent_since(envelopes, start, before), ledger.calls))


def run_client(url: str, pipe: Connection) -> None:
    """For each round received, run its scripts, each batch in one round trip; reply the time."""
    client: Any = connect(url)
    client.script_load(APPEND_ENTRY.source)
    pipe.send("ready")
    while calls := pipe.recv():
        start, before = perf_counter(), os.times()
        for batch in calls:
            pipeline = client.pipeline(transaction=False)
            for command in batch:
                pipeline.execute_command(*command.arguments)
            for outcome, _ in pipeline.execute():
                assert outcome == 1, "the same verdict was not appended"
        pipe.send(spent_since(sum(map(len, calls)), start, before))


def spent_since(commands: int, start: float, before: os.times_result) -> Spent:
    passed, now = perf_counter() - start, os.times()
    return Spent(commands, passed, now.user - before.user, now.system - before.system)
