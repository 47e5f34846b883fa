"""A viewer's socket: it follows through the hub, and comes back after every end."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from random import Random
from typing import TYPE_CHECKING, Final

from pydantic_core import from_json
from redis.exceptions import RedisError

from schemas.field_types import Seat
from services.gateway.problem_details import HttpProblemError
from services.gateway.service import GatewayService
from services.gateway.subscriptions import EncodedEntry, SlowConsumerError, ViewDamagedError
from services.ledger.view_merge import LogRewoundError
from tests.simulator.agenda import NEVER
from tests.simulator.gateways import DAMAGE, Server
from tests.simulator.network import Wire

if TYPE_CHECKING:
    from tests.simulator.world import World

BACK_MS: Final = (10.0, 600.0)
STAYS_MS: Final = 15_000.0  # a viewer hangs up on its own account after so long, on the average


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
        self.rng = Random(f"{world.plan.seed} {name}")
        self.wire = Wire(world, name, self.rng)
        self.shown: list[EncodedEntry] = []
        self.task: asyncio.Task[None] | None = None
        self.server: Server = world.servers[0]

    @property
    def after(self) -> int:
        return len(self.shown)

    def step(self) -> float:
        """Connect, or hang up: that is an end like any other."""
        if self.task is not None and not self.task.done():
            self.task.cancel()
            self.server.turn()
            return NEVER
        self.server = self.rng.choice(self.world.servers)
        if self.server.door is None:
            return self.rng.uniform(*BACK_MS)
        self.task = self.server.spawn(self.follow(self.server.door), self.wire)
        self.task.add_done_callback(self.ended)
        self.server.turn()
        return self.rng.expovariate(1 / STAYS_MS)

    def ended(self, _: object) -> None:
        """Come back after every end."""
        self.world.agenda.put(self, self.rng.uniform(*BACK_MS))

    async def follow(self, door: GatewayService) -> None:
        """One connection, from the last entry on: that one is asked for again and compared, for
        an engine that took over may have another in its place."""
        after = max(0, self.after - 1)
        try:
            if self.after > await door.require_game(self.game):
                self.begin_anew()
            else:
                await self._listen(door, after)
        except (HttpProblemError, SlowConsumerError, RedisError, OSError):
            pass  # it comes back
        except LogRewoundError:
            self.begin_anew()
        except (ViewDamagedError, *DAMAGE) as damage:
            self.world.complain(f"P5 {self.name} was shown damage: {damage!r}")

    def begin_anew(self) -> None:
        """What was shown is no part of the game any more."""
        if self.world.leaving:
            return
        if not self.world.recorder.losses:
            self.world.complain(f"P1 {self.name} is to begin anew, and nothing was lost")
        self.shown.clear()

    def told(self, item: EncodedEntry) -> None:
        head = bytes.fromhex(from_json(item[2])["head"])
        self.world.recorder.handed_out(self.name, self.game, item[0], head)

    async def _listen(self, door: GatewayService, after: int) -> None:
        session = door.hub.subscribe(self.game, self.viewer, after)
        try:
            async for item in door.hub.follow(self.game, session, after):
                after += 1
                if item[0] != after:
                    self.world.complain(f"P5 {self.name} was shown {item[0]} where {after} is next")
                self.told(item)
                if after > self.after:
                    self.shown.append(item)
                    self.heard()
                elif item != self.shown[-1]:
                    self.begin_anew()
                    return
        finally:
            door.hub.unsubscribe(self.game, session)
