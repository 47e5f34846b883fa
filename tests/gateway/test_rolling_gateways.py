"""Two gateways behind a proxy, each a process, are started anew one after the other while people play and watch."""

from __future__ import annotations

import asyncio
import itertools
import json
import os
import signal
import sys
from asyncio.subprocess import Process
from collections import Counter
from collections.abc import AsyncIterator
from contextlib import AsyncExitStack, asynccontextmanager, suppress
from time import monotonic

import httpx
import pytest
from websockets.asyncio.client import connect
from websockets.exceptions import ConnectionClosed, InvalidHandshake

from services.bootstrap.embedded import EmbeddedServer
from services.bots.kit import AsyncSeatClient, SeatToken
from services.gateway.server import open_listener
from services.gateway.sockets.websocket_opening import CloseCode
from tests.gateway.clients import Player, entries, in_turn
from tests.many_clients import environment_for_many_clients

pytestmark = pytest.mark.long

DRAIN_S = 10.0
UP_S = 120.0  # on a busy machine
BUSY_S = 20.0  # that it may take longer there
WATCHERS = 40
THINKS_S = 0.1  # the game outlasts both restarts, on a busy machine too


class Forwarder:
    """What a balancer does: each connection goes to the next gateway that takes it."""

    def __init__(self, ports: list[int]) -> None:
        self.orders = itertools.cycle([ports, ports[::-1]])

    @asynccontextmanager
    async def running(self) -> AsyncIterator[str]:
        async with await asyncio.start_server(self._forward, "127.0.0.1", 0) as listening:
            yield f"http://127.0.0.1:{listening.sockets[0].getsockname()[1]}"

    async def _forward(self, client: asyncio.StreamReader, to_client: asyncio.StreamWriter) -> None:
        for port in next(self.orders):
            with suppress(ConnectionRefusedError):
                server, to_server = await asyncio.open_connection("127.0.0.1", port)
                await asyncio.gather(pump(client, to_server), pump(server, to_client))
                return
        to_client.close()


async def pump(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
    with suppress(OSError):
        while data := await reader.read(65_536):
            writer.write(data)
            await writer.drain()
    writer.close()


class RunningGateway:
    """A gateway's process on a port of its own."""

    def __init__(self, server: EmbeddedServer) -> None:
        with open_listener("127.0.0.1", 0) as free:
            self.port = free.getsockname()[1]
        settings = server.settings
        given = {
            "REDIS_URL": settings.redis_url,
            "TOKEN_KEY": settings.token_key.get_secret_value(),
            "PORT": str(self.port),
            "PROXIES": "127.0.0.1",
        }
        others = {name: value for name, value in os.environ.items() if not name.startswith("LEDGERLINE_")}
        named = {f"LEDGERLINE_{name}": value for name, value in given.items()}
        self.environment = {**others, **named, **environment_for_many_clients()}
        self.process: Process | None = None

    async def start(self) -> None:
        words = (sys.executable, "-m", "services.cli", "gateway")
        self.process = await asyncio.create_subprocess_exec(*words, env=self.environment)
        async with asyncio.timeout(UP_S), httpx.AsyncClient(trust_env=False) as http:
            while True:
                with suppress(httpx.TransportError):
                    if (await http.get(f"http://127.0.0.1:{self.port}/health/ready")).is_success:
                        return
                await asyncio.sleep(0.1)

    async def stop(self) -> int:
        assert self.process is not None
        if self.process.returncode is None:
            self.process.send_signal(signal.SIGTERM)
        return await self.process.wait()

    async def stopped_in(self) -> float:
        """Stop it by SIGTERM; how long that took."""
        began_s = monotonic()
        assert await self.stop() == 0
        return monotonic() - began_s

    async def restart(self) -> float:
        """Stop it and start it again; how long it took to stop."""
        took_s = await self.stopped_in()
        await self.start()
        return took_s


class Watcher:
    """A plain client that comes back whenever its connection is closed, and notes how long it was away."""

    def __init__(self, url: str, game: str) -> None:
        self.url, self.game = url, game
        self.number, self.refused, self.away_s, self.codes = 0, 0, list[float](), list[int]()

    @property
    def is_away(self) -> bool:
        return len(self.away_s) < len(self.codes)

    async def watch(self) -> None:
        url = f"{self.url.replace('http', 'ws', 1)}/v1/games/{self.game}/play"
        closed_s = None
        while True:
            try:
                async with connect(f"{url}?after={self.number}", proxy=None) as socket:
                    async for text in socket:
                        message = json.loads(text)
                        if message["type"] == "attached" and closed_s is not None:
                            self.away_s.append(monotonic() - closed_s)
                        if message["type"] == "entry":
                            assert message["number"] == self.number + 1
                            self.number += 1
            except ConnectionClosed as ended:
                closed_s = monotonic()
                assert ended.rcvd is not None
                self.codes.append(ended.rcvd.code)
            except (InvalidHandshake, OSError):
                self.refused += 1
                await asyncio.sleep(0.05)


async def play(seat: SeatToken, sent: list[str]) -> None:
    """Play until cancelled; the ids of commands with verdicts, all accepted."""
    async with AsyncSeatClient(seat) as client:
        async for turn in client:
            verdict = await client.send(turn.commands[0])
            assert verdict.refused is None
            sent.append(verdict.id)
            await asyncio.sleep(THINKS_S)


def test_rolling_two_gateways_costs_no_client_more_than_a_reconnect(
    server: EmbeddedServer, http: httpx.Client
) -> None:
    async def run() -> None:
        # given
        players, sent = in_turn(http, options={"cars": 45}), list[str]()
        gateways = [RunningGateway(server), RunningGateway(server)]
        await asyncio.gather(*(gateway.start() for gateway in gateways))
        async with AsyncExitStack() as stack:
            url = await stack.enter_async_context(Forwarder([each.port for each in gateways]).running())
            watchers = [Watcher(url, players[0].game) for _ in range(WATCHERS)]
            seats = [SeatToken(url, each.game, each.seat, each.token) for each in players]
            clients = [
                *(asyncio.create_task(watcher.watch()) for watcher in watchers),
                *(asyncio.create_task(play(seat, sent)) for seat in seats),
            ]
            try:
                await asyncio.sleep(0.5)
                # when
                stopped_s = [await gateways[0].restart(), await gateways[1].stopped_in()]
                before = len(sent)
                while not any(each.done() for each in clients) and (  # noqa: ASYNC110 - time has to pass
                    len(sent) < before + 4 or any(watcher.is_away for watcher in watchers)
                ):
                    await asyncio.sleep(0.05)
            finally:
                for client in clients:
                    client.cancel()
                ended = await asyncio.gather(*clients, return_exceptions=True)
                codes = await asyncio.gather(*(gateway.stop() for gateway in gateways))
        # then
        assert not [each for each in ended if not isinstance(each, asyncio.CancelledError | None)]
        require_all_there(players, sent)
        assert codes == [0, 0]
        assert {code for watcher in watchers for code in watcher.codes} == {CloseCode.SERVICE_RESTART}
        away_s = sorted(each for watcher in watchers for each in watcher.away_s)
        print(f"away {away_s[len(away_s) // 2]:.2f} s, {away_s[-1]:.2f} at most; stopped in {stopped_s}")
        assert len(away_s) == sum(len(watcher.codes) for watcher in watchers) >= WATCHERS
        assert sum(watcher.refused for watcher in watchers) == 0, "the first attempt to come back succeeds"
        assert max(stopped_s) < DRAIN_S + BUSY_S

    asyncio.run(run())


def require_all_there(players: list[Player], sent: list[str]) -> None:
    """Each command that got a verdict is in the log, once."""
    views = [entries(each.http, each.game, each.token) for each in players]
    found = Counter(entry["answers"] for view in views for entry in view)
    assert sent
    assert {id_: found[id_] for id_ in sent} == dict.fromkeys(sent, 1)
