"""Least privilege on the engine: each service does all of its work as its own user, and asks for nothing more."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import ExitStack, closing, contextmanager
from pathlib import Path
from threading import Event, Thread
from typing import Any

import httpx
import pytest
from pydantic import SecretStr

from services.archive import Archive
from services.bootstrap import composition
from services.ledger.connection import connect
from services.runtime.settings import Settings, read_settings
from tests.deploy.compose import free_port, wait_until
from tests.gateway.clients import CreatedGame, Player, bearer
from tests.gateway.test_play_off import QUICK, seated_again
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
def services_on(engine: UsersEngine, archive: Path) -> Iterator[httpx.Client]:
    """Every service on a thread, each as its own user. Returns requests to the gateway."""
    stop, port = Event(), free_port()
    threads = [
        Thread(target=run, args=(_settings(engine, name, port, archive), stop), name=name)
        for name, run in SERVICES.items()
    ]
    with ExitStack() as exit_stack:
        for thread in threads:
            thread.start()
            exit_stack.callback(thread.join)
        exit_stack.callback(stop.set)
        address = f"http://127.0.0.1:{port}"
        http = exit_stack.enter_context(httpx.Client(base_url=address, timeout=20, trust_env=False))
        wait_until(lambda: http.get("/health").status_code == 200)
        yield http


def _settings(engine: UsersEngine, user: str, port: int, archive: Path) -> Settings:
    return read_settings(
        redis_url=engine.url(user),
        partitions=4,
        port=port,
        token_key=SecretStr("k" * 32 if user == "gateway" else ""),
        signing_key=SecretStr("5e" * 32),
        archive_url=archive.as_uri(),
        archived_stays_s=0.0,
        rate=10_000,
        burst=100_000,
    )


def play(*players: Player) -> None:
    """The first legal move of each, until the game is over."""
    while not players[0].look().result:
        for player in players:
            if choices := player.legal():
                player.do(choices[0])


def dispute(player: Player) -> Any:
    """The answer to a dispute of the first entry."""
    url, headers = f"/games/{player.game}/disputes", bearer(player.token)
    raised = player.http.post(url, json={"number": 1, "reason": "Why?"}, headers=headers)
    assert raised.status_code == 202, raised.text
    wait_until(lambda: player.http.get(f"{url}/{raised.json()['dispute']}", headers=headers).json()["answer"])


def test_each_service_works_through_whole_games_as_its_own_user(engine: UsersEngine, tmp_path: Path) -> None:
    # given
    with services_on(engine, tmp_path) as http:
        # when
        created = CreatedGame(http, "human", "human", **QUICK)
        ada, bo = created.join("Ada"), created.join("Bo")
        created.start()
        dispute(ada)
        play(ada, bo)  # to a tie: the referee creates the next game
        next_ada = seated_again(ada)
        game = CreatedGame(http, "human", "random", **QUICK)
        with_bot = game.join("Cy")
        game.start()
        with_bot.do(with_bot.legal()[0])
        dispute(next_ada)
        forked = http.post(f"/games/{ada.game}/forks", json={"at": 5}, headers=bearer(ada.token))
        assert forked.status_code == 201, forked.text
        # then
        archive = Archive(tmp_path.as_uri())
        wait_until(lambda: archive.has(ada.game))
        with closing(connect(engine.url("operator"))) as client:
            untyped: Any = client
            wait_until(lambda: not untyped.keys(f"*:{ada.game}:log"))
        assert ada.look().result
    assert engine.refused() == []
