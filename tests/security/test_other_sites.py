"""What a page of another site makes a browser send, and bodies that two parsers read differently."""

from __future__ import annotations

import json
from collections.abc import Iterator

import httpx
import pytest
from websockets.exceptions import InvalidStatus

from schemas.errors import InvalidInputError
from services.bootstrap.embedded import run_embedded_server
from services.runtime.settings import read_settings
from tests.gateway.clients import CreatedGame, Socket, listed_games, problem

OWN, OTHER = "https://play.example.org", "https://evil.example.org"
BODY = {"seats": [{"kind": "human"}, {"kind": "human"}], "visibility": "public"}


@pytest.fixture(scope="module")
def http(tmp_path_factory: pytest.TempPathFactory) -> Iterator[httpx.Client]:
    settings = read_settings(port=0, origins=f"{OWN}, http://localhost:5173")
    with (
        run_embedded_server(tmp_path_factory.mktemp("origins"), settings) as running,
        httpx.Client(base_url=running.url, timeout=20, trust_env=False) as client,
    ):
        yield client


@pytest.mark.parametrize("media_type", ["text/plain", "application/x-www-form-urlencoded", "", None])
def test_a_page_of_another_site_creates_nothing(http: httpx.Client, media_type: str | None) -> None:
    before = listed_games(http)
    headers = {"Origin": OTHER} | ({} if media_type is None else {"Content-Type": media_type})
    problem(http.post("/v1/games", content=json.dumps(BODY).encode(), headers=headers), 415, "SHAPE-1")
    assert listed_games(http) == before


def test_a_program_may_leave_the_type_out_and_name_a_charset(http: httpx.Client) -> None:
    content = json.dumps(BODY).encode()
    assert http.post("/v1/games", content=content).status_code == 201
    named = {
        "Content-Type": "Application/JSON; charset=utf-8",
        "Origin": OTHER,
    }  # after a preflight, as if allowed
    assert http.post("/v1/games", content=content, headers=named).status_code == 201


@pytest.mark.parametrize("encoding", ["utf-16", "utf-16-le", "utf-16-be", "utf-32", "utf-8-sig"])
def test_SHAPE_1_a_body_is_UTF_8(http: httpx.Client, encoding: str) -> None:
    problem(http.post("/v1/games", content=json.dumps(BODY).encode(encoding)), 422, "SHAPE-1", "body")


def test_SHAPE_1_no_key_stands_twice(http: httpx.Client) -> None:
    twice = [
        b'{"seats": [], "seats": [{}, {}]}',
        b'{"seats": [{"kind": "human", "kind": "bot"}, {}]}',
        b'{"seats": [{}, {}], "se\\u0061ts": []}',
    ]
    for content in twice:
        assert (
            "stands twice"
            in problem(http.post("/v1/games", content=content), 422, "SHAPE-1", "body")["detail"]
        )


def test_only_pages_of_named_origins_open_sockets(http: httpx.Client) -> None:
    game = CreatedGame(http, "human", "human").game
    for origin in (OWN, "http://localhost:5173", None):
        with Socket(http, game, origin=origin) as socket:
            assert socket.next()["number"] == 1
    for origin in (OTHER, "null", OWN + ".evil.org", OWN.upper()):
        with pytest.raises(InvalidStatus) as refused, Socket(http, game, origin=origin):
            pass
        assert refused.value.response.status_code == 403


def test_only_pages_of_named_origins_read_answers(http: httpx.Client) -> None:
    allowed = http.get("/v1/boards", headers={"Origin": OWN})
    assert allowed.headers["access-control-allow-origin"] == OWN
    assert "access-control-allow-credentials" not in allowed.headers
    refused = http.get("/v1/games/none/view", headers={"Origin": OWN})
    assert refused.headers["access-control-allow-origin"] == OWN, "a page can read why"
    for origin in (OTHER, "null"):
        answer = http.get("/v1/boards", headers={"Origin": origin})
        assert "access-control-allow-origin" not in answer.headers


def test_a_page_of_a_named_origin_may_send_a_command(http: httpx.Client) -> None:
    asked = {
        "Access-Control-Request-Method": "POST",
        "Access-Control-Request-Headers": "authorization, content-type, idempotency-key",
    }
    assert http.options("/v1/games", headers={"Origin": OWN, **asked}).status_code == 200
    assert http.options("/v1/games", headers={"Origin": OTHER, **asked}).status_code == 400


@pytest.mark.parametrize("wrong", ["*", "play.example.org", OWN + "/", OWN + " " + OTHER])
def test_an_origin_that_is_none_is_refused_by_name(wrong: str) -> None:
    with pytest.raises(InvalidInputError, match="LEDGERLINE_ORIGINS"):
        read_settings(origins=wrong)
