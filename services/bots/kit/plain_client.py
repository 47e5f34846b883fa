"""A seat's client without asyncio: its calls wait."""

from __future__ import annotations

import time
from collections.abc import Iterator
from types import TracebackType

from websockets.sync.client import ClientConnection, connect

from schemas.commands import Command
from services.bots.kit.reconnection import (
    ANSWER_S,
    CONNECTION_ERRORS,
    QUEUED_MESSAGES,
    Reconnection,
    socket_url,
)
from services.bots.kit.seat_requests import PATIENCE_S, SeatToken, uses_proxy
from services.bots.kit.seat_session import SeatSession, Turn, Verdict


class SeatClient:
    """One seat's connection, which comes back by itself. `for turn in client` gives each turn until the game is
    over; answer it with `send`.

    Every call may raise ServerRefusedError, UnreachableError after `patience_s` in which nothing was heard, or
    VerificationFailedError and CorruptDataError: the server isn't to be believed."""

    def __init__(self, seat: SeatToken, patience_s: float = PATIENCE_S) -> None:
        self.seat = seat
        self.session = SeatSession(seat.game, seat.seat, (seat.first_head, seat.contribution))
        self._reconnection = Reconnection(patience_s)
        self._socket: ClientConnection | None = None

    def __enter__(self) -> SeatClient:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()

    def close(self) -> None:
        """End the connection; the next call opens another."""
        if self._socket is not None:
            self._socket.close()
        self._socket = None
        self.session.disconnected()

    def __iter__(self) -> Iterator[Turn]:
        while (turn := self.next_turn()) is not None:
            yield turn

    def next_turn(self) -> Turn | None:
        """Wait until the seat is asked to act; None once the game is over."""
        self._reconnection.heard()  # nothing was listened to until now
        while not self.session.is_over:
            turn = self.session.turn()
            if not self._step(ANSWER_S if turn is None else 0) and turn is not None:
                return turn  # and nothing came meanwhile
        return None

    def send(self, command: Command) -> Verdict:
        """Send a command and wait for its verdict; it is sent again under its id until there is one.

        Raises KitError: another one has no verdict yet (its `send` was interrupted): ask for the next turn."""
        self.session.send(command)
        self._reconnection.heard()
        while self.session.verdict is None:
            self._step(ANSWER_S)
        return self.session.verdict

    def _step(self, wait_s: float) -> bool:
        """Send what is to be sent, and take one message. False where none came in that time."""
        try:
            self._socket = self._socket or self._connect()
            time.sleep(self.session.take_pause())
            if (text := self.session.outgoing()) is not None:
                self._socket.send(text)
            try:
                message = self._socket.recv(wait_s)
            except TimeoutError:
                self.session.send_again()
                return False
        except CONNECTION_ERRORS as error:
            self._socket = None
            time.sleep(self._reconnection.pause_after(error, self.session))
            return True  # what is known has changed
        self._reconnection.heard()
        self.session.receive(message)
        return True

    def _connect(self) -> ClientConnection:
        opening = connect(
            socket_url(self.seat.url, self.session),
            additional_headers={"Authorization": f"Bearer {self.seat.token}"},
            proxy=True if uses_proxy(self.seat.url) else None,
            max_queue=QUEUED_MESSAGES,
        )
        return opening.__enter__()  # `close` is its end: it lasts longer than a block
