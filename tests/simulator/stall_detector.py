"""P7: finds work that waits for longer than recovery from the last fault takes."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING, Final

from services.ledger.engine import keys
from tests.simulator.agenda import NEVER, NOON
from tests.simulator.engine_sets import SortedSet
from tests.simulator.engine_streams import BITS, Stream

if TYPE_CHECKING:
    from tests.simulator.world import World

LOOK_MS: Final = 1_000.0
STALL_MS: Final = 10_000.0  # a dead worker's start, its lease's end, and two rounds of reclaiming


class Stalls:
    """Where no fault happened for a while, no command, bot task or deadline has waited for so long."""

    name = "watchman"  # it orders the steps of recorded seeds

    def __init__(self, world: World) -> None:
        self.world, self.store = world, world.engine.store
        self.troubled = 0.0  # until when the last fault lasted

    def trouble(self, lasts_ms: float = 0.0) -> None:
        """A fault lasts for so long: what waits meanwhile has a reason to."""
        self.troubled = max(self.troubled, self.world.clock.now + lasts_ms)

    def step(self) -> float:
        for why in self.found() if self.world.clock.now > self.troubled + STALL_MS else ():
            self.world.complain(f"P7 {why} for more than {STALL_MS / 1000:.0f} s, without a fault")
            return NEVER
        return LOOK_MS

    def found(self) -> Iterator[str]:
        before = self.world.clock.now - STALL_MS
        for partition in range(self.world.plan.partitions):
            for name in (keys.commands(partition), keys.bot_tasks(partition)):
                stream = self.store.keys.get(name.encode())
                if isinstance(stream, Stream) and stream.ids and (stream.ids[0] >> BITS) - NOON < before:
                    yield f"an entry waits in {name}"
            due = self.store.keys.get(keys.deadlines(partition).encode())
            game_time = int(self.store.keys.get(keys.GAME_CLOCK_KEY.encode(), 0))
            if isinstance(due, SortedSet) and due.order and due.order[0][0] < game_time - STALL_MS:
                yield f"a deadline is overdue in {keys.deadlines(partition)}"
