"""The heartbeat of a worker, by which others see that it is there."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from threading import Event, Thread
from typing import Final

from services.runtime.logging_setup import get_logger
from services.runtime.worker_loop import CONNECTION_ERRORS

BEAT_INTERVAL_S: Final = 0.5


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
