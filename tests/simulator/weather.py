"""What happens to the engine and to the clocks, whoever is on the way just then."""

from __future__ import annotations

from random import Random
from typing import TYPE_CHECKING, Final

from tests.simulator.agenda import NEVER

if TYPE_CHECKING:
    from tests.simulator.world import World

HOUR_MS: Final = 3_600_000
SLOW: Final = (5.0, 40.0)


class Weather:
    """Now and then one of the plan's misfortunes comes over the whole house."""

    name = "weather"

    def __init__(self, world: World) -> None:
        self.world, self.kinds = world, dict(world.plan.weather)
        self.dice = Random(f"{world.plan.seed} weather")
        self.happens = {
            "scripts forgotten": world.engine.forget_scripts,
            "wall clock jumps": self._jump,
            "engine restarts": self._restart,
            "engine slow": self._slow,
            "fail-over": self._fail_over,
        }

    def step(self) -> float:
        if not self.kinds:
            return NEVER
        kind = self.dice.choice(sorted(self.kinds))
        self.world.note(f"weather: {kind}")
        self.happens[kind]()
        return self.dice.uniform(0.5, 1.5) * 1000 * min(self.kinds.values())

    def end(self) -> None:
        self.kinds.clear()

    def _jump(self) -> None:
        self.world.clock.jumped += self.dice.choice((-HOUR_MS, HOUR_MS))

    def _slow(self) -> None:
        self.world.slow = 1.0 if self.world.slow > 1 else self.dice.uniform(*SLOW)

    def _restart(self) -> None:
        self.world.engine.crash()

    def _fail_over(self) -> None:
        self.world.engine.fail_over()
