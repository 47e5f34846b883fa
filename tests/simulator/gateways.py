"""The gateway as a process: its own event loop, the product's hub and gateway, its clients' errands."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable, Coroutine, Sequence
from contextvars import ContextVar
from random import Random
from typing import TYPE_CHECKING, Any, Final

from redis.exceptions import RedisError

from schemas.errors import CorruptDataError, InvalidInputError
from services.gateway.hub import Hub
from services.gateway.problem_details import HttpProblemError
from services.gateway.rate_limit import RateLimiter
from services.gateway.service import GatewayService
from services.ledger import MissingEntryError
from services.ledger.async_ledger import AsyncLedger
from tests.simulator.agenda import NEVER
from tests.simulator.network import Call, Crash, Execute, Wire
from tests.simulator.virtual_loop import StillLoop

if TYPE_CHECKING:
    from tests.simulator.world import World

KEY: Final = b"the simulator's own key for seat tokens"
DEAD_MS: Final = (20.0, 2_000.0)
Request = Callable[[GatewayService], Coroutine[Any, Any, Any]]
ACTING: ContextVar[Wire] = ContextVar("acting")


class Errand:
    """One request of a client: it ends with a reply, a problem, or nobody knows."""

    __slots__ = ("done", "ended", "losses", "problem", "reply", "task", "world")

    def __init__(self, world: World, ended: Callable[[], None]) -> None:
        self.world, self.ended = world, ended
        self.losses = 0  # how many there had been when the answer left
        self.done = False
        self.reply: Any = None
        self.problem: HttpProblemError | None = None  # None and no reply: unknown
        self.task: asyncio.Task[None] | None = None

    async def run(self, asked: Awaitable[Any]) -> None:
        try:
            self.reply = await asked
        except HttpProblemError as problem:
            self.problem = problem
        except InvalidInputError as error:
            self.problem = HttpProblemError(422, error.rule, str(error))
        except (RedisError, OSError):
            pass
        finally:
            self.done, self.losses = True, self.world.recorder.losses
            self.ended()

    def give_up(self) -> None:
        if self.task is not None:
            self.task.cancel()


class Packet:
    """One round trip of a gateway under way: it acts by arriving."""

    def __init__(self, server: Server, wire: Wire, calls: Sequence[Call], execute: Execute) -> None:
        self.server, self.wire, self.calls, self.execute = server, wire, calls, execute
        wire.sent += 1
        self.name = f"{wire.who}:{wire.sent}"
        self.life, self.engine_life = server.lives, server.world.engine.life
        self.answer: asyncio.Future[list[Any]] = server.loop.create_future()
        self.fate = wire.fate()

    def step(self) -> float:
        if self.life != self.server.lives:
            return NEVER  # who sent it died before it left
        try:
            reply = self.wire.arrive(self.fate, self.engine_life, self.calls, self.execute)
        except Crash:
            self.server.die()
        except (RedisError, OSError) as error:
            if not self.answer.done():
                self.answer.set_exception(error)
        else:
            if not self.answer.done():
                self.answer.set_result(reply)
        self.server.turn()
        return NEVER


class Server:
    """A gateway. Its clients ask through `ask` and `follow`; its death ends all that was asked."""

    def __init__(self, world: World, name: str) -> None:
        self.world, self.name = world, name
        self.rng = Random(f"{world.plan.seed} {name}")
        self.lives = 0
        self.door: GatewayService | None = None

    # -- life ----------------------------------------------------------------------------

    def step(self) -> float:
        if self.door is None:
            self.begin()
        self.turn()
        return NEVER

    def begin(self) -> None:
        self.loop = StillLoop(self.world.clock.monotonic_s)
        self.loop.set_exception_handler(self.broke)
        ledger = AsyncLedger(
            self.world.async_client(self), self.world.plan.partitions, self.world.plan.waiting
        )
        limits = RateLimiter(self.world.plan.rate, 20, self.world.clock.monotonic_s)
        self.hub = Hub(ledger)
        self.door = GatewayService(ledger, self.hub, KEY, limits, 5.0)
        self.spawn(self.hub.run(), Wire(self.world, self.name, self.rng))

    def broke(self, _: object, told: dict[str, Any]) -> None:
        """Something in a task went wrong that nobody waits for. An outage may."""
        error = told.get("exception")
        if not isinstance(error, RedisError | OSError):
            self.world.complain(f"P7 {self.name}: {told['message']}: {error!r}")

    def die(self) -> None:
        """Everything that it had in memory is gone, and nothing of it goes out any more."""
        if self.door is None:
            return
        self.world.trace.say(self.world.clock.now, self.name, "dies")
        self.close()
        self.world.agenda.put(self, self.rng.uniform(*DEAD_MS))

    def close(self) -> None:
        if self.door is None:
            return
        self.door = None
        self.lives += 1
        self.loop.end()
        self.world.agenda.drop(self)

    def turn(self) -> None:
        """Run what can run now."""
        if self.door is None:
            return
        self.loop.turn()
        self.rest()

    def rest(self) -> None:
        """Come back when there is something to run, or a timer is due."""
        if self.door is None:
            return
        alarm = self.loop.alarm_s()
        if alarm is not None:
            self.world.agenda.put(self, max(0.0, alarm * 1000 - self.world.clock.now))

    # -- clients -------------------------------------------------------------------------

    def ask(self, wire: Wire, what: Request, ended: Callable[[], None]) -> Errand:
        """A client's request, on its way at once."""
        errand = Errand(self.world, ended)
        if self.door is None:
            errand.done = True  # nobody listens
            return errand
        errand.task = self.spawn(errand.run(what(self.door)), wire)
        self.turn()
        return errand

    def spawn(self, work: Coroutine[Any, Any, Any], wire: Wire) -> asyncio.Task[Any]:
        token = ACTING.set(wire)
        try:
            return self.loop.create_task(work)
        finally:
            ACTING.reset(token)

    async def carry(self, calls: Sequence[Call], execute: Execute) -> list[Any]:
        """One round trip of whichever task this is: it arrives in its own time."""
        wire = ACTING.get()
        packet = Packet(self, wire, calls, execute)
        held = wire.rng.uniform(1, 3_000) if packet.fate == "held" else 0.0
        self.world.agenda.put(packet, wire.travel_ms(packet.fate) + held)
        return await packet.answer


DAMAGE: Final = (MissingEntryError, CorruptDataError)
