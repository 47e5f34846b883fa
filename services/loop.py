"""The one loop of every worker: step, now and then a chore, until told to stop."""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence
from threading import Event
from typing import Final, NamedTuple

import structlog
from redis.exceptions import RedisError

from services.logs import get_log

BUGS: Final = (  # what a mistake of ours raises, as against an engine that is away
    ArithmeticError, AssertionError, AttributeError, LookupError, RuntimeError, TypeError, ValueError,
)  # fmt: skip
PAUSE_S: Final = (0.1, 0.5, 1.0, 2.0)  # between tries while the engine is away


class Chore(NamedTuple):
    """Something to do every so often."""

    every_s: float
    do: Callable[[], object]


class Outage:
    """A time without the engine, or whoever else is needed: one line when it begins, one when
    it is over, and longer pauses between the tries."""

    def __init__(self, log: structlog.typing.FilteringBoundLogger) -> None:
        self.log = log
        self.who = ""
        self.tries = 0

    def pause_s(self, who: str, error: Exception) -> float:
        """It failed once more; how long a worker waits before the next try."""
        if not self.tries:
            self.who = who
            self.log.warning(f"{who} away, trying until it is back", error=str(error))
        self.tries += 1
        return PAUSE_S[min(self.tries, len(PAUSE_S)) - 1]

    def over(self) -> None:
        """It went well."""
        if self.tries:
            self.log.info(f"{self.who} back", tries=self.tries)
        self.tries = 0


def run(service: str, step: Callable[[], object], chores: Sequence[Chore], stop: Event) -> None:
    """Step until `stop` is set. While the engine is away, try again: nothing is lost by it."""
    log = get_log(service)
    outage = Outage(log)
    due = [0.0] * len(chores)
    log.info("started")
    while not stop.is_set():
        try:
            for place, chore in enumerate(chores):
                if time.monotonic() >= due[place]:
                    chore.do()  # one that fails is due again at once
                    due[place] = time.monotonic() + chore.every_s
            step()
            outage.over()
        except ConnectionError as error:  # redis-py has one of its own: this is a bot's way out
            stop.wait(outage.pause_s("gateway", error))
        except (RedisError, OSError) as error:
            stop.wait(outage.pause_s("engine", error))
    log.info("stopped")
