"""Calls that a player doesn't answer within the limit, by the clock: only its silence is waited for."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Callable
from contextlib import suppress

import pytest

from services.trains_server.peer_connection import READ_BYTES, ClockLimits, PeerConnection, PeerFailedError
from services.trains_server.remote_tournament import RemotePlayer
from services.trains_server.server_cases import LOOPBACK

LIMIT_S = 0.05
TEST_S = 120.0


async def nothing() -> AsyncIterator[bytes]:
    """No answer at all."""
    none: tuple[bytes, ...] = ()
    for data in none:
        yield data


async def blanks() -> AsyncIterator[bytes]:
    """Blanks without end."""
    while True:
        yield b" " * 1_000
        await asyncio.sleep(0.001)


async def drops() -> AsyncIterator[bytes]:
    """An answer that never ends, byte by byte."""
    yield b'"'
    while True:
        yield b"v"
        await asyncio.sleep(0.02)


@pytest.mark.parametrize("send", [nothing, blanks, drops], ids=lambda send: str(send.__name__))
def test_CONDUCT_2_an_answer_that_is_late_removes_the_player_however_slowly_it_comes(
    send: Callable[[], AsyncIterator[bytes]],
) -> None:
    async def run() -> str:
        removed: asyncio.Future[RemotePlayer] = asyncio.get_running_loop().create_future()

        async def call(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
            player = RemotePlayer("Ann", PeerConnection(reader, writer), ClockLimits(), LIMIT_S)
            with suppress(PeerFailedError):
                await player.win(True)
            removed.set_result(player)

        async with asyncio.timeout(TEST_S), await asyncio.start_server(call, LOOPBACK, 0) as server:
            reader, writer = await asyncio.open_connection(LOOPBACK, server.sockets[0].getsockname()[1])
            with suppress(OSError):  # the server has closed the connection
                async for data in send():
                    writer.write(data)
                    await writer.drain()
                while await reader.read(READ_BYTES):
                    pass
            writer.transport.abort()
            return (await removed).failure

    assert asyncio.run(run()) == "win: didn't answer within 0.05 s"
