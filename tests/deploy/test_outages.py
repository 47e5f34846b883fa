"""Services without their engine, at the start and in the middle: one line, patience, no loss."""

from __future__ import annotations

import signal
import time
from pathlib import Path

import pytest

from services.ledger import RedisLedger
from services.ledger.connection import connect, init_partition_count
from tests.cli.command_line import run_in_process
from tests.deploy.compose import Stage, free_port, stage, wait_until

OURS = ("gateway", "referee", "bots")
AWAY, BACK = "engine away", "engine back"
POLICIES = ("greedy", "greedy", "random", "random")
ID = {"Idempotency-Key": "sent-before-the-end", "Prefer": "respond-async"}
KEEP = {"type": "keep_tickets", "keep": [0, 1, 2]}


def history(house: Stage, game: str) -> list[bytes]:
    """The game's log. Raises Gap where a number is missing."""
    client = connect(house.engine_url)
    try:
        return RedisLedger(client, init_partition_count(client)).read_entries(game)
    finally:
        client.close()


def test_services_that_start_before_their_engine_wait_and_then_play(tmp_path: Path) -> None:
    with stage(tmp_path) as house:
        services = [house.start(name) for name in OURS]
        wait_until(lambda: all(service.says(AWAY) for service in services))
        time.sleep(0.5)
        assert all(service.process.poll() is None for service in services)

        house.start_engine()
        wait_until(house.healthy)
        game = house.new_game(["greedy", "greedy"])
        wait_until(lambda: house.ended(game))
        for service in services:
            assert service.stop() == 0
            assert (service.says(AWAY), service.says(BACK)) == (1, 1), service.text()
            assert "Traceback" not in service.text()


@pytest.mark.long
def test_a_service_that_waits_for_its_engine_stops_when_told(tmp_path: Path) -> None:
    with stage(tmp_path) as house:
        services = [house.start(name) for name in OURS]
        wait_until(lambda: all(service.says(AWAY) for service in services))
        assert [service.stop() for service in services] == [0, 0, 0]
        assert all("Traceback" not in service.text() for service in services)


def test_a_service_gives_up_on_an_engine_that_never_comes(tmp_path: Path) -> None:
    with stage(tmp_path) as house:
        referee = house.start("referee", LEDGERLINE_ENGINE_WAIT_S="0.5")
        assert referee.process.wait() == 1
        record, last = referee.text().splitlines()
        assert AWAY in record
        assert last.startswith("ledgerline: the engine doesn't answer")


@pytest.mark.parametrize("words", [("games",), ("replay", "3f9a1c0b77e2")])
def test_a_command_that_reads_does_not_wait(words: tuple[str, ...]) -> None:
    url = f"redis://127.0.0.1:{free_port()}/0"
    done = run_in_process(*words, LEDGERLINE_REDIS_URL=url, LEDGERLINE_ENGINE_WAIT_S="3600")
    assert done.returncode == 1
    (line,) = done.stderr.splitlines()
    assert line.startswith("ledgerline: the engine doesn't answer")


def test_an_engine_killed_for_three_seconds_loses_nothing_that_was_acknowledged(tmp_path: Path) -> None:
    with stage(tmp_path) as house:
        engine = house.start_engine()
        services = [house.start(name) for name in OURS]
        leaving = house.start("referee")
        wait_until(house.healthy)
        games = [house.new_game(POLICIES) for _ in range(3)]
        wait_until(lambda: all(len(house.view(game)) > 20 for game in games))
        games.append(house.new_game(POLICIES))  # acknowledged a moment before the end
        table, bearer = house.sit_down()
        referees = services[1], leaving
        for referee in referees:  # so that what comes now has no verdict yet
            referee.process.send_signal(signal.SIGSTOP)
        sent = house.http.post(f"/games/{table}/commands", json=KEEP, headers={**bearer, **ID})
        assert (sent.status_code, sent.json()["verdict"]) == (202, "unknown")
        seen = {game: house.view(game) for game in games}
        logs = {game: history(house, game) for game in games}
        engine.kill()
        for referee in referees:
            referee.process.send_signal(signal.SIGCONT)

        gone = time.monotonic()
        wait_until(lambda: all(service.says(AWAY) for service in (*services, leaving)))
        assert house.http.get("/health").status_code == 503
        assert not house.healthy()
        assert leaving.stop() == 0
        time.sleep(max(0.0, gone + 3 - time.monotonic()))
        house.start_engine()

        wait_until(lambda: all(house.ended(game) for game in games))
        wait_until(lambda: all(service.says(BACK) for service in services))
        for game in games:
            assert house.view(game)[: len(seen[game])] == seen[game]
            assert history(house, game)[: len(logs[game])] == logs[game]
        answered = [entry.get("answers") for entry in house.view(table, bearer)]
        assert answered.count(ID["Idempotency-Key"]) == 1
        for service in services:
            assert service.stop() == 0
            assert (service.says(AWAY), service.says(BACK)) == (1, 1), service.text()
        assert all("Traceback" not in service.text() for service in (*services, leaving))


@pytest.mark.long
def test_each_service_stops_while_its_engine_is_gone(tmp_path: Path) -> None:
    with stage(tmp_path) as house:
        engine = house.start_engine()
        services = [house.start(name) for name in OURS]
        wait_until(lambda: house.healthy() and all(len(service.lines()) for service in services))
        engine.kill()
        wait_until(lambda: all(service.says(AWAY) for service in services))
        assert [service.stop() for service in services] == [0, 0, 0]
        assert all("Traceback" not in service.text() for service in services)


@pytest.mark.long
def test_bots_sit_out_a_gateway_that_goes_away(tmp_path: Path) -> None:
    with stage(tmp_path) as house:
        house.start_engine()
        way = {"LEDGERLINE_GATEWAY_URL": house.url, "LEDGERLINE_TOKEN_KEY": "a key for tests"}
        house.start("referee")
        bots, gateway = house.start("bots", **way), house.start("gateway")
        wait_until(house.healthy)
        game = house.new_game(["greedy", "greedy"])
        wait_until(lambda: len(house.view(game)) > 20)
        gateway.kill()
        wait_until(lambda: bots.says("gateway away, trying"))
        house.start("gateway")
        wait_until(lambda: house.ended(game))
        assert len(history(house, game)) == len(house.view(game))
        assert bots.stop() == 0
        assert "Traceback" not in bots.text()
