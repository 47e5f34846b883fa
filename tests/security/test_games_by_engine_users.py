"""Least privilege on the engine: each service does all of its work as its own user, and asks for nothing more."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import ExitStack, closing, contextmanager
from pathlib import Path
from threading import Event, Thread
from typing import Any

import httpx
import pytest
from pydantic import SecretStr

from schemas.commands import write_command
from services.archive import Archive
from services.bootstrap import composition
from services.cli.operating.keys import RULES_FILE, password_file, read_rules
from services.ledger.engine.connection import connect
from services.ledger.log.event_store import read_entries
from services.runtime.settings import Settings, read_settings
from tests.auditor.webhook_receiver import receiving
from tests.conftest import nodes_may_be_slow
from tests.deploy.compose import free_port, wait_until
from tests.gateway.clients import CreatedGame, Player, bearer
from tests.gateway.test_play_off import QUICK, seated_again
from tests.known_to_redis_py import read_anew
from tests.security.engine_with_users import UsersEngine, engine_with_users

SERVICES = {
    "gateway": composition.run_gateway,
    "referee": composition.run_referee,
    "bots": composition.run_bots,
    "auditor": composition.run_auditor,
}


@pytest.fixture(scope="module")
def engine(tmp_path_factory: pytest.TempPathFactory) -> Iterator[UsersEngine]:
    with engine_with_users(tmp_path_factory.mktemp("engine")) as running:
        yield running


@contextmanager
def services_on(url_of: Callable[[str], str], jobs_url: str, archive: Path) -> Iterator[httpx.Client]:
    """Every service on a thread, each as its own user. Returns requests to the gateway."""
    stop, port = Event(), free_port()
    threads = [
        Thread(target=run, args=(_settings(name, url_of(name), jobs_url, port, archive), stop), name=name)
        for name, run in SERVICES.items()
    ]
    with ExitStack() as exit_stack:
        for thread in threads:
            thread.start()
            exit_stack.callback(thread.join)
        exit_stack.callback(stop.set)
        address = f"http://127.0.0.1:{port}"
        http = exit_stack.enter_context(httpx.Client(base_url=address, timeout=20, trust_env=False))
        wait_until(lambda: http.get("/health/ready").status_code == 200)  # referees have loaded what it calls
        yield http


def _settings(user: str, url: str, jobs_url: str, port: int, archive: Path) -> Settings:
    return read_settings(
        redis_url=url,
        jobs_url=jobs_url,
        partitions=4,
        port=port,
        token_key=SecretStr("k" * 32 if user == "gateway" else ""),
        signing_key=SecretStr("5e" * 32),
        archive_url=archive.as_uri(),
        archived_stays_s=0.0,
        webhooks="http",
        webhook_networks="127.0.0.0/8",
        rate=10_000,
    )


def play(*players: Player) -> None:
    """The first legal move of each, until the game is over."""
    while not players[0].look().result:
        for player in players:
            if choices := player.legal():
                player.do(choices[0])


def dispute(player: Player) -> Any:
    """The answer to a dispute of the first entry."""
    url, headers = f"/v1/games/{player.game}/disputes", bearer(player.token)
    raised = player.http.post(url, json={"number": 1, "reason": "Why?"}, headers=headers)
    assert raised.status_code == 202, raised.text
    wait_until(lambda: player.http.get(f"{url}/{raised.json()['dispute']}", headers=headers).json()["answer"])


def be_notified(player: Player) -> None:
    """A webhook that is set, notified and removed."""
    url, headers = f"/v1/games/{player.game}/webhook", bearer(player.token)
    with receiving() as receiver:
        assert player.http.put(url, json={"url": receiver.url}, headers=headers).status_code == 200
        wait_until(lambda: player.http.get(url, headers=headers).json()["notified"])
        assert receiver.requests
    assert player.http.delete(url, headers=headers).json()["url"] is None


def play_whole_games(http: httpx.Client, archive: Archive) -> str:
    """Games that are created, joined, played, disputed, forked and archived, one with a play-off, one with a
    bot. Returns the one that leaves the engine."""
    created = CreatedGame(http, "human", "human", visibility="public", **QUICK)
    ada, bo = created.join("Ada"), created.join("Bo")
    created.start()
    dispute(ada)
    be_notified(ada)
    play(ada, bo)  # to a tie: the referee creates the next game
    next_ada = seated_again(ada)
    with_bot = CreatedGame(http, "human", "random", **QUICK)
    cy = with_bot.join("Cy")
    with_bot.start()
    play(cy)
    dispute(next_ada)
    forked = http.post(f"/v1/games/{ada.game}/forks", json={"at": 5}, headers=bearer(ada.token))
    assert forked.status_code == 201, forked.text
    assert http.get("/v1/games").json()["games"]
    wait_until(lambda: archive.has(ada.game))
    return ada.game


@pytest.mark.long
def test_each_service_works_through_whole_games_as_its_own_user(engine: UsersEngine, tmp_path: Path) -> None:
    # given
    with (
        services_on(engine.url, engine.url("auditor"), tmp_path) as http,
        closing(connect(engine.url("operator"))) as client,
    ):
        untyped: Any = client
        # when
        game = play_whole_games(http, Archive(tmp_path.as_uri()))
        wait_until(lambda: not untyped.keys(f"*:{game}:log"))  # evicted
        # then
        assert http.get(f"/v1/games/{game}/view").json()["entries"]
    assert engine.refused() == []


@pytest.mark.long
def test_P7_a_gateway_that_loads_no_script_goes_on_when_the_engine_forgot_them_all(
    engine: UsersEngine, tmp_path: Path
) -> None:
    # given
    with (
        services_on(engine.url, engine.url("auditor"), tmp_path) as http,
        closing(connect(engine.url("operator"))) as client,
    ):
        untyped: Any = client
        created = CreatedGame(http, "human", "human", **QUICK)
        ada = created.join("Ada")
        created.join("Bo")
        created.start()
        # when
        untyped.script_flush()
        reply = ada.ask(write_command(ada.legal()[0]), "sure", "durable")
        # then
        assert (reply.status_code, reply.json()["level"]) == (200, "durable")
    assert engine.refused() == []


def test_a_gateway_confirms_entries_as_its_own_user(engine: UsersEngine, tmp_path: Path) -> None:
    with services_on(engine.url, engine.url("auditor"), tmp_path) as http:
        created = CreatedGame(http, "human", "human", **QUICK)
        ada = created.join("Ada")
        created.join("Bo")
        created.start()
        reply = ada.ask(write_command(ada.legal()[0]), "sure", "durable")
        assert (reply.status_code, reply.json()["level"]) == (200, "durable")
    assert engine.refused() == []


def test_a_referee_reads_what_came_after_the_last_entry_as_its_own_user(engine: UsersEngine) -> None:
    with closing(connect(engine.url("referee"))) as client:
        assert read_entries(client, 4, "a-game-whose-streams-were-removed", 3) == []
    assert engine.refused() == []


@pytest.mark.long
def test_each_service_works_on_a_cluster_as_its_own_user(
    engine: UsersEngine, cluster_url: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    # given
    read_anew(monkeypatch)
    rules = read_rules(RULES_FILE.read_text())
    with closing(connect(cluster_url)) as client:
        nodes: Any = client
        for user in SERVICES:
            password = password_file(engine.passwords, user).read_text()
            nodes.execute_command(
                "ACL", "SETUSER", user, f">{password}", *rules[user].split(), target_nodes="all"
            )
        hosts = cluster_url.partition("@")[2]

        def url_of(user: str) -> str:
            return f"redis+cluster://{user}:{password_file(engine.passwords, user).read_text()}@{hosts}"

        # when
        with nodes_may_be_slow(), services_on(url_of, engine.url("auditor"), tmp_path) as http:
            play_whole_games(http, Archive(tmp_path.as_uri()))
        # then
        logs = nodes.execute_command("ACL", "LOG", target_nodes="all")
    assert engine.refused() == []
    assert [entry for log in logs.values() for entry in log] == []
