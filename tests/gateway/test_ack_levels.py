"""P1: an answer names the level that was reached; a verdict below the level asked for is `unknown`."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import httpx
import pytest

from services.bootstrap.embedded import EmbeddedServer, run_embedded_server
from services.ledger.acknowledgements import (
    ACCEPTED,
    DECIDED,
    DURABLE,
    parse_ack_level,
    replicated,
)
from tests.gateway.clients import (
    DRAW,
    LEAVE,
    Player,
    Socket,
    bearer,
    entries,
    in_turn,
    problem,
    seated,
    unknown,
)
from tests.many_clients import PATIENT, settings_for_many_clients

PAIR = {"seats": [{"kind": "human"}, {"kind": "human"}]}


@pytest.fixture(scope="module")
def server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[EmbeddedServer]:
    """A server of the module's own, whose engine settings it changes."""
    settings = settings_for_many_clients()
    with run_embedded_server(tmp_path_factory.mktemp("levels"), settings, limits=PATIENT) as running:
        yield running


@pytest.fixture(scope="module")
def http(server: EmbeddedServer) -> Iterator[httpx.Client]:
    with httpx.Client(base_url=server.url, timeout=120, trust_env=False) as client:
        yield client


# -- answers name their level ------------------------------------------------------------


@pytest.mark.parametrize("level", ["decided", "durable"])
def test_P1_every_answer_names_the_level_that_it_has(http: httpx.Client, level: str) -> None:
    sure = httpx.QueryParams(level=level, wait_ms=60_000)
    created = http.post("/v1/games", json=PAIR, params=sure)
    assert (created.status_code, created.json()["level"], created.json()["number"]) == (201, level, 1)
    path, host = f"/v1/games/{created.json()['game']}", created.json()["token"]
    joins = [http.post(f"{path}/join", json={"name": name}, params=sure).json() for name in ("Ada", "Bo")]
    assert [(join["level"], join["number"]) for join in joins] == [(level, 2), (level, 3)]
    start = http.post(f"{path}/start", headers=bearer(host), params=sure).json()
    assert (start["level"], start["number"]) == (level, 4)
    ada = Player(http, created.json()["game"], joins[0]["seat"], joins[0]["token"])
    keep = {"type": "keep_tickets", "keep": [0, 1, 2]}
    body = ada.ask(keep, "c1", level).json()
    assert (body["verdict"], body["level"], body["number"]) == ("accepted", level, 5)
    assert body["entry"] == entries(http, ada.game, ada.token)[4]
    assert ada.ask(keep, "c1", "decided").json()["entry"] == body["entry"], "one verdict at any level"


def test_P1_a_refusal_is_a_verdict_with_a_level_too(http: httpx.Client) -> None:
    _, bo = in_turn(http)
    for level in ("decided", "durable"):
        body = problem(bo.ask(DRAW, "no", level), 409, "TURN-1")
        assert (body["level"], body["number"], body["id"]) == (level, 7, "no")


def test_P1_an_answer_without_an_entry_has_the_level_told(http: httpx.Client) -> None:
    players = in_turn(http)
    for player in players:
        assert player.send(LEAVE).status_code == 200
    body = problem(players[0].ask(DRAW, "late", "durable"), 409, "GAME-3")
    assert body["level"] == "rejected"
    assert "number" not in body
    with Socket(http, players[0].game, players[0].token, 8) as socket:
        socket.send("later", DRAW, level="durable")
        assert socket.problem("later", 409, "GAME-3")["level"] == "rejected"


def test_P1_accepted_waits_for_nothing_and_a_system_command_needs_its_verdict(http: httpx.Client) -> None:
    ada, _ = in_turn(http)
    unknown(ada.ask(DRAW, "c1", "accepted"), "accepted")
    assert ada.send(DRAW, "c1").json()["number"] == 7
    problem(http.post("/v1/games", json=PAIR, params={"level": "accepted"}), 422, "SHAPE-1", "level")


@pytest.mark.parametrize("level", ["", "Durable", "fsynced", "replicated:0", "replicated:10", "durable:1"])
def test_SHAPE_1_an_unknown_level_is_refused(http: httpx.Client, level: str) -> None:
    ada, _ = in_turn(http)
    problem(ada.ask(DRAW, "c1", level), 422, "SHAPE-1", "level")
    problem(ada.ask(DRAW, "c1", "durable", 0), 422, "SHAPE-1", "wait_ms")
    with Socket(http, ada.game, ada.token, 6) as socket:
        socket.send("c1", DRAW, level=level)
        socket.problem("c1", 422, "SHAPE-1", "level")
        socket.send("c1", DRAW, wait_ms="soon")
        socket.problem("c1", 422, "SHAPE-1", "wait_ms")
    assert len(entries(http, ada.game, ada.token)) == 6


def test_levels_are_parsed_as_they_are_written() -> None:
    for level in (ACCEPTED, DECIDED, DURABLE, replicated(1), replicated(9)):
        assert parse_ack_level(str(level)) == level
    assert parse_ack_level("replicated") == replicated(1)


# -- nothing is acknowledged too early -------------------------------------------------------


def test_P1_nothing_is_acknowledged_before_it_is_in_the_log(
    http: httpx.Client, request: pytest.FixtureRequest
) -> None:
    ada, _ = in_turn(http)
    resume = request.getfixturevalue("paused_referee")
    for level in ("decided", "durable"):
        unknown(ada.ask(DRAW, "c1", level, 200), "accepted")
    resume.set()
    body = ada.ask(DRAW, "c1", "durable").json()
    assert (body["verdict"], body["level"], body["number"]) == ("accepted", "durable", 7)


def test_P1_nothing_is_durable_before_the_engine_synced_it(http: httpx.Client, store: Any) -> None:
    ada, bo = in_turn(http)
    synced = store.config_get("appendfsync")["appendfsync"]
    assert ada.ask(DRAW, "c1", "durable").json()["level"] == "durable"
    store.config_set("appendfsync", "no")
    unknown(ada.ask(DRAW, "c2", "durable", 400), "decided", 8)
    store.config_set("appendfsync", synced)
    body = ada.ask(DRAW, "c2", "durable").json()
    assert (body["level"], body["number"]) == ("durable", 8)
    assert bo.ask(DRAW, "c3", "durable").json()["number"] == 9


def test_P1_a_refusal_is_not_durable_before_the_engine_synced_it(http: httpx.Client, store: Any) -> None:
    _, bo = in_turn(http)
    problem(bo.ask(DRAW, "c1", "durable"), 409, "TURN-1")
    store.config_set("appendfsync", "no")
    unknown(bo.ask(DRAW, "c2", "durable", 400), "decided", 8)


# -- levels that the engine can't give ----------------------------------------------------------------


def test_LEVEL_1_a_level_that_the_engine_cannot_give_is_refused_before_anything_is_sent(
    http: httpx.Client, store: Any
) -> None:
    ada, _ = in_turn(http)
    waiting = seated(http)[0]
    with Socket(http, ada.game, ada.token, 6) as socket:
        sent = _sent(store)
        body = problem(ada.ask(DRAW, "c1", "replicated:2"), 501, "LEVEL-1")
        assert body["asked"] == "replicated:2"
        assert body["detail"] == "replicas that follow the engine: 0, and replicated:2 needs 2"
        problem(http.post("/v1/games", json=PAIR, params={"level": "replicated"}), 501, "LEVEL-1")
        path = f"/v1/games/{waiting.game}/start"
        start = http.post(path, params={"level": "replicated"}, headers=bearer(waiting.token))
        problem(start, 501, "LEVEL-1")
        socket.send("c1", DRAW, level="replicated:1")
        socket.problem("c1", 501, "LEVEL-1")
        assert _sent(store) == sent
        socket.send("c1", DRAW)
        assert socket.read(1)[0]["number"] == 7


def _sent(store: Any) -> list[bytes]:
    """The last id of every partition's command stream."""
    names = sorted(store.scan_iter("{p*}:commands"))
    return [store.xinfo_stream(name)["last-generated-id"] for name in names]
