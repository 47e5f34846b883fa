"""When a client comes back after its connection ended, and when it gives up."""

from __future__ import annotations

import time
from collections.abc import Callable
from typing import Final

from websockets.exceptions import ConnectionClosed, InvalidHandshake, InvalidStatus

from services.bots.kit.kit_errors import ServerRefusedError, UnreachableError
from services.bots.kit.seat_session import BUSY_STATUSES, SeatSession

ABNORMAL: Final = 1006  # without a closing frame
FIRST_PAUSE_S: Final = 0.05
LONGEST_PAUSE_S: Final = 5.0
ANSWER_S: Final = 20.0  # without any message, before a command is sent again
QUEUED_MESSAGES: Final = 1_024  # that wait while a bot thinks

CONNECTION_ERRORS: Final = (ConnectionClosed, InvalidHandshake, OSError)  # OSError has TimeoutError too


class Reconnection:
    """Pauses that grow while nothing is heard of a server. `clock` is a monotonic clock in seconds."""

    def __init__(self, patience_s: float, clock: Callable[[], float] = time.monotonic) -> None:
        self.patience_s, self.clock = patience_s, clock
        self.heard()

    def heard(self) -> None:
        """A message came."""
        self.last_heard_s, self._pause_s = self.clock(), FIRST_PAUSE_S

    def pause_after(self, error: Exception, session: SeatSession) -> float:
        """How long to wait before coming back after one of CONNECTION_ERRORS.

        Raises ServerRefusedError: it makes no sense; UnreachableError: the patience is over."""
        if isinstance(error, ConnectionClosed) and error.rcvd is not None:
            session.closed(error.rcvd.code, error.rcvd.reason)
        elif isinstance(error, InvalidStatus) and error.response.status_code not in BUSY_STATUSES:
            raise ServerRefusedError(error.response.status_code, "", str(error)) from None
        else:
            session.closed(ABNORMAL, "")
        if self.clock() - self.last_heard_s > self.patience_s:
            raise UnreachableError(f"nothing was heard of the server for {self.patience_s:g} s: {error}")
        pause_s, self._pause_s = self._pause_s, min(2 * self._pause_s, LONGEST_PAUSE_S)
        return max(pause_s, session.take_pause())


def socket_url(url: str, session: SeatSession) -> str:
    """Where the WebSocket of a seat goes on."""
    return url.rstrip("/").replace("http", "ws", 1) + session.path
