"""A viewer's socket: it follows through the hub, and comes back after every end."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from random import Random
from typing import TYPE_CHECKING, Final

from redis.exceptions import RedisError

from schemas.words import Seat
from services.gateway.door import Door
from services.gateway.followed import Damaged, Dropped, Sent
from services.gateway.problems import Problem
from services.ledger.joining import TakenBack
from tests.simulator.agenda import NEVER
from tests.simulator.house import DAMAGE
from tests.simulator.wire import Wire

if TYPE_CHECKING:
    from tests.simulator.world import World

BACK_MS: Final = (10.0, 600.0)
LEAVES: Final = 0.02  # how often a viewer hangs up on its own account


class Follower:
    """What one viewer was shown, entry by entry, over however many connections."""

    def __init__(
        self,
        world: World,
        name: str,
        game: str,
        viewer: Seat | None,
        heard: Callable[[], None] = lambda: None,
    ) -> None:
        self.heard = heard
        self.world, self.name, self.game, self.viewer = world, name, game, viewer
        self.dice = Random(f"{world.plan.seed} {name}")
        self.wire = Wire(world, name, self.dice)
        self.shown: list[Sent] = []
        self.task: asyncio.Task[None] | None = None

    @property
    def after(self) -> int:
        return len(self.shown)

    def step(self) -> float:
        if self.task is not None and not self.task.done() and self.dice.random() < LEAVES:
            self.task.cancel()
        if self.task is None or self.task.done():
            house = self.dice.choice(self.world.houses)
            if house.door is not None:
                self.task = house.spawn(self.follow(house.door), self.wire)
                house.turn()
        return self.dice.uniform(*BACK_MS)

    async def follow(self, door: Door) -> None:
        try:
            length = await door.require_game(self.game)
            if self.after > length:
                self.world.complain(f"{self.name} has {self.after} entries of {length}")
            await self._listen(door)
        except (Problem, Dropped, RedisError, OSError):
            pass  # it comes back
        except TakenBack:
            self.shown.clear()  # what it was shown is no part of the game any more: it begins anew
        except (Damaged, *DAMAGE) as damage:
            self.world.complain(f"{self.name} was shown damage: {damage}")

    async def _listen(self, door: Door) -> None:
        session = door.hub.attach(self.game, self.viewer, self.after)
        try:
            async for item in door.hub.follow(self.game, session, self.after):
                if item[0] != self.after + 1:
                    self.world.complain(f"{self.name} was shown {item[0]} after {self.after}")
                self.shown.append(item)
                self.heard()
        finally:
            door.hub.detach(self.game, session)
