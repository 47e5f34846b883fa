"""Quotas: an address that creates games without end is refused, until some of them are over."""

from __future__ import annotations

from collections.abc import Iterator

import httpx
import pytest

from services.bootstrap.embedded import EmbeddedServer, run_embedded_server
from services.runtime.settings import read_settings
from tests.gateway.clients import LEAVE, Json, new_id, problem

MOST = 3
BODY = {"seats": [{"kind": "human"}, {"kind": "human"}]}


@pytest.fixture(scope="module")
def server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[EmbeddedServer]:
    settings = read_settings(port=0, open_games=MOST)
    with run_embedded_server(tmp_path_factory.mktemp("quotas"), settings) as running:
        yield running


def client_from(server: EmbeddedServer, address: str) -> httpx.Client:
    transport = httpx.HTTPTransport(local_address=address)
    return httpx.Client(base_url=server.url, transport=transport, timeout=20, trust_env=False)


def create(http: httpx.Client, key: str | None = None, **more: object) -> httpx.Response:
    headers = {} if key is None else {"Idempotency-Key": key}
    return http.post("/v1/games", json={**BODY, **more}, headers=headers)


def play_out(http: httpx.Client, game: str, host: str) -> None:
    """Seat two people, start, and let both leave."""
    tokens = [
        http.post(f"/v1/games/{game}/join", json={"name": name}).json()["token"] for name in ("Ada", "Bo")
    ]
    assert (
        http.post(f"/v1/games/{game}/start", headers={"Authorization": f"Bearer {host}"}).status_code == 200
    )
    for token in tokens:
        headers = {"Authorization": f"Bearer {token}"}
        assert http.post(f"/v1/games/{game}/commands", json=LEAVE, headers=headers).status_code == 200


def test_RATE_1_an_address_has_a_quota_of_open_games(server: EmbeddedServer) -> None:
    with client_from(server, "127.0.0.70") as http, client_from(server, "127.0.0.71") as other:
        key = new_id()
        first = create(http, key).json()
        assert create(http, ruleset="none").status_code == 422, "it takes no room"
        assert [create(http).status_code for _ in range(MOST - 1)] == [201] * (MOST - 1)
        refused = problem(create(http), 429, "RATE-1")
        assert f"{MOST} games that are not over" in refused["detail"] and refused["retry_after"] > 1
        assert create(http, key).json() == first, "the same id gives the same game"
        problem(create(http, key, options={"cars": 9}), 409, "ID-1")
        problem(create(http), 429, "RATE-1")
        assert create(other).status_code == 201, "another address has its own quota"
        play_out(http, first["game"], first["token"])
        assert create(http).status_code == 201, "a game that is over makes room"
        problem(create(http), 429, "RATE-1")


def test_RATE_1_forks_count_as_games(server: EmbeddedServer) -> None:
    with client_from(server, "127.0.0.72") as http:
        created = create(http).json()
        for name in ("Ada", "Bo"):
            assert http.post(f"/v1/games/{created['game']}/join", json={"name": name}).status_code == 200
        host = {"Authorization": f"Bearer {created['token']}"}
        started = http.post(f"/v1/games/{created['game']}/start", headers=host).json()["number"]
        path = f"/v1/games/{created['game']}/forks"
        forks = [http.post(path, json={"at": started}).status_code for _ in range(MOST)]
    assert forks == [201] * (MOST - 1) + [429]


def fork(http: httpx.Client, game: str, at: int, token: str) -> httpx.Response:
    headers = {"Authorization": f"Bearer {token}"}
    return http.post(f"/v1/games/{game}/forks", json={"at": at}, headers=headers)


def test_RATE_1_a_creator_has_a_quota_wherever_it_asks_from(server: EmbeddedServer) -> None:
    # given a game of two people
    with client_from(server, "127.0.0.73") as http:
        created = create(http).json()
        path = f"/v1/games/{created['game']}"
        ada, bo = (http.post(f"{path}/join", json={"name": name}).json()["token"] for name in ("Ada", "Bo"))
        host = {"Authorization": f"Bearer {created['token']}"}
        started = http.post(f"{path}/start", headers=host).json()["number"]
    # when Ada forks it, and her forks, each from another address
    forked: list[Json] = []
    for number in range(MOST):
        with client_from(server, f"127.0.0.{80 + number}") as http:
            game, at, token = created["game"], started, ada
            if forked:
                game, token = forked[-1]["game"], forked[-1]["seat_token" if number % 2 else "token"]
                http.post(f"/v1/games/{game}/join", json={"name": "Bo"})
                headers = {"Authorization": f"Bearer {forked[-1]['token']}"}
                at = http.post(f"/v1/games/{game}/start", headers=headers).json()["number"]
            forked.append(fork(http, game, at, token).json())
    # then all of them count, and nobody else's do
    with client_from(server, "127.0.0.90") as http:
        refused = problem(fork(http, created["game"], started, ada), 429, "RATE-1")
        assert f"you have {MOST} games that are not over" in refused["detail"]
        assert fork(http, created["game"], started, bo).status_code == 201
        assert create(http).status_code == 201
