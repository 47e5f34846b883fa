"""The gateway as a process: its own event loop, the product's hub and gateway, its clients' requests."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable, Coroutine, Sequence
from contextvars import ContextVar
from random import Random
from typing import TYPE_CHECKING, Any, Final

from redis.exceptions import RedisError

from schemas.errors import CorruptDataError, InvalidInputError
from schemas.web.tokens import TokenKeys
from services.gateway.errors import RequestError
from services.gateway.following.hub import Hub
from services.gateway.games.client_limits import ClientLimits
from services.gateway.games.service import GatewayService
from services.gateway.web.problem_details import Problem, problem_of
from services.gateway.web.rate_limit import RateLimiter
from services.ledger import MissingEntryError
from services.ledger.async_ledger import AsyncLedger
from tests.simulator.agenda import NEVER
from tests.simulator.network import Call, Crash, Execute, Wire
from tests.simulator.virtual_loop import VirtualLoop

if TYPE_CHECKING:
    from tests.simulator.world import World

KEY: Final = b"the simulator's own key for seat tokens"
DEAD_MS: Final = (20.0, 2_000.0)
GatewayCall = Callable[[GatewayService], Coroutine[Any, Any, Any]]
ACTING: ContextVar[Wire] = ContextVar("acting")


class PendingRequest:
    """One request of a client. It ends with a reply, with a problem, or with neither: outcome unknown."""

    __slots__ = ("done", "ended", "losses", "problem", "reply", "task", "world")

    def __init__(self, world: World, ended: Callable[[], None]) -> None:
        self.world, self.ended = world, ended
        self.losses = 0  # of the engine, when the answer left
        self.done = False
        self.reply: Any = None
        self.problem: Problem | None = None  # None and no reply: unknown
        self.task: asyncio.Task[None] | None = None

    async def run(self, call: Awaitable[Any]) -> None:
        try:
            self.reply = await call
        except (InvalidInputError, RequestError) as error:
            self.problem = problem_of(error)
        except (RedisError, OSError):
            pass
        finally:
            self.done, self.losses = True, self.world.recorder.losses
            self.ended()

    def give_up(self) -> None:
        if self.task is not None:
            self.task.cancel()


class Packet:
    """One round trip of a gateway, in flight. Its step is its arrival at the engine."""

    def __init__(self, server: Server, wire: Wire, calls: Sequence[Call], execute: Execute) -> None:
        self.server, self.wire, self.calls, self.execute = server, wire, calls, execute
        wire.sent += 1
        self.name = f"{wire.owner}:{wire.sent}"
        self.generation, self.engine_generation = server.generation, server.world.engine.generation
        self.answer: asyncio.Future[list[Any]] = server.loop.create_future()
        self.fate = wire.fate()

    def step(self) -> float:
        if self.generation != self.server.generation:
            return NEVER  # its sender died before it left
        try:
            reply = self.wire.arrive(self.fate, self.engine_generation, self.calls, self.execute)
        except Crash:
            self.server.die()
        except (RedisError, OSError) as error:
            if not self.answer.done():
                self.answer.set_exception(error)
        else:
            if not self.answer.done():
                self.answer.set_result(reply)
        self.server.run_ready()
        return NEVER


class Server:
    """A gateway process. Clients call it through `ask` and `spawn`; when it dies, all their requests end."""

    def __init__(self, world: World, name: str) -> None:
        self.world, self.name = world, name
        self.rng = Random(f"{world.plan.seed} {name}")
        self.generation = 0
        self.service: GatewayService | None = None

    # -- life ----------------------------------------------------------------------------

    def step(self) -> float:
        if self.service is None:
            self.start()
        self.run_ready()
        return NEVER

    def start(self) -> None:
        self.loop = VirtualLoop(self.world.clock.monotonic_s)
        self.loop.set_exception_handler(self.task_failed)
        ledger = AsyncLedger(
            self.world.async_client(self), self.world.plan.partitions, self.world.plan.waiting
        )
        limits = RateLimiter(self.world.plan.rate, 20, self.world.clock.monotonic_s)
        self.hub = Hub(ledger)
        self.service = GatewayService(ledger, self.hub, TokenKeys(KEY), ClientLimits(limits))
        self.spawn(self.hub.run(), Wire(self.world, self.name, self.rng))

    def task_failed(self, _: object, context: dict[str, Any]) -> None:
        """The loop's exception handler, for tasks that nobody awaits. Only an outage may end one."""
        error = context.get("exception")
        if not isinstance(error, RedisError | OSError):
            self.world.complain(f"P7 {self.name}: {context['message']}: {error!r}")

    def die(self) -> None:
        """The process ends: its memory is lost, and it sends nothing any more."""
        if self.service is None:
            return
        self.world.trace.write(self.world.clock.now, self.name, "dies")
        self.close()
        self.world.agenda.put(self, self.rng.uniform(*DEAD_MS))

    def close(self) -> None:
        if self.service is None:
            return
        self.service = None
        self.generation += 1
        self.loop.end()
        self.world.agenda.drop(self)

    def run_ready(self) -> None:
        """Run every task that can run now."""
        if self.service is None:
            return
        self.loop.run_ready()
        self.schedule()

    def schedule(self) -> None:
        """Take the next step when a task can run, or a timer is due."""
        if self.service is None:
            return
        wakeup = self.loop.next_wakeup_s()
        if wakeup is not None:
            self.world.agenda.put(self, max(0.0, wakeup * 1000 - self.world.clock.now))

    # -- clients -------------------------------------------------------------------------

    def ask(self, wire: Wire, call: GatewayCall, ended: Callable[[], None]) -> PendingRequest:
        """Start a client's request."""
        request = PendingRequest(self.world, ended)
        if self.service is None:
            request.done = True  # connection refused
            return request
        request.task = self.spawn(request.run(call(self.service)), wire)
        self.run_ready()
        return request

    def spawn(self, work: Coroutine[Any, Any, Any], wire: Wire) -> asyncio.Task[Any]:
        """Start a task whose round trips go over this wire."""
        token = ACTING.set(wire)
        try:
            return self.loop.create_task(work)
        finally:
            ACTING.reset(token)

    async def carry(self, calls: Sequence[Call], execute: Execute) -> list[Any]:
        """One round trip of the current task, with a delay of its own."""
        wire = ACTING.get()
        packet = Packet(self, wire, calls, execute)
        held_ms = wire.rng.uniform(1, 3_000) if packet.fate == "held" else 0.0
        self.world.agenda.put(packet, wire.travel_ms(packet.fate) + held_ms)
        return await packet.answer


DAMAGE: Final = (MissingEntryError, CorruptDataError)
