"""A seat's client, with asyncio and without: it carries the text of a `SeatSession`, and comes back by itself."""

from __future__ import annotations

import asyncio
import random
import time
from collections.abc import AsyncIterator, Iterator
from types import TracebackType
from typing import Final, Literal

from websockets.asyncio.client import ClientConnection as AsyncSocket
from websockets.asyncio.client import connect as connect_async
from websockets.exceptions import ConnectionClosed, InvalidHandshake, InvalidStatus
from websockets.sync.client import ClientConnection as PlainSocket
from websockets.sync.client import connect as connect_plainly

from schemas.commands import Command
from services.bots.kit.seat_requests import PATIENCE_S, SeatToken, uses_proxy
from services.bots.kit.seat_session import (
    BUSY_STATUSES,
    SeatSession,
    ServerRefusedError,
    Turn,
    UnreachableError,
    Verdict,
)

ABNORMAL: Final = 1006  # without a closing frame
FIRST_PAUSE_S: Final = 0.05
LONGEST_PAUSE_S: Final = 20.0  # about; all pauses vary by half, for many come back from one fault
# of a server, or of a proxy before it, that is busy or away
PASSING_STATUSES: Final = (408, *BUSY_STATUSES, 502, 504)
ANSWER_S: Final = 20.0  # without any message, before a command is sent again
QUEUED_MESSAGES: Final = 1_024  # that wait while a bot thinks
PING_S, PONG_S, CLOSING_S = 4.0, 5.0, 1.0  # so a connection that died silently is left within 10 s

CONNECTION_ERRORS: Final = (ConnectionClosed, InvalidHandshake, OSError)  # OSError has TimeoutError too


class _ReturningClient:
    """A seat's session, and when to come back after its connection ended, or to give up."""

    def __init__(self, seat: SeatToken, patience_s: float = PATIENCE_S) -> None:
        self.seat, self.patience_s = seat, patience_s
        self.session = SeatSession(seat.game, seat.seat, (seat.first_head, seat.contribution))
        self._heard()

    def _heard(self) -> None:
        """The server gave a sign of life, or wasn't listened to until now."""
        self._last_heard_s, self._pause_s = time.monotonic(), FIRST_PAUSE_S

    def _pause_after(self, error: Exception) -> float:
        """How long to wait before coming back after one of CONNECTION_ERRORS; the pauses grow.

        Raises ServerRefusedError: it makes no sense; UnreachableError: the patience is over."""
        session = self.session
        if isinstance(error, ConnectionClosed) and error.rcvd is not None:
            session.closed(error.rcvd.code, error.rcvd.reason)
        elif isinstance(error, InvalidStatus) and error.response.status_code not in PASSING_STATUSES:
            raise ServerRefusedError(error.response.status_code, "", str(error)) from None
        else:
            session.closed(ABNORMAL, "")
        if time.monotonic() - self._last_heard_s > self.patience_s:
            raise UnreachableError(f"nothing was heard of the server for {self.patience_s:g} s: {error}")
        asked_s = error.response.headers.get("Retry-After", "") if isinstance(error, InvalidStatus) else ""
        asked = min(2.0 * float(asked_s), self.patience_s) if asked_s.isdecimal() else 0.0
        pause_s = max(self._pause_s, asked)
        self._pause_s = min(2 * self._pause_s, LONGEST_PAUSE_S)
        jitter = random.uniform(0.5, 1.5)  # noqa: S311 - no secret
        return max(pause_s * jitter, session.take_pause())

    def _address(self) -> tuple[str, dict[str, str], Literal[True] | None]:
        """The URL of the seat's WebSocket, its headers, and whether a proxy may be used."""
        url = self.seat.url.rstrip("/").replace("http", "ws", 1) + self.session.path
        proxy: Literal[True] | None = True if uses_proxy(self.seat.url) else None
        return url, {"Authorization": f"Bearer {self.seat.token}"}, proxy


class AsyncSeatClient(_ReturningClient):
    """One seat's connection, which comes back by itself. `async for turn in client` gives each turn until the game is over;
    answer it with `send`.

    Every call may raise ServerRefusedError, UnreachableError after `patience_s` in which nothing was heard, or
    VerificationFailedError and CorruptDataError: the server isn't to be believed."""

    _socket: AsyncSocket | None = None

    async def __aenter__(self) -> AsyncSeatClient:
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        await self.close()

    async def close(self) -> None:
        """End the connection; the next call opens another."""
        if self._socket is not None:
            await self._socket.close()
        self._socket = None
        self.session.disconnected()

    async def __aiter__(self) -> AsyncIterator[Turn]:
        while (turn := await self.next_turn()) is not None:
            yield turn

    async def next_turn(self) -> Turn | None:
        """Wait until the seat is asked to act; None once the game is over."""
        self._heard()
        while not self.session.is_over:
            turn = self.session.turn()
            if not await self._step(ANSWER_S if turn is None else 0) and turn is not None:
                return turn  # and nothing came meanwhile
        return None

    async def send(self, command: Command) -> Verdict:
        """Send a command, again under its id until there is a verdict. Raises KitError after a `send` that was cancelled."""
        self.session.send(command)
        self._heard()
        while self.session.verdict is None:
            await self._step(ANSWER_S)
        return self.session.verdict

    async def _step(self, wait_s: float) -> bool:
        """Send what is to be sent, and take one message. False if none came in that time."""
        try:
            self._socket = self._socket or await self._connect()
            await asyncio.sleep(self.session.take_pause())
            if (text := self.session.outgoing()) is not None:
                await self._socket.send(text)
            try:
                async with asyncio.timeout(wait_s):
                    message = await self._socket.recv()
            except TimeoutError:
                self.session.send_again()
                return False
        except CONNECTION_ERRORS as error:
            self._socket = None
            await asyncio.sleep(self._pause_after(error))
            return True  # what is known has changed
        self._heard()
        self.session.receive(message)
        return True

    async def _connect(self) -> AsyncSocket:
        url, headers, proxy = self._address()
        return await connect_async(
            url,
            additional_headers=headers,
            proxy=proxy,
            max_queue=QUEUED_MESSAGES,
            ping_interval=PING_S,
            ping_timeout=PONG_S,
            close_timeout=CLOSING_S,
        )


class SeatClient(_ReturningClient):
    """One seat's connection, which comes back by itself. `for turn in client` gives each turn until the game is
    over; answer it with `send`. Every call waits, and may raise what a call of `AsyncSeatClient` does."""

    _socket: PlainSocket | None = None

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
        self._heard()
        while not self.session.is_over:
            turn = self.session.turn()
            if not self._step(ANSWER_S if turn is None else 0) and turn is not None:
                return turn  # and nothing came meanwhile
        return None

    def send(self, command: Command) -> Verdict:
        """Send a command, again under its id until there is a verdict. Raises KitError after a `send` that was interrupted."""
        self.session.send(command)
        self._heard()
        while self.session.verdict is None:
            self._step(ANSWER_S)
        return self.session.verdict

    def _step(self, wait_s: float) -> bool:
        """Send what is to be sent, and take one message. False if none came in that time."""
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
            time.sleep(self._pause_after(error))
            return True  # what is known has changed
        self._heard()
        self.session.receive(message)
        return True

    def _connect(self) -> PlainSocket:
        url, headers, proxy = self._address()
        opening = connect_plainly(
            url,
            additional_headers=headers,
            proxy=proxy,
            max_queue=QUEUED_MESSAGES,
            ping_interval=PING_S,
            ping_timeout=PONG_S,
            close_timeout=CLOSING_S,
        )
        return opening.__enter__()  # `close` is its end: it lasts longer than a block
