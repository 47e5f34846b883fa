"""The one loop of every worker: step, now and then a chore, until told to stop."""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence
from threading import Event
from typing import Final, NamedTuple

import structlog
from redis.exceptions import RedisError, ResponseError

from services.runtime.logging_setup import get_log

BUGS: Final = (  # what a mistake of ours raises, as against an engine that is away
    ArithmeticError, AssertionError, AttributeError, LookupError, RuntimeError, TypeError, ValueError,
)  # fmt: skip
AWAY: Final = (RedisError, OSError)  # what is raised where an engine doesn't answer
REFUSED: Final = ResponseError  # and where it answers no to what was asked
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


def run(
    service: str,
    step: Callable[[], object],
    chores: Sequence[Chore],
    stop: Event,
    begin: Callable[[], object] = lambda: None,
) -> None:
    """Step until `stop` is set; first `begin`, until that went well. While the engine is away,
    try again: nothing is lost by it. Where only a part of it is away, a chore that fails waits
    for its next time, and the steps go on."""
    log = get_log(service)
    outage = Outage(log)
    due = [0.0] * len(chores)
    failed: dict[int, Exception] = {}
    log.info("started")
    while not stop.is_set():
        try:
            begin()
            begin = lambda: None  # noqa: E731 - it went well
            for place, chore in enumerate(chores):
                if time.monotonic() >= due[place]:
                    due[place] = time.monotonic() + chore.every_s
                    _attempt(place, chore, failed)
            step()
            if failed:
                outage.pause_s("engine", next(iter(failed.values())))
            else:
                outage.over()
        except ConnectionError as error:  # redis-py has one of its own: this is a bot's way out
            stop.wait(outage.pause_s("gateway", error))
        except AWAY as error:
            stop.wait(outage.pause_s("engine", error))
    log.info("stopped")


def _attempt(place: int, chore: Chore, failed: dict[int, Exception]) -> None:
    """Do a chore, and note whether the engine was there for it."""
    try:
        chore.do()
        failed.pop(place, None)
    except ConnectionError:
        raise
    except AWAY as error:
        failed[place] = error
