"""Messages of a client are the same ones wherever the network cut them, whether they needed the parser or not."""

from __future__ import annotations

import asyncio
from itertools import pairwise
from random import Random
from typing import Any, Final

import pytest
from uvicorn import Config
from uvicorn.server import ServerState

from services.fast_path.server_connections import SocketConnection, whole_text
from services.gateway.following.entry_encoding import encode_text_frame
from services.runtime.connection_limits import ConnectionLimits

TEXT, BINARY, PING, PONG, PIECE, LAST_PIECE = 0x81, 0x82, 0x89, 0x8A, 0x01, 0x80
MASK: Final = b"\x11\x22\x33\x44"
MAX_SIZE: Final = 70_000
REQUEST: Final = (
    b"GET / HTTP/1.1\r\nHost: x\r\nUpgrade: websocket\r\nConnection: Upgrade\r\n"
    b"Sec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==\r\nSec-WebSocket-Version: 13\r\n\r\n"
)
PLAIN: Final = [b"", b"{}", b"x" * 125, b"y" * 126, b"z" * 300, b"w" * 65_535, b"v" * 65_536]


def frame(first: int, payload: bytes) -> bytes:
    """One frame from a client."""
    head = encode_text_frame(payload)[: -len(payload) or None]
    masked = bytes(byte ^ MASK[place % 4] for place, byte in enumerate(payload))
    return bytes((first, head[1] | 0x80)) + head[2:] + MASK + masked


class Wire(asyncio.Transport):
    """A transport that keeps nothing."""

    def write(self, data: Any) -> None:
        """Send nothing."""

    def is_closing(self) -> bool:
        return False

    def pause_reading(self) -> None:
        """Go on."""

    def resume_reading(self) -> None:
        """Go on."""


async def serve_nothing(scope: object, receive: object, send: object) -> None:
    """An application that only waits."""
    await asyncio.Event().wait()


class Receiving(SocketConnection):
    """A connection whose messages are noted, by whichever way they came."""

    def __init__(self) -> None:
        config = Config(serve_nothing, log_config=None, ws_max_size=MAX_SIZE, ws_per_message_deflate=False)
        config.load()
        limits = ConnectionLimits(frames_a_second=1e9, frames_at_once=10**9)
        super().__init__(
            config, ServerState(), {}, asyncio.get_running_loop(), limits=limits, open_connections=None
        )
        self.taken, self.messages = 0, list[bytes]()
        self.connection_made(Wire())
        super().data_received(REQUEST)
        self.handshake_complete = True
        self.queue.get_nowait()
        self.take_text = self.note

    def note(self, text: str) -> bool:
        self.messages.append(text.encode())
        self.taken += 1
        return True

    def data_received(self, data: bytes) -> None:
        super().data_received(data)
        while not self.queue.empty():
            message: Any = self.queue.get_nowait()
            self.messages.append(message.get("bytes") or message.get("text", "").encode())


@pytest.mark.parametrize("seed", range(8))
def test_RATE_1_messages_are_the_same_wherever_they_were_cut(seed: int) -> None:
    random = Random(seed)
    kinds = [([frame(TEXT, text)], [text]) for text in PLAIN]
    kinds += [
        ([frame(PING, b"are you there")], []),
        ([frame(PONG, b"")], []),
        ([frame(PONG, b"unasked")], []),
        ([frame(BINARY, b"\x00\xff" * 200)], [b"\x00\xff" * 200]),
        ([frame(PIECE, b"a first piece"), frame(PING, b""), frame(LAST_PIECE, b", its last")], [b"a first piece, its last"]),
    ]  # fmt: skip
    sent = random.choices(kinds, k=12)
    data = b"".join(each for frames, _ in sent for each in frames)
    cuts = {*random.choices(range(len(data)), k=random.choice((0, 3, 40)))}
    whole, ends = random.random() < 0.5, [0]
    for frames, _ in sent:
        ends += [ends[-1] + len(b"".join(frames))]

    async def receive() -> Receiving:
        connection = Receiving()
        for begin, end in pairwise(sorted({*cuts, *(ends if whole else ()), 0, len(data)})):
            connection.data_received(data[begin:end])
        await asyncio.sleep(0)
        for task in connection.tasks:
            task.cancel()
        return connection

    connection = asyncio.run(receive())
    assert connection.messages == [message for _, messages in sent for message in messages]
    assert not connection.unparsed_bytes
    assert connection.frames_allowed.available < 10**9


def test_RATE_1_a_frame_that_comes_alone_needs_no_parser() -> None:
    async def receive() -> Receiving:
        connection = Receiving()
        for data in (
            frame(TEXT, b"one"),
            frame(TEXT, b"two")[:2],
            frame(TEXT, b"two")[2:],
            frame(TEXT, b"three"),
        ):
            connection.data_received(data)
        for task in connection.tasks:
            task.cancel()
        return connection

    connection = asyncio.run(receive())
    assert connection.messages == [b"one", b"two", b"three"]
    assert connection.taken == 2, "what was cut is the parser's"


FOR_THE_PARSER: Final = [
    frame(TEXT, b"q" * (MAX_SIZE + 1)),
    frame(TEXT, b"\xff\xfe"),
    frame(BINARY, b"bytes"),
    frame(TEXT, b"whole")[:-1],
    frame(TEXT, b"whole") * 2,
    encode_text_frame(b"without a mask"),
    b"\x81\xff" + b"\xff" * 8 + b"mask",  # a size that nobody sends
    b"\x81",
    b"",
]


@pytest.mark.parametrize("data", FOR_THE_PARSER, ids=range(len(FOR_THE_PARSER)))
def test_RATE_1_what_is_no_whole_text_is_for_the_parser(data: bytes) -> None:
    assert whole_text(data, MAX_SIZE) is None


@pytest.mark.parametrize("text", PLAIN[:-1], ids=len)
def test_the_text_of_a_whole_frame_is_read(text: bytes) -> None:
    assert whole_text(frame(TEXT, text), MAX_SIZE) == text.decode()
