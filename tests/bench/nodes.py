"""Three primaries against one engine, on the same machine: what a command costs on each side.

Three nodes of a cluster don't make one machine faster; they are for several machines. So what is
compared is CPU time: that of the engines together, and that of the referee, whose batch goes
to three nodes in place of one.
"""

from __future__ import annotations

from collections.abc import Sequence
from contextlib import ExitStack
from itertools import islice
from pathlib import Path
from statistics import median
from tempfile import TemporaryDirectory
from typing import Any, Final

from schemas.stored.codec import pack_envelope
from services.ledger.engine import keys
from services.ledger.engine.connection import connect, init_partition_count
from tests.bench.figure import Figure, Report, Size
from tests.bench.games import fresh_engine
from tests.bench.live_games import run_one
from tests.bench.referee import Round, lanes
from tests.bench.referee_workers import Spent, Worker
from tests.cluster.nodes import cluster

GAMES: Final = 200


class Side:
    """One engine or three, their referee, and what its rounds took."""

    def __init__(self, running: ExitStack, url: str, engines: Sequence[Any], replicas: Sequence[Any]) -> None:
        self._client: Any = connect(url)
        self._partitions = init_partition_count(self._client, keys.DEFAULT_PARTITIONS)
        self._engines, self._replicas = engines, replicas
        self._worker = running.enter_context(Worker(run_one, url))
        self.reset()

    def reset(self) -> None:
        """Drop what was measured so far."""
        self.rounds: list[Spent] = []
        self._before = cpu_s(self._engines), cpu_s(self._replicas)

    def play(self, envelopes: Round) -> None:
        pipe = self._client.pipeline(transaction=False)
        for _, envelope in envelopes:
            stream = keys.commands(keys.partition_of(envelope.game, self._partitions))
            pipe.xadd(stream, {"c": pack_envelope(envelope)})
        pipe.execute()
        spent, _ = self._worker.ask(len(envelopes))
        self.rounds.append(spent)

    def left(self) -> int:
        """How many commands wait, or were moved to the dead letters."""
        pipe = self._client.pipeline(transaction=False)
        for partition in range(self._partitions):
            pipe.xlen(keys.commands(partition))
            pipe.xlen(keys.dead_letters(partition))
        return int(sum(pipe.execute()))

    def cpu_by_process(self) -> dict[str, float]:
        commands = sum(spent.commands for spent in self.rounds) / 1e6
        engines, replicas = self._before
        return {
            "referee_cpu_us": sum(spent.user + spent.system for spent in self.rounds) / commands,
            "engine_cpu_us": (cpu_s(self._engines) - engines) / commands,
            "replica_cpu_us": (cpu_s(self._replicas) - replicas) / commands,
            "per_s": median(spent.commands / spent.seconds for spent in self.rounds),
        }


def cpu_s(clients: Sequence[Any]) -> float:
    """The CPU time of these engines so far."""
    info = [client.info("cpu") for client in clients]
    return sum(float(each["used_cpu_user"]) + float(each["used_cpu_sys"]) for each in info)


def measure(size: Size, report: Report) -> Figure:
    with ExitStack() as running, TemporaryDirectory() as folder:
        report("forming a cluster")
        url = running.enter_context(fresh_engine())
        one = Side(running, url, [connect(url)], [])
        formed = running.enter_context(cluster(Path(folder)))
        primaries = formed.primaries()
        replicas = [node.call for node in formed.nodes if node not in primaries]
        three = Side(running, formed.url, [node.call for node in primaries], replicas)
        rounds = size.of(60, 4)
        for number, envelopes in enumerate(islice(lanes(size.of(GAMES, 4)), rounds)):
            report(f"round {number + 1} of {rounds}")
            for side in (one, three):
                side.play(envelopes)
                if number < rounds // 6:  # the games begin
                    side.reset()
        errors = one.left() + three.left()
        return build_figure(one.cpu_by_process(), three.cpu_by_process(), errors)


def build_figure(one: dict[str, float], three: dict[str, float], errors: int) -> Figure:
    def side(cpu: dict[str, float]) -> str:
        return f"referee {cpu['referee_cpu_us']:.0f} us, engine {cpu['engine_cpu_us']:.0f} us"

    return Figure(
        "three primaries (with a replica each) against one engine, CPU a command",
        f"{side(three)} and replicas {three['replica_cpu_us']:.0f} us, against {side(one)}; {errors} errors",
        "reported",
        None if not errors else False,
        {
            **{f"one_{name}": value for name, value in one.items()},
            **{f"three_{name}": value for name, value in three.items()},
            "errors": errors,
        },
    )
