"""Games on boards of one's own, and from positions: who may create them is a setting."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import httpx
import pytest

from schemas.errors import InvalidInputError
from schemas.trains.boards.form import BOARD_SCHEMA
from services.bootstrap.embedded import run_embedded_server
from services.gateway.errors import NotYoursError
from services.gateway.games.client_limits import OwnBoards, read_own_boards
from services.referee.games.trains.board import load_board
from services.runtime.settings import read_settings
from tests.cli.command_line import run_in_process
from tests.gateway.clients import bearer, listed_games, plan

KEY = "an operator's key for tests, 32 or more"
OWN_BOARD = {**BOARD_SCHEMA.write(load_board("usa").form, exclude_defaults=True), "id": "own"}
SEATS = [plan("random"), plan("random")]
POSITION: Mapping[str, Any] = {"routes": {}}
PLAIN = {"seats": SEATS, "board": "usa", "visibility": "public"}
OWN_GAMES = {
    "a board": {**PLAIN, "board": OWN_BOARD},
    "a position": {**PLAIN, "position": POSITION},
}


@contextmanager
def gateway(folder: Path, **settings: object) -> Iterator[httpx.Client]:
    """A whole server, and requests to it."""
    with (
        run_embedded_server(folder, read_settings(port=0, **settings)) as running,
        httpx.Client(base_url=running.url, timeout=30, trust_env=False) as http,
    ):
        yield http


def refused(reply: httpx.Response, setting: str) -> bool:
    """Whether a request was refused, by a problem that names the rule and the setting."""
    problem = reply.json()
    return (
        reply.status_code == 403
        and problem["rule"] == "OPERATOR-1"
        and f"LEDGERLINE_OWN_BOARDS={setting}" in problem["detail"]
    )


@pytest.mark.long
def test_OPERATOR_1_only_the_operator_creates_and_forks_games_on_own_boards_where_it_is_set(
    tmp_path: Path,
) -> None:
    with gateway(tmp_path, own_boards="operator", operator_key=KEY) as http:
        plain = http.post("/v1/games", json=PLAIN, headers=bearer("anything"))
        assert plain.status_code == 201
        for body in OWN_GAMES.values():
            for key in (None, KEY[:-1], KEY + "x", plain.json()["token"]):
                assert refused(http.post("/v1/games", json=body, headers=bearer(key)), "operator")
            created = http.post("/v1/games", json=body, headers=bearer(KEY))
            assert created.status_code == 201, created.text
            game, host = created.json()["game"], created.json()["token"]
            assert http.post(f"/v1/games/{game}/start", headers=bearer(host)).status_code == 200
            for key in (None, host):
                assert refused(
                    http.post(f"/v1/games/{game}/forks", json={"at": 2}, headers=bearer(key)), "operator"
                )
            forked = http.post(f"/v1/games/{game}/forks", json={"at": 2}, headers=bearer(KEY))
            assert forked.status_code == 201, forked.text
        game, host = plain.json()["game"], plain.json()["token"]
        http.post(f"/v1/games/{game}/start", headers=bearer(host))
        forked = http.post(f"/v1/games/{game}/forks", json={"at": 2})
        assert forked.status_code == 201, forked.text
        game, host = forked.json()["game"], forked.json()["token"]
        http.post(f"/v1/games/{game}/start", headers=bearer(host))
        again = http.post(f"/v1/games/{game}/forks", json={"at": 2})
        assert again.status_code == 201, again.text  # a fork lays a position, but one that was played


def test_OPERATOR_1_play_goes_by_the_setting_too(tmp_path: Path) -> None:
    path = tmp_path / "own.json"
    path.write_text(json.dumps(OWN_BOARD))
    words = ("play", "--board", str(path), "--seats", "random,random", "--option", "cars=4", "--json")
    setting = {"LEDGERLINE_OWN_BOARDS": "operator", "LEDGERLINE_OPERATOR_KEY": KEY}
    played = run_in_process(*words, data=tmp_path / "data", **setting)
    assert played.returncode == 0, played.stderr
    for command in (words, ("tournament", "--board", str(path), "--policies", "random,greedy")):
        refused = run_in_process(*command, data=tmp_path / "data", LEDGERLINE_OWN_BOARDS="nobody")
        assert (refused.returncode, "LEDGERLINE_OWN_BOARDS=nobody" in refused.stderr) == (2, True), (
            refused.stderr
        )


def test_nobody_creates_games_on_own_boards_where_nobody_may_not_even_the_operator(tmp_path: Path) -> None:
    with gateway(tmp_path, own_boards="nobody", operator_key=KEY) as http:
        assert http.post("/v1/games", json=PLAIN).status_code == 201
        for body in OWN_GAMES.values():
            for key in (None, KEY):
                assert refused(http.post("/v1/games", json=body, headers=bearer(key)), "nobody")
        assert len(listed_games(http)) == 1


def test_everyone_may_unless_it_is_set() -> None:
    own_boards = read_own_boards(read_settings())
    own_boards.require_creator(None)
    assert not own_boards.is_operator("")


def test_nobody_is_the_operator_without_a_key() -> None:
    for bearer_token in (None, "", KEY):
        assert not OwnBoards("operator").is_operator(bearer_token)
        with pytest.raises(NotYoursError):
            OwnBoards("operator").require_creator(bearer_token)


def test_an_operators_key_that_can_be_guessed_or_is_missing_is_refused_by_its_setting() -> None:
    with pytest.raises(InvalidInputError, match=r"LEDGERLINE_OPERATOR_KEY: .*fewer than 32 characters"):
        read_settings(operator_key=31 * "k")
    with pytest.raises(InvalidInputError, match="LEDGERLINE_OPERATOR_KEY: is missing"):
        read_own_boards(read_settings(own_boards="operator"))
