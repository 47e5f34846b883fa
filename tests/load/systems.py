"""The server of a run on this machine: the services of compose.yaml as processes, with the limits of a load."""

from __future__ import annotations

import resource
from collections.abc import Iterator, Mapping
from contextlib import ExitStack, contextmanager
from pathlib import Path
from random import Random
from typing import Final

from tests.chaos.scenarios import kill_a_primary
from tests.chaos.systems import ClusterSystem, OneEngine, System
from tests.cluster.nodes import cluster
from tests.deploy.compose import stage
from tests.load.run import Kill

OTHER_FILES: Final = 500  # that a gateway has open beside its connections
LIMITS: Final = {
    "LEDGERLINE_RATE": "10000",
    "LEDGERLINE_READ_RATE": "10000",
    "LEDGERLINE_OPEN_GAMES": "1000000",
}


def connections_here() -> int:
    """How many connections a process may have on this machine, and a gateway at most."""
    return int(min(100_000, resource.getrlimit(resource.RLIMIT_NOFILE)[1] - OTHER_FILES))


@contextmanager
def server(folder: Path, counts: Mapping[str, int], on_cluster: bool, engine_memory: str) -> Iterator[System]:
    """The services, on an engine or on a cluster of three primaries and their replicas."""
    with ExitStack() as exits:
        at = exits.enter_context(stage(folder))
        at.engine_words = ("--maxmemory", engine_memory)
        system: System
        if on_cluster:
            formed = exits.enter_context(cluster(folder / "nodes", timeout_ms=5_000))
            system = ClusterSystem(at, formed)
        else:
            system = OneEngine(at)
        exits.callback(system.client.close)
        connections = str(connections_here())
        system.environment |= {
            **LIMITS,
            "LEDGERLINE_CONNECTIONS": connections,
            "LEDGERLINE_CONNECTIONS_PER_ADDRESS": connections,
            "LEDGERLINE_LOG_LEVEL": "warning",
            "LEDGERLINE_PARTITIONS": "256",
        }
        names = [name for name, count in counts.items() for _ in range(count)]
        system.start_services([*names, *([] if on_cluster else ["auditor"])])
        yield system


def urls_of(system: System) -> list[str]:
    """The addresses of its gateways."""
    return [
        f"http://127.0.0.1:{each.given.get('LEDGERLINE_PORT', system.at.gateway_port)}"
        for each in system.of("gateway")
    ]


def targets_of(system: System) -> Mapping[str, str]:
    """Where each service shows its metrics. It is named by its port: its place changes when another is started again."""
    return {f"{each.name}-{each.metrics.rpartition(':')[2]}": each.metrics for each in [*system.services]}


def kills_of(system: System) -> list[Kill]:
    """A kill -9 of one of each service, and of the engine, or of a primary, each of which comes back."""

    def kill(name: str) -> None:
        system.kill(system.of(name)[0])

    names = [name for name in ("gateway", "referee", "bots", "auditor") if system.of(name)]
    kills: list[Kill] = [(name, lambda name=name: kill(name)) for name in names]  # type: ignore[misc]
    random = Random("load")
    if isinstance(system, OneEngine):
        engine = system
        kills.append(("the engine", lambda: engine.kill_engine(random)))
    elif isinstance(system, ClusterSystem):
        kills.append(("a primary", lambda: kill_a_primary(system, random)))
    return kills
