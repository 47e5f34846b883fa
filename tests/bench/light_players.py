"""Players that cost little CPU: every seat has a WebSocket, and its moves are known in advance.

The machine's cores are shared by the server and its clients, so a client here reads no more than
it needs: an entry's number shows it that its turn has come, and the move is a frame that was built
before. It still reads every entry, in order, and a refused move or a lost socket fails the run.
"""

from __future__ import annotations

import asyncio
import base64
import json
import secrets
from collections.abc import Sequence
from time import perf_counter
from typing import Final, NamedTuple

from schemas.commands import CommandEnvelope, write_command

TEXT, PONG, PING = 0x81, 0x8A, 0x89
MASK: Final = b"\0\0\0\0"  # a client must mask; a mask of zeros leaves the text as it is


class Move(NamedTuple):
    """The seat that moves next, and the frame with its command."""

    seat: int
    frame: bytes


NOBODY: Final = Move(-1, b"")


def frame(first: int, payload: bytes) -> bytes:
    """One frame from a client."""
    size = len(payload)
    if size < 126:
        return bytes((first, 0x80 | size)) + MASK + payload
    return bytes((first, 0x80 | 126)) + size.to_bytes(2, "big") + MASK + payload


def moves(envelopes: Sequence[CommandEnvelope]) -> list[Move]:
    """A script's moves by the number of the entry that they follow; nothing follows the last."""
    called = []
    for envelope in envelopes:
        message = {"id": envelope.id, "command": write_command(envelope.command)}
        called.append(
            Move(-1 if envelope.seat is None else envelope.seat, frame(TEXT, json.dumps(message).encode()))
        )
    return [*called, NOBODY]


class Play:
    """What all games of a run share: the moves played, the games that wait, the first failure."""

    def __init__(self) -> None:
        self.moves = 0
        self.took: list[float] = []
        self.waiting: list[GameSockets] = []
        self.broken: asyncio.Future[None] = asyncio.get_running_loop().create_future()

    def begin(self, games: int) -> None:
        """Begin so many of the waiting games; each is followed by another."""
        for _ in range(games):
            self.next()

    def next(self) -> None:
        """A game is over: the next one begins in its place."""
        if self.waiting:
            self.waiting.pop().begin()
        else:
            self.fail("there are too few games for so many moves")

    def fail(self, why: str) -> None:
        if not self.broken.done():
            self.broken.set_exception(RuntimeError(why))


class GameSockets:
    """One game: its moves, and when the last of them was sent."""

    __slots__ = ("begun", "moves", "play", "seats", "sent", "start")

    def __init__(self, play: Play, moves: Sequence[Move], start: int) -> None:
        self.play, self.moves, self.start = play, moves, start
        self.seats: list[SeatSocket] = []
        self.begun, self.sent = False, 0.0

    def begin(self) -> None:
        self.begun, self.sent = True, perf_counter()
        move = self.moves[self.start]
        self.seats[move.seat].transport.write(move.frame)

    def over(self) -> None:
        """Begin the next game, once, when the first seat sees the end."""
        if self.begun:
            self.begun = False
            self.play.next()


class SeatSocket(asyncio.Protocol):
    """The socket of one seat."""

    transport: asyncio.Transport

    def __init__(self, game: GameSockets, seat: int, request: bytes) -> None:
        self.game, self.seat, self.request = game, seat, request
        self.number = game.start  # of the last entry received
        self.rest = b""
        self.attached = False  # the gateway's first message was received
        self.open: asyncio.Future[None] = asyncio.get_running_loop().create_future()

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        assert isinstance(transport, asyncio.Transport) or hasattr(transport, "write")
        self.transport = transport  # type: ignore[assignment]  # uvloop's is a Transport by its methods
        self.transport.write(self.request)

    def data_received(self, data: bytes) -> None:
        if self.rest:
            data, self.rest = self.rest + data, b""
        if not self.open.done():
            head, found, data = data.partition(b"\r\n\r\n")
            if not found:
                self.rest = head
                return
            self.open.set_result(None)
            if b" 101 " not in head[:20]:
                self.game.play.fail(head.decode(errors="replace"))
        self._frames(data)

    def _frames(self, data: bytes) -> None:
        place, size = 0, len(data)
        while size - place >= 2:
            first, length, begin = data[place], data[place + 1], place + 2
            if length == 126:
                begin += 2
                length = int.from_bytes(data[place + 2 : begin], "big")
            end = begin + length
            if end > size:
                break
            if first == TEXT:
                self._receive(data, begin)
            elif first == PING:
                self.transport.write(frame(PONG, data[begin:end]))
            else:
                self.game.play.fail(f"a frame that begins with {first:#x}: {data[begin:end]!r}")
            place = end
        self.rest = data[place:]

    def _receive(self, data: bytes, begin: int) -> None:
        """Check an entry's number, and send the next move if it is this seat's."""
        if not self.attached:
            self.attached = data.startswith(b'{"type":"attached",', begin)
            return
        self.number = number = self.number + 1
        game = self.game
        if not data.startswith(b'{"type":"entry","number":%d,' % number, begin):
            game.play.fail(f"entry {number} expected, got {data[begin : begin + 300]!r}")
            return
        seat, move = game.moves[number]
        if seat == self.seat:
            now = perf_counter()
            game.play.took.append(now - game.sent)
            game.play.moves += 1
            game.sent = now
            self.transport.write(move)
        elif seat < 0:
            game.over()

    def connection_lost(self, error: Exception | None) -> None:
        self.game.play.fail(f"seat {self.seat}'s socket ended: {error}")


def request(path: str, host: str, token: str) -> bytes:
    """The upgrade request that opens a seat's socket."""
    key = base64.b64encode(secrets.token_bytes(16)).decode()
    lines = (
        f"GET {path} HTTP/1.1",
        f"Host: {host}",
        "Upgrade: websocket",
        "Connection: Upgrade",
        f"Sec-WebSocket-Key: {key}",
        "Sec-WebSocket-Version: 13",
        f"Authorization: Bearer {token}",
    )
    return "\r\n".join((*lines, "", "")).encode()
