"""One seed, start to end: the entry point of the simulator."""

from __future__ import annotations

import gc
import logging
from collections.abc import Iterator
from contextlib import contextmanager
from typing import NamedTuple, TextIO

import structlog

import tests.fake_listening  # noqa: F401 - it stands in for the product's, which wants a connection
from tests.simulator.plan import Plan
from tests.simulator.world import World


class Outcome(NamedTuple):
    """The result of a seed. Without complaints, every promise was kept."""

    seed: int
    digest: str  # of the trace: the same in every process
    games: int
    entries: int
    virtual_s: float
    complaints: list[str]

    def summary(self) -> str:
        """The complaints, and the command that repeats them."""
        repeat = f"repeat with: python -m tests.simulator {self.seed} --trace"
        return "\n".join((f"seed {self.seed}, trace {self.digest}:", *self.complaints, repeat))


def simulate(seed: int, out: TextIO | None = None, plan: Plan | None = None) -> Outcome:
    """Play a seed's world to its end and check it."""
    with quiet():
        world = World(seed, out, plan)
        world.run()
    records = world.recorder.records.values()
    entries = sum(len(record.stored) for record in records)
    games, digest = len(records), world.trace.digest()
    return Outcome(seed, digest, games, entries, world.clock.now / 1000, world.complaints)


@contextmanager
def quiet() -> Iterator[None]:
    """Within the block: no log lines of the services, which would report planted faults, and no
    garbage collection, which finds nothing until a world is dropped as a whole."""
    before = structlog.get_config()
    structlog.configure(wrapper_class=structlog.make_filtering_bound_logger(logging.CRITICAL))
    gc.disable()
    try:
        yield
    finally:
        gc.enable()
        structlog.configure(**before)
