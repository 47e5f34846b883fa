"""Services without their engine, at the start and later: one log line, they wait, and nothing is lost."""

from __future__ import annotations

import asyncio
import signal
import time
from collections import Counter
from pathlib import Path
from threading import Event

import httpx
import pytest

from services.bootstrap.composition import wait_for_ledger
from services.cli.services import GATEWAY_STOP_S, STOP_S, STUCK_EXIT_CODE
from services.gateway.sockets.websocket_opening import CloseCode
from services.ledger import RedisLedger
from services.ledger.engine.connection import EngineUnreachableError, connect, init_partition_count
from services.runtime.settings import read_settings
from tests.bench.light_players import PING, PONG, frame, request
from tests.cli.command_line import run_in_process
from tests.deploy.compose import ROOT, Running, Stage, free_port, stage, wait_until

SERVICES = ("gateway", "referee", "bots")
AWAY, BACK = "engine away", "engine back"
POLICIES = ("greedy", "greedy", "random", "random")
ID = {"Idempotency-Key": "sent-before-the-outage", "Prefer": "respond-async"}
FOLLOWERS = 5_000
CLOSING = b"\x88"
KEEP = {"type": "keep_tickets", "keep": [0, 1, 2]}


def read_log(servers: Stage, game: str) -> list[bytes]:
    """The game's log. Raises MissingEntryError where an entry is missing."""
    client = connect(servers.engine_url)
    try:
        return RedisLedger(client, init_partition_count(client)).read_entries(game)
    finally:
        client.close()


@pytest.mark.long
def test_services_that_start_before_their_engine_wait_and_then_play(tmp_path: Path) -> None:
    with stage(tmp_path) as servers:
        services = [servers.start(name) for name in SERVICES]
        wait_until(lambda: all(service.says(AWAY) for service in services))
        time.sleep(0.5)
        assert all(service.process.poll() is None for service in services)

        servers.start_engine()
        wait_until(servers.healthy)
        game = servers.new_game(["greedy", "greedy"])
        wait_until(lambda: servers.ended(game))
        for service in services:
            assert service.stop() == 0
            assert (service.says(AWAY), service.says(BACK)) == (1, 1), service.text()
            assert "Traceback" not in service.text()


@pytest.mark.long
def test_a_service_that_waits_for_its_engine_stops_on_sigterm(tmp_path: Path) -> None:
    with stage(tmp_path) as servers:
        services = [servers.start(name) for name in SERVICES]
        wait_until(lambda: all(service.says(AWAY) for service in services))
        assert [service.stop() for service in services] == [0, 0, 0]
        assert all("Traceback" not in service.text() for service in services)


def test_waiting_for_an_engine_that_never_comes_has_an_end() -> None:
    settings = read_settings(redis_url=f"redis://127.0.0.1:{free_port()}/0", engine_wait_s=0.1)
    with pytest.raises(EngineUnreachableError):
        wait_for_ledger("referee", settings, Event())


@pytest.mark.long
def test_a_service_gives_up_on_an_engine_that_never_comes(tmp_path: Path) -> None:
    with stage(tmp_path) as servers:
        referee = servers.start("referee", LEDGERLINE_ENGINE_WAIT_S="0.5")
        assert referee.process.wait() == 1
        record, last = referee.text().splitlines()
        assert AWAY in record
        assert last.startswith("ledgerline: the engine doesn't answer")


@pytest.mark.parametrize("words", [("games",), ("replay", "3f9a1c0b77e2")])
def test_a_command_that_reads_does_not_wait(words: tuple[str, ...]) -> None:
    url = f"redis://127.0.0.1:{free_port()}/0"
    result = run_in_process(*words, LEDGERLINE_REDIS_URL=url, LEDGERLINE_ENGINE_WAIT_S="3600")
    assert result.returncode == 1
    (line,) = result.stderr.splitlines()
    assert line.startswith("ledgerline: the engine doesn't answer")


@pytest.mark.long
def test_an_engine_killed_for_three_seconds_loses_nothing_that_was_acknowledged(tmp_path: Path) -> None:
    with stage(tmp_path) as servers:
        services = [servers.start(name) for name in SERVICES]
        leaving = servers.start("referee")
        wait_until(lambda: all(service.says(AWAY) for service in (*services, leaving)))
        engine = servers.start_engine()  # they started before it, and waited
        wait_until(servers.healthy)
        wait_until(lambda: all(service.says(BACK) for service in (*services, leaving)))
        games = [servers.new_game(POLICIES) for _ in range(3)]
        wait_until(lambda: all(len(servers.view(game)) > 20 for game in games))
        games.append(servers.new_game(POLICIES))  # acknowledged just before the engine is killed
        joined, bearer = servers.sit_down()
        referees = services[1], leaving
        for referee in referees:  # so that what comes now has no verdict yet
            referee.process.send_signal(signal.SIGSTOP)
        sent = servers.http.post(f"/v1/games/{joined}/commands", json=KEEP, headers={**bearer, **ID})
        assert (sent.status_code, sent.json()["verdict"]) == (202, "unknown")
        views = {game: servers.view(game) for game in games}
        logs = {game: read_log(servers, game) for game in games}
        engine.kill()
        for referee in referees:
            referee.process.send_signal(signal.SIGCONT)

        killed_at_s = time.monotonic()
        wait_until(lambda: all(service.says(AWAY) == 2 for service in (*services, leaving)))
        assert servers.http.get("/health").status_code == 503
        assert not servers.healthy()
        assert leaving.stop() == 0
        time.sleep(max(0.0, killed_at_s + 3 - time.monotonic()))
        servers.start_engine()

        wait_until(lambda: all(servers.ended(game) for game in games))
        wait_until(lambda: all(service.says(BACK) == 2 for service in services))
        for game in games:
            assert servers.view(game)[: len(views[game])] == views[game]
            assert read_log(servers, game)[: len(logs[game])] == logs[game]
        answered = [entry.get("answers") for entry in servers.view(joined, bearer)]
        assert answered.count(ID["Idempotency-Key"]) == 1
        for service in services:
            assert service.stop() == 0
            assert (service.says(AWAY), service.says(BACK)) == (2, 2), service.text()
        assert all("Traceback" not in service.text() for service in (*services, leaving))


@pytest.mark.long
def test_each_service_stops_while_its_engine_is_gone(tmp_path: Path) -> None:
    with stage(tmp_path) as servers:
        engine = servers.start_engine()
        services = [servers.start(name) for name in SERVICES]
        wait_until(lambda: servers.healthy() and all(len(service.lines()) for service in services))
        engine.kill()
        wait_until(lambda: all(service.says(AWAY) for service in services))
        assert [service.stop() for service in services] == [0, 0, 0]
        assert all("Traceback" not in service.text() for service in services)


@pytest.mark.long
def test_P7_each_service_stops_soon_while_its_engine_stands_still(tmp_path: Path) -> None:
    with stage(tmp_path) as servers:
        engine = servers.start_engine()
        services = [servers.start(name) for name in (*SERVICES, "auditor")]
        wait_until(lambda: servers.healthy() and all(service.says("started") for service in services[1:]))
        engine.process.send_signal(signal.SIGSTOP)
        for service in services:
            service.process.send_signal(signal.SIGTERM)
        codes = [service.process.wait(STOP_S + 8) for service in services]  # a busy machine is slow
        assert {*codes} <= {0, STUCK_EXIT_CODE}
        assert all("Traceback" not in service.text() for service in services)


@pytest.mark.long
def test_P7_a_gateway_whose_loop_is_stuck_ends_in_its_time(tmp_path: Path) -> None:
    stuck_on_signal = (
        "import signal\ndef stuck(*_):\n    while True: pass\nsignal.signal(signal.SIGUSR1, stuck)\n"
    )
    (tmp_path / "sitecustomize.py").write_text(stuck_on_signal)
    with stage(tmp_path) as servers:
        servers.start_engine()
        gateway = servers.start("gateway", PYTHONPATH=f"{tmp_path}:{ROOT}")
        wait_until(servers.healthy)
        gateway.process.send_signal(signal.SIGUSR1)
        with pytest.raises(httpx.ReadTimeout):  # from now on nobody gets an answer
            while True:
                servers.http.get("/health", timeout=1)
        gateway.process.send_signal(signal.SIGTERM)
        assert gateway.process.wait(GATEWAY_STOP_S + 8) == STUCK_EXIT_CODE
        assert gateway.says("doesn't stop") == 1


@pytest.mark.long
def test_P7_bots_need_no_gateway_once_their_game_runs(tmp_path: Path) -> None:
    with stage(tmp_path) as servers:
        servers.start_engine()
        servers.start("referee")
        bots, gateway = servers.start("bots"), servers.start("gateway")
        wait_until(servers.healthy)
        game = servers.new_game(["greedy", "greedy"])
        wait_until(lambda: len(servers.view(game)) > 20)
        gateway.kill()
        servers.start("gateway")
        wait_until(lambda: servers.ended(game))
        assert len(read_log(servers, game)) == len(servers.view(game))
        assert bots.stop() == 0
        assert "Traceback" not in bots.text()


class Follower(asyncio.Protocol):
    """A client that follows a game, comes again where it is refused, and notes the code that closes it."""

    def __init__(self, port: int, game: str, attached: list[Follower], codes: Counter[int]) -> None:
        self.port, self.attached, self.codes = port, attached, codes
        asked = request(f"/v1/games/{game}/play", f"127.0.0.1:{port}", "")
        self.request = asked.replace(b"Authorization: Bearer \r\n", b"")

    async def come(self) -> None:
        """Ask for a socket."""
        await asyncio.get_running_loop().create_connection(lambda: self, "127.0.0.1", self.port)

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        assert isinstance(transport, asyncio.Transport)
        self.transport = transport
        transport.write(self.request)

    def data_received(self, data: bytes) -> None:
        if data.startswith(bytes((PING,))):
            self.transport.write(frame(PONG, b""))
        if data.startswith(b"HTTP/1.1 503"):  # too many wait; who comes again is let in
            self.transport.close()
            self.again = asyncio.get_running_loop().create_task(self.come())
        elif b'"attached"' in data:
            self.attached.append(self)
        elif (end := data.find(CLOSING)) >= 0:  # perhaps behind a ping or an entry, which have no such byte
            self.codes[int.from_bytes(data[end + 2 : end + 4], "big")] += 1
            self.transport.close()


async def codes_of_a_stop(servers: Stage, gateway: Running, game: str) -> tuple[Counter[int], float]:
    """By which codes so many followers are closed when their gateway stops, and how long that takes."""
    attached, codes = list[Follower](), Counter[int]()
    for begun in range(0, FOLLOWERS, 100):
        for _ in range(100):
            await Follower(servers.gateway_port, game, attached, codes).come()
        while len(attached) < begun:  # noqa: ASYNC110 - they are many
            await asyncio.sleep(0.01)
    while len(attached) < FOLLOWERS:  # noqa: ASYNC110 - the same
        await asyncio.sleep(0.01)
    gateway.process.send_signal(signal.SIGTERM)
    began_s = time.monotonic()
    while gateway.process.poll() is None:  # noqa: ASYNC110 - a process has no event
        await asyncio.sleep(0.01)
    took_s = time.monotonic() - began_s
    while not all(each.transport.is_closing() for each in attached):  # noqa: ASYNC110 - what came before the end is still read
        await asyncio.sleep(0.01)
    return codes, took_s


@pytest.mark.long
def test_P7_a_gateway_with_thousands_of_followers_ends_in_its_time(tmp_path: Path) -> None:
    room = {f"LEDGERLINE_{name}": str(2 * FOLLOWERS) for name in ("CONNECTIONS", "CONNECTIONS_PER_ADDRESS")}
    with stage(tmp_path) as servers:
        servers.start_engine()
        gateway = servers.start("gateway", **room, LEDGERLINE_LOG_LEVEL="warning")
        servers.start("referee")
        wait_until(servers.healthy)
        game = servers.new_game(["greedy", "greedy"])
        codes, took_s = asyncio.run(codes_of_a_stop(servers, gateway, game))
        assert gateway.process.returncode == 0
        assert took_s < STOP_S
        assert codes == {CloseCode.SERVICE_RESTART: FOLLOWERS}
