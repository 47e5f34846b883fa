"""Faults of the engine and of the clocks, at any moment, whatever is in flight."""

from __future__ import annotations

from random import Random
from typing import TYPE_CHECKING, Final

from tests.simulator.agenda import NEVER

if TYPE_CHECKING:
    from tests.simulator.world import World

CATCH_UP_MS: Final = (1.0, 1_500.0)
SAFE_MS: Final = 2 * CATCH_UP_MS[1]  # after so long, disk and replica have every write
SLOW: Final = (5.0, 40.0)


class Incidents:
    """From time to time one of the plan's incidents hits the whole server."""

    name = "weather"  # it orders and draws the incidents of recorded seeds

    def __init__(self, world: World) -> None:
        self.world, self.kinds = world, dict(world.plan.incidents)
        self.rng = Random(f"{world.plan.seed} {self.name}")
        self.effects = {
            "scripts forgotten": world.engine.forget_scripts,
            "wall clock jumps": self._jump,
            "engine restarts": self._restart,
            "engine slow": self._slow,
            "fail-over": self._fail_over,
        }

    def step(self) -> float:
        if not self.kinds:
            return NEVER
        kind = self.rng.choice(sorted(self.kinds))
        self.world.note(f"incident: {kind}")
        self.world.stalls.trouble()
        self.effects[kind]()
        return self.rng.uniform(0.5, 1.5) * 1000 * min(self.kinds.values())

    def end(self) -> None:
        self.kinds.clear()

    def _jump(self) -> None:
        self.world.clock.jumped += self.rng.choice((-1, 1)) * self.world.plan.jump_ms

    def _slow(self) -> None:
        self.world.slow = 1.0 if self.world.slow > 1 else self.rng.uniform(*SLOW)

    def _restart(self) -> None:
        self._lose(self.world.engine.crash())

    def _fail_over(self) -> None:
        self._lose(self.world.engine.fail_over())

    def _lose(self, groups: int) -> None:
        for server in self.world.servers:
            server.schedule()  # its connection broke, which it notices at once
        if groups:
            self.world.note(f"lost: the last {groups} writes")
            self.world.recorder.rewind()


class Lag:
    """Disk and replica are behind, and catch up now and then."""

    name = "lag"

    def __init__(self, world: World) -> None:
        self.world, self.rng = world, Random(f"{world.plan.seed} lag")
        self.journal = world.engine.journal
        self.journal.disk_lags = world.plan.losses == "durable"
        self.journal.replica_lags = world.plan.losses == "replicated:1"

    def step(self) -> float:
        self.journal.fsync()
        self.journal.replicate()
        return self.rng.uniform(*CATCH_UP_MS)
