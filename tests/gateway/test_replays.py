"""Replays over HTTP: every table of a game as each viewer saw it; and, once it is over, its audit and its file."""

from __future__ import annotations

import time

import httpx
import pytest
from jsonschema import Draft202012Validator

from services.archive import decode_game_file
from services.referee.games import seat_changes
from tests.gateway.clients import LEAVE, CreatedGame, Json, Player, bearer, in_turn, problem


@pytest.fixture(scope="module")
def over(http: httpx.Client) -> list[Player]:
    """The players of a game that both have left after a move."""
    players = in_turn(http)
    players[0].do(players[0].legal()[0])
    for player in players:
        assert player.send(LEAVE).status_code == 200
    return players


def get(player: Player, path: str, token: str | None = None) -> httpx.Response:
    return player.http.get(f"/v1/games/{player.game}/{path}", headers=bearer(token))


def archived(player: Player, path: str) -> httpx.Response:
    """The answer about a finished game, once the archive has it."""
    deadline = time.monotonic() + 120
    while (reply := get(player, path)).status_code == 503 and time.monotonic() < deadline:
        assert reply.json()["rule"] == "WAIT-1"
        time.sleep(0.3)
    return reply


def test_VIEW_1_a_seats_replay_is_its_own_until_the_game_is_over(http: httpx.Client) -> None:
    # given
    ada, bo = in_turn(http)
    # then
    own = get(ada, "replays/6", ada.token).json()
    assert own["viewer"] == 0
    assert own["hand"] is not None
    assert get(ada, "replays/6?as=public", ada.token).json()["hand"] is None
    problem(get(ada, "replays/6?as=1", ada.token), 403, "TOKEN-1")
    problem(get(ada, "replays?as=0"), 403, "TOKEN-1")
    assert get(bo, "replays", bo.token).json()["viewers"] == ["public", 1]


def test_a_finished_games_replay_shows_what_every_seat_saw(over: list[Player]) -> None:
    ada = over[0]
    replay: Json = get(ada, "replays").json()
    assert (replay["over"], replay["viewers"]) == (True, ["public", 0, 1])
    assert replay["entries"] == get(ada, "state").json()["number"]
    hands = [get(ada, f"replays/6?as={seat}").json()["hand"] for seat in (0, 1)]
    assert hands[0] == ada_hand_at_6(ada)
    assert None not in hands
    assert get(ada, "replays/7?as=0").json()["moves"][0]["number"] == 7
    problem(get(ada, "replays/6?as=2"), 404, "SHAPE-1")
    problem(get(ada, "replays/999"), 422, "SHAPE-1", "number")


def ada_hand_at_6(ada: Player) -> Json:
    found: Json = get(ada, "state?at=6", ada.token).json()["hand"]
    return found


def test_P6_a_finished_game_is_audited_and_a_move_explained(over: list[Player]) -> None:
    report = archived(over[0], "audit?at=7").json()
    assert report["ok"], report["findings"]
    assert {"chain", "signature", "deal", "verdict"} <= set(report["checked"])
    assert report["move"]["command"]["type"] == "draw_blind"
    assert {"public", "0", "1", "referee"} <= report["move"]["seen"].keys()
    document = over[0].http.get("/openapi.json").json()
    schema = {"$ref": "#/components/schemas/AuditReport", "components": document["components"]}
    for at in ("", "?at=1", "?at=4"):
        Draft202012Validator(schema).validate(archived(over[0], f"audit{at}").json())
    problem(archived(over[0], "audit?at=999"), 422, "SHAPE-1", "at")


def test_a_finished_games_file_is_the_archives(over: list[Player]) -> None:
    reply = archived(over[0], "file")
    assert f'filename="{over[0].game}.ledgerline"' in reply.headers["content-disposition"]
    file = decode_game_file(reply.content)
    assert (file.game, file.names) == (over[0].game, b"")


def test_GAME_7_a_running_game_is_not_audited_for_its_players(http: httpx.Client) -> None:
    ada, _ = in_turn(http)
    for path in ("audit", "file"):
        problem(get(ada, path, ada.token), 409, "GAME-7")


def test_a_page_for_models_names_addresses_that_exist(http: httpx.Client) -> None:
    text = http.get("/llms.txt").text
    paths = http.get("/openapi.json").json()["paths"]
    for line in text.splitlines():
        for word in line.replace("`", " ").replace("?", " ").replace(":", " ").split():
            if word.startswith("/v1/"):
                assert word.strip(".;,") in paths, word


@pytest.mark.pure_python
def test_GAME_8_a_host_ends_a_game_that_nobody_plays_on(
    http: httpx.Client, monkeypatch: pytest.MonkeyPatch
) -> None:
    created = CreatedGame(http, "human", "human", options={"move_ms": None})
    ada, _ = created.join("Ada"), created.join("Bo")
    path, host = f"/v1/games/{created.game}/end", bearer(created.host)
    problem(http.post(path, headers=host), 409, "GAME-2")
    created.start()
    problem(http.post(path, headers=host), 409, "GAME-8")
    problem(http.post(path, headers=bearer(ada.token)), 403, "TOKEN-1")
    monkeypatch.setattr(seat_changes, "LEAST_IDLE_MS", 0)
    monkeypatch.setattr(seat_changes, "DAY_MS", 0)
    ended = http.post(path, headers=host)
    assert ended.status_code == 200, ended.text
    assert get(ada, "state").json()["ended"] == "out of time"
    report = archived(ada, "audit").json()
    assert report["ok"], report["findings"]
