"""Quotas: an address that creates games without end is refused, until some of them are over."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import httpx
import pytest
import redis

from schemas.trains.commands import DrawBlind
from services.bootstrap.embedded import EmbeddedServer, run_embedded_server
from services.gateway.games import open_games
from services.gateway.games.open_games import BYTES_A_GAME, MIB
from services.runtime.settings import read_settings
from tests.gateway.clients import LEAVE, Json, begun, new_id, problem
from tests.security.test_own_boards import OWN_BOARD

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


def test_RATE_1_rematches_count_as_games(server: EmbeddedServer) -> None:
    # given an address with more games that are over than it may have open
    with client_from(server, "127.0.0.74") as http, client_from(server, "127.0.0.75") as other:
        ended = [create(http).json() for _ in range(MOST)]
        for each in ended:
            play_out(http, each["game"], each["token"])
        ended += [create(http).json() for _ in range(2)]
        for each in ended[MOST:]:
            play_out(http, each["game"], each["token"])

        def offer(each: Json) -> httpx.Response:
            headers = {"Authorization": f"Bearer {each['token']}"}
            return http.post(f"/v1/games/{each['game']}/rematch", headers=headers)

        # when it offers a rematch of each, again and again
        answers = [[offer(each) for each in ended] for _ in range(3)]
        # then it has as many as it may, and nobody else waits
        for each in answers:
            assert [reply.status_code for reply in each] == [200] * MOST + [429] * (len(ended) - MOST)
        assert len({reply.json()["game"] for each in answers for reply in each[:MOST]}) == MOST
        assert create(other).status_code == 201


# -- bytes -------------------------------------------------------------------------------


@pytest.fixture(scope="module")
def small(tmp_path_factory: pytest.TempPathFactory) -> Iterator[EmbeddedServer]:
    """A server on which an address has one open game, and one MiB for all games that it created."""
    settings = read_settings(port=0, open_games=1, rate=10_000)
    with run_embedded_server(tmp_path_factory.mktemp("small"), settings) as running:
        yield running


def stored_bytes(server: EmbeddedServer, games: list[str]) -> int:
    """The bytes of the engine that these games take."""
    with redis.Redis.from_url(server.settings.redis_url) as store:
        keys = [key for game in games for key in store.scan_iter(f"*:g:{game}:*", 10_000)]
        return sum(store.memory_usage(key) or 0 for key in keys)


def test_RATE_1_games_count_by_their_bytes_until_they_have_left_the_engine(
    small: EmbeddedServer, monkeypatch: pytest.MonkeyPatch
) -> None:
    # given an address that creates games on a board of its own, and ends each at once
    games: list[str] = []
    with client_from(small, "127.0.0.91") as http, client_from(small, "127.0.0.92") as other:
        while (reply := create(http, board=OWN_BOARD)).status_code == 201:
            games.append(reply.json()["game"])
            play_out(http, games[-1], reply.json()["token"])
            assert len(games) < 100
        # then it is refused once they take what it has
        refused = problem(reply, 429, "RATE-1")
        assert "take 1 MiB of the engine" in refused["detail"] and refused["retry_after"] > 1
        assert stored_bytes(small, games) < BYTES_A_GAME
        assert create(other, board=OWN_BOARD).status_code == 201, "another address has its own quota"
        # when the engine has them no more, there is room again
        with redis.Redis.from_url(small.settings.redis_url) as store:
            store.delete(*(key for game in games for key in store.scan_iter(f"*:g:{game}:*", 10_000)))
        monkeypatch.setattr(open_games, "RETRY_AFTER_S", 0)
        assert create(http, board=OWN_BOARD).status_code == 201


def test_FULL_1_near_the_end_of_the_engines_memory_no_game_is_created_and_moves_go_on(
    tmp_path: Path,
) -> None:
    settings = read_settings(port=0, open_games=10_000, rate=10_000)
    with (
        run_embedded_server(tmp_path, settings) as server,
        client_from(server, "127.0.0.93") as http,
        redis.Redis.from_url(server.settings.redis_url) as store,
    ):
        key, players = new_id(), begun(http)
        first = create(http, key).json()
        # given an engine with really little memory
        most = int(store.info("memory")["used_memory"]) + 2 * MIB
        store.config_set("maxmemory", most)
        # when somebody creates as many games as there is room for
        count = 0
        while (reply := create(http, board=OWN_BOARD)).status_code == 201:
            count += 1
            assert count < 500
        # then creations are refused first, with a rule and a time to wait
        assert problem(reply, 503, "FULL-1")["retry_after"] == int(reply.headers["Retry-After"]) > 1
        assert store.info("memory")["used_memory"] < 0.9 * most
        store.set("others", b"x" * (MIB // 8))  # what the engine uses goes up and down a little
        problem(fork(http, players[0].game, 4, players[0].token), 503, "FULL-1")
        assert create(http, key).json() == first, "what was created is answered"
        for player in players:
            player.do(player.legal()[0])
        for turn in range(20):
            players[turn % 2].do(DrawBlind())
            players[turn % 2].do(DrawBlind())
        # and moves last, when there is no room at all
        with pytest.raises(redis.OutOfMemoryError):
            for _ in range(4 * MIB // 4_096):
                store.append("others", b"x" * 4_096)
        full = players[0].send({"type": "draw_blind"}, new_id())
        assert full.status_code in (202, 503), full.text
        store.delete("others")
        players[0].do(DrawBlind())
