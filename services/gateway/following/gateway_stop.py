"""How a gateway stops: balancers learn of it first, then its followers are sent elsewhere, each once its commands have
their verdicts. Those come within `ANSWERS_S`, or are `unknown`; what is cut off after that loses nothing, because clients send
a command without a verdict again, under its id.
"""

from __future__ import annotations

import asyncio
import math
from collections.abc import AsyncIterator, Iterator
from contextlib import asynccontextmanager, contextmanager, suppress
from typing import Final

from schemas.errors import LedgerlineError
from services.runtime.logging_setup import get_logger

log = get_logger("gateway")
NOTICE_S: Final = 2.5  # in which a balancer that asks every 2 s learns that this gateway isn't ready
ASKED_LATELY_S: Final = 15.0  # a balancer asks more often
ANSWERS_S: Final = 7.5  # from the beginning until nothing waits for a verdict any more
LEAVE_A_SECOND: Final = 1_000  # followers that are sent away: the other gateways must take them in
SPREAD_S: Final = 2.5  # in which all of them are, however many
CLOSING_S: Final = 0.5  # after the last answer, until they have left


class GatewayStopsError(LedgerlineError):
    """The gateway stops: its followers come back, to another one, and go on."""

    def __init__(self) -> None:
        super().__init__("this gateway stops: come back now and go on")


class Stopping:
    """Whether the gateway stops, and who follows games or waits for a verdict at it until then."""

    def __init__(self) -> None:
        self.is_stopping = False
        self._asked_s = (
            -math.inf
        )  # when somebody wanted to know last whether it is ready, by the loop's clock
        self._answers_end_s = math.inf  # by the same
        self._have_left = False
        self._followers: dict[asyncio.Future[None], None] = {}
        self._all_left = asyncio.Event()
        self._waits: set[asyncio.Timeout] = set()

    def note_asked(self) -> None:
        """Somebody asks whether the gateway is ready: then it learns of the stop before the gateway ends."""
        self._asked_s = asyncio.get_running_loop().time()

    @contextmanager
    def follower(self) -> Iterator[asyncio.Future[None]]:
        """A follower, until the end of the block: GatewayStopsError is set to the future when it has to leave."""
        leaves: asyncio.Future[None] = asyncio.get_running_loop().create_future()
        self._followers[leaves] = None
        if self._have_left:
            leaves.set_exception(GatewayStopsError())
        try:
            yield leaves
        finally:
            if not leaves.cancel() and not leaves.cancelled():
                leaves.exception()  # seen, also where nobody waited for it yet
            del self._followers[leaves]
            if self._have_left and not self._followers:
                self._all_left.set()

    @asynccontextmanager
    async def answering(self, wait_s: float) -> AsyncIterator[None]:
        """Raise TimeoutError after a time, or when the gateway gives answers no more."""
        async with asyncio.timeout(min(wait_s, self.answers_left_s())) as wait:
            self._waits.add(wait)
            try:
                yield
            finally:
                self._waits.discard(wait)

    def answers_left_s(self) -> float:
        """For how long verdicts are still awaited; endless until the gateway stops."""
        return max(0.0, self._answers_end_s - asyncio.get_running_loop().time())

    def begin(self) -> None:
        """Be ready no more, and await verdicts for ANSWERS_S from now on."""
        self.is_stopping, self._answers_end_s = True, asyncio.get_running_loop().time() + ANSWERS_S
        log.info("stopping", followers=len(self._followers), waits=len(self._waits))
        for wait in self._waits:
            wait.reschedule(min(wait.when() or math.inf, self._answers_end_s))

    async def give_notice(self) -> None:
        """Go on for as long as whoever asks whether the gateway is ready needs to notice that it isn't."""
        if asyncio.get_running_loop().time() - self._asked_s < ASKED_LATELY_S:
            await asyncio.sleep(NOTICE_S)

    async def send_elsewhere(self) -> None:
        """Have every follower leave, one after the other, and wait until they have, or their time is over."""
        followers = list(self._followers)
        spread_s = min(SPREAD_S, len(followers) / LEAVE_A_SECOND)
        self._have_left = True
        for number, leaves in enumerate(followers, 1):
            if not leaves.done():
                leaves.set_exception(GatewayStopsError())
            if number % 100 == 0:
                await asyncio.sleep(spread_s * 100 / len(followers))
                if (
                    not self.answers_left_s()
                ):  # the server closes the rest with its connections, by the same code
                    break
        if self._followers:
            with suppress(TimeoutError):
                async with asyncio.timeout(self.answers_left_s() + CLOSING_S):
                    await self._all_left.wait()
        log.info("followers sent elsewhere", followers=len(followers), left=len(self._followers))
