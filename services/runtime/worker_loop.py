"""The loop of every worker: a step, and periodic tasks when they are due, until it is stopped; and the heartbeat by which
others see that the loop comes round."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from threading import Event, Thread
from typing import TYPE_CHECKING, Final, NamedTuple

from redis.exceptions import OutOfMemoryError, ReadOnlyError, RedisError, ResponseError

from services.metrics import declared as metrics
from services.runtime.logging_setup import get_logger

if TYPE_CHECKING:
    import structlog

PROGRAMMING_ERRORS: Final = (  # what a bug raises, unlike an engine that is away
    ArithmeticError, AssertionError, AttributeError, LookupError, RuntimeError, TypeError, ValueError,
)  # fmt: skip
CONNECTION_ERRORS: Final = (RedisError, OSError)  # raised while an engine doesn't answer
ENGINE_COMMAND_ERROR: Final = ResponseError  # raised where an engine answers with an error
RETRY_PAUSES_S: Final = (0.1, 0.5, 1.0, 2.0)  # between tries while the engine is away
# An answer that begins with one of these is a refusal to write; redis-py takes the word off where it has a class for it.
REFUSAL_WORDS: Final = ("OOM", "MISCONF", "READONLY", "NOREPLICAS")
WORD_BY_CLASS: Final = {OutOfMemoryError: "OOM", ReadOnlyError: "READONLY"}
BEAT_INTERVAL_S: Final = 0.5
REFUSAL_QUIET_S: Final = 5.0  # longer than the longest pause, and than between two writes of a worker


class PeriodicTask(NamedTuple):
    """Something to do every `interval_s`."""

    interval_s: float
    action: Callable[[], object]


class Outage:
    """A time without the engine, or another service that is needed. It logs one line when it begins and one when it is
    over, and makes longer pauses between the tries. An engine that answers and refuses to write has a line of its own."""

    def __init__(
        self, log: structlog.typing.FilteringBoundLogger, clock: Callable[[], float] = time.monotonic
    ) -> None:
        self.log, self.clock = log, clock
        self.dependency = ""
        self.tries = 0
        self._is_refusal, self._failed_s = False, 0.0

    def record_failure(self, dependency: str, error: Exception) -> float:
        """Count one more failure; returns the seconds to wait before the next try."""
        refusal = write_refusal(error)
        metrics.ENGINE_FAILURES.add("refused" if refusal else "away")
        if not self.tries or self._is_refusal != bool(refusal):
            self.dependency, self._is_refusal = dependency, bool(refusal)
            if refusal:
                self.log.warning(f"{dependency} refuses writes, trying until it takes them", error=refusal)
            else:
                self.log.warning(f"{dependency} away, trying until it is back", error=str(error))
        self.tries, self._failed_s = self.tries + 1, self.clock()
        return RETRY_PAUSES_S[min(self.tries, len(RETRY_PAUSES_S)) - 1]

    def record_success(self) -> None:
        """The dependency answered: the outage is over, if there was one. What answered may only have been read:
        where writes were refused, it is over once none was for REFUSAL_QUIET_S."""
        if self._is_refusal and self.tries and self.clock() - self._failed_s < REFUSAL_QUIET_S:
            return
        if self.tries:
            outcome = "takes writes again" if self._is_refusal else "back"
            self.log.info(f"{self.dependency} {outcome}", tries=self.tries)
        self.tries = 0


def run_worker(
    service: str,
    step: Callable[[], object],
    periodic_tasks: Sequence[PeriodicTask],
    stop: Event,
    on_start: Callable[[], object] = lambda: None,
) -> None:
    """Step until `stop` is set, after `on_start` has succeeded once. While the engine is away, try
    again: nothing is lost. If only a part of it is away, a periodic task that fails waits for its
    next time, and the steps go on."""
    log = get_logger(service)
    outage, rounds = Outage(log), LoopRounds(service)
    next_due = [0.0] * len(periodic_tasks)
    failures: dict[int, Exception] = {}
    log.info("started")
    while not stop.is_set():
        try:
            on_start()
            on_start = lambda: None  # noqa: E731 - it succeeded
            for index, task in enumerate(periodic_tasks):
                if time.monotonic() >= next_due[index]:
                    next_due[index] = time.monotonic() + task.interval_s
                    _run_task(index, task, failures)
            step()
            rounds.come_round()
            if failures:
                outage.record_failure("engine", next(iter(failures.values())))
            else:
                outage.record_success()
        except CONNECTION_ERRORS as error:
            stop.wait(outage.record_failure("engine", error))
    log.info("stopped")


class LoopRounds:
    """How long ago a service's loop came round, and how long it stood still, for its metrics."""

    def __init__(self, service: str, clock: Callable[[], float] = time.monotonic) -> None:
        self._service, self._clock = service, clock
        self._came_s = clock()
        metrics.LOOP_SILENCE.read_from(lambda: {(service,): clock() - self._came_s}, service)

    def come_round(self, expected_s: float = 0.0) -> None:
        """The loop came round, `expected_s` after the last time if nothing held it up."""
        before_s, self._came_s = self._came_s, self._clock()
        metrics.LOOP_STANDSTILL.observe(max(0.0, self._came_s - before_s - expected_s), self._service)


def _run_task(index: int, task: PeriodicTask, failures: dict[int, Exception]) -> None:
    """Run a periodic task, and record whether the engine answered it."""
    try:
        task.action()
        failures.pop(index, None)
    except CONNECTION_ERRORS as error:
        failures[index] = error


def write_refusal(error: BaseException) -> str:
    """The engine's answer that it refuses to write: somebody must make room. Empty for other errors."""
    if not isinstance(error, ResponseError):
        return ""
    text = str(error)
    for error_class, word in WORD_BY_CLASS.items():
        if isinstance(error, error_class):
            return f"{word} {text}"
    return text if text.lstrip("-").partition(" ")[0] in REFUSAL_WORDS else ""


class Heartbeat:
    """Sends heartbeats on a thread of its own, so that work that takes long costs none; for as long as `read_progress`
    returns something new every now and then: at the latest after `max_silence_s`, counted in beats."""

    def __init__(
        self,
        service: str,
        send: Callable[[], object],
        max_silence_s: float,
        read_progress: Callable[[], object] = lambda: None,
    ) -> None:
        self._service, self._send, self._read_progress = service, send, read_progress
        self._max_silent_beats = round(max_silence_s / BEAT_INTERVAL_S)
        self._rounds, self._silent_beats = 0, 0
        self._progress: object = None
        self._error: Exception | None = None

    def beat(self) -> None:
        """Send one, unless the service seems to hang. An engine that is away is reported by
        `report_round`."""
        progress = self._rounds, self._read_progress()
        self._silent_beats = self._silent_beats + 1 if progress == self._progress else 0
        self._progress = progress
        if self._silent_beats >= self._max_silent_beats:
            if self._silent_beats == self._max_silent_beats:
                log = get_logger(self._service)
                log.error("service hangs, its work goes to others", silent_beats=self._silent_beats)
            return
        try:
            self._send()
            self._error = None
        except CONNECTION_ERRORS as error:  # the service may well wait for the same engine
            self._error, self._silent_beats = error, 0

    def report_round(self) -> None:
        """Called by the service's loop as it comes round. Raises the connection error of the last beat."""
        self._rounds += 1
        if self._error is not None:
            raise self._error

    @contextmanager
    def beating(self) -> Iterator[None]:
        """Beat on a thread until the end of the block."""
        ended = Event()

        def beat_until_ended() -> None:
            while not ended.wait(BEAT_INTERVAL_S):
                self.beat()

        thread = Thread(target=beat_until_ended, name="heartbeat", daemon=True)
        thread.start()
        try:
            yield
        finally:
            ended.set()
            thread.join(BEAT_INTERVAL_S)
