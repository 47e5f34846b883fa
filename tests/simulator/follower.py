"""A viewer's socket: it follows a game through the hub, and reconnects after every end."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from random import Random
from typing import TYPE_CHECKING, Final

from pydantic_core import from_json
from redis.exceptions import RedisError

from schemas.field_types import Seat
from services.gateway.errors import RequestError
from services.gateway.following.entry_encoding import EncodedEntry
from services.gateway.following.subscriptions import SlowConsumerError, ViewDamagedError
from services.gateway.games.service import GatewayService
from services.ledger.ports import LogRewoundError
from tests.simulator.agenda import NEVER
from tests.simulator.gateways import DAMAGE, Server
from tests.simulator.network import Wire

if TYPE_CHECKING:
    from tests.simulator.world import World

RECONNECT_MS: Final = (10.0, 600.0)
CONNECTED_MS: Final = 15_000.0  # a viewer disconnects by itself after so long, on average


class Follower:
    """What one viewer was shown, entry by entry, over all its connections."""

    def __init__(
        self,
        world: World,
        name: str,
        game: str,
        viewer: Seat | None,
        on_entry: Callable[[], None] = lambda: None,
    ) -> None:
        self.on_entry = on_entry
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
        """Connect, or disconnect: that is an end like any other."""
        if self.task is not None and not self.task.done():
            self.task.cancel()
            self.server.run_ready()
            return NEVER
        self.server = self.rng.choice(self.world.servers)
        if self.server.service is None:
            return self.rng.uniform(*RECONNECT_MS)
        self.task = self.server.spawn(self.follow(self.server.service), self.wire)
        self.task.add_done_callback(self.ended)
        self.server.run_ready()
        return self.rng.expovariate(1 / CONNECTED_MS)

    def ended(self, _: object) -> None:
        """Reconnect after every end."""
        self.world.agenda.put(self, self.rng.uniform(*RECONNECT_MS))

    async def follow(self, gateway: GatewayService) -> None:
        """One connection, from the last entry on: that one is read again and compared, because
        an engine that took over may have another in its place."""
        after = max(0, self.after - 1)
        try:
            if self.after > await gateway.views.require_game(self.game):
                self.start_over()
            else:
                await self._listen(gateway, after)
        except (RequestError, SlowConsumerError, RedisError, OSError):
            pass  # it reconnects
        except LogRewoundError:
            self.start_over()
        except (ViewDamagedError, *DAMAGE) as damage:
            self.world.complain(f"P5 {self.name} was shown damage: {damage!r}")

    def start_over(self) -> None:
        """What was shown is no longer part of the game: forget it."""
        if self.world.evicting:
            return
        if not self.world.recorder.losses:
            self.world.complain(f"P1 {self.name} has to start over, and nothing was lost")
        self.shown.clear()

    def record_head(self, item: EncodedEntry) -> None:
        """Record the head that the gateway sent with an entry."""
        head = bytes.fromhex(from_json(item.text)["head"])
        self.world.recorder.record_head(self.name, self.game, item[0], head)

    async def _listen(self, gateway: GatewayService, after: int) -> None:
        session = gateway.hub.subscribe(self.game, self.viewer, after)
        try:
            async for item in gateway.hub.follow(self.game, session, after):
                after += 1
                if item[0] != after:
                    self.world.complain(f"P5 {self.name} was shown {item[0]} where {after} is next")
                self.record_head(item)
                if after > self.after:
                    self.shown.append(item)
                    self.on_entry()
                elif item != self.shown[-1]:
                    self.start_over()
                    return
        finally:
            gateway.hub.unsubscribe(self.game, session)
