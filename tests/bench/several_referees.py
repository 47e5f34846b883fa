"""One, two and four referees on one engine, each a process of its own, sharing the partitions by
their leases.

Commands of many games wait; each referee takes one of each of its partitions at a time, until none
is left. On a machine of two cores two referees and their engine compete for the cores, so the
CPU time of a command is counted on each side, and what it allows where there are cores enough: a
referee waits while the engine writes, so one makes 1 / (referee + engine) a second, and several
make so many times that, up to the engine's own 1 / engine.
"""

from __future__ import annotations

import os
from collections.abc import Sequence
from contextlib import ExitStack
from multiprocessing.connection import Connection
from pathlib import Path
from statistics import median
from time import monotonic, perf_counter, sleep
from typing import Final, NamedTuple

from services.bootstrap.composition import build_referee
from services.ledger import RedisLedger
from services.ledger.engine.connection import connect, init_partition_count
from services.runtime.logging_setup import configure_logging
from services.runtime.settings import read_settings
from tests.bench.figure import Figure, Report, Size, ratio
from tests.bench.games import fresh_engine
from tests.bench.live_games import Live, scripts
from tests.bench.referee_workers import Worker, spent_since

GOAL: Final = 1.6
COUNTS: Final = (1, 2, 4)
WAITING: Final = 4_000  # commands when a round begins
RENEW_S: Final = 0.5
SETTLED_S: Final = 30.0


class Round(NamedTuple):
    """All referees of a round together: from the first envelope to the last, and each side's CPU time."""

    commands: int
    seconds: float
    referee_s: float
    engine_s: float


class Server:
    """An engine, its live games, and so many referees."""

    def __init__(self, running: ExitStack, count: int, size: Size) -> None:
        url = running.enter_context(fresh_engine())
        self.live = Live(url, size.of(1_000, 20), scripts(size.of(24, 1)))
        self.workers = [running.enter_context(Worker(run_sharing, url)) for _ in range(count)]
        self.rounds: list[Round] = []
        until = monotonic() + SETTLED_S
        while sum(worker.ask("share") for worker in self.workers) != self.live.ledger.partitions:
            assert monotonic() < until, "the referees don't share the partitions"
            sleep(0.1)

    def play(self, envelopes: int) -> None:
        self.live.put(envelopes)
        before, start = self.live.engine_cpu_s(), perf_counter()
        for worker in self.workers:
            worker.pipe.send("go")
        spent = [worker.answer() for worker in self.workers]
        took, engine_s = perf_counter() - start, self.live.engine_cpu_s() - before
        referee_s = sum(one.user + one.system for one in spent)
        assert sum(one.commands for one in spent) == envelopes, "commands got lost"
        self.rounds.append(Round(envelopes, took, referee_s, engine_s))

    @property
    def rates(self) -> list[float]:
        return [each.commands / each.seconds for each in self.rounds]

    def cpu_us(self) -> tuple[float, float]:
        """CPU time a command: the referees', the engine's."""
        commands = sum(each.commands for each in self.rounds) / 1e6
        referee_s = sum(each.referee_s for each in self.rounds)
        return referee_s / commands, sum(each.engine_s for each in self.rounds) / commands


def measure(size: Size, report: Report) -> Figure:
    counts = COUNTS[: size.of(3, 2)]
    with ExitStack() as running:
        servers = []
        for count in counts:
            report(f"referees: {count}")
            servers.append(Server(running, count, size))
        for number in range(size.of(9, 2)):
            report(f"round {number}")
            for server in servers:
                server.play(size.of(WAITING, 80))
                if not number:  # a first round is left out: games are loaded, boards are read
                    server.rounds.clear()
        errors = sum(server.live.errors() for server in servers)
    return build_figure(counts, servers, errors)


def build_figure(counts: Sequence[int], servers: Sequence[Server], errors: int) -> Figure:
    one, two = servers[:2]
    times, (referee_us, engine_us) = ratio(two.rates, one.rates), one.cpu_us()
    allowed = min(2.0, (referee_us + engine_us) / engine_us)
    cores = os.cpu_count() or 1
    rates = ", ".join(
        f"{median(server.rates):,.0f} with {count}" for count, server in zip(counts, servers, strict=True)
    )
    met = min(times, allowed) >= GOAL or (cores < 4 and allowed >= GOAL)
    return Figure(
        "two referees on one engine, commands a second, of one",
        f"{times:.2f} on {cores} cores ({rates}); {referee_us:.0f} us CPU of the referee and {engine_us:.0f}"
        f" of the engine a command allow {allowed:.2f} ({errors} errors)",
        f"at least {GOAL}, as long as cores allow",
        met and not errors,
        {
            "ratio": times,
            "allowed_by_cpu": allowed,
            "most_per_s_of_the_engine": 1e6 / engine_us,
            "errors": errors,
            **{f"per_s_of_{n}": server.rates for n, server in zip(counts, servers, strict=True)},
            **{f"referee_cpu_us_of_{n}": h.cpu_us()[0] for n, h in zip(counts, servers, strict=True)},
            **{f"engine_cpu_us_of_{n}": h.cpu_us()[1] for n, h in zip(counts, servers, strict=True)},
        },
    )


def run_sharing(url: str, pipe: Connection) -> None:
    """One of several referees: on `go` it processes what waits in its partitions, on `share` it
    replies how many these are."""
    configure_logging("info", "json", Path(os.devnull).open("w"))  # noqa: SIM115 - for the whole process
    client = connect(url)
    referee, lease = build_referee(RedisLedger(client, init_partition_count(client)), read_settings())
    referee.batch = 1
    referee.step(1)  # makes the consumer groups
    pipe.send("ready")
    while True:
        while not pipe.poll(RENEW_S):
            lease.renew()
        request = pipe.recv()
        lease.renew()
        if request is None:
            return
        if request == "share":
            pipe.send(len(lease.partitions))
            continue
        start, before, count, renewed = perf_counter(), os.times(), 0, monotonic()
        while taken := referee.step(0):
            count += taken
            if monotonic() - renewed > RENEW_S:
                lease.renew()
                renewed = monotonic()
        pipe.send(spent_since(count, start, before))
