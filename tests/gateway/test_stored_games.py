"""P2, P3, P9: a finished game whose streams are gone is shown, answered and followed as before."""

from __future__ import annotations

import time
from typing import Any

import httpx
import pytest

from services.ledger import RedisLedger
from services.referee.worker import remove_streams
from tests.deploy.compose import wait_until
from tests.gateway.clients import (
    DRAW,
    LEAVE,
    CreatedGame,
    Json,
    Player,
    Socket,
    bearer,
    listed_games,
    new_id,
    problem,
)

PATHS = ("view?proofs=true", "state", "replays", "replays/5", "audit?at=5", "board")


class Ended:
    """A game that both of its players have left, with what was sent, and when each of its reads was the same."""

    def __init__(self, http: httpx.Client) -> None:
        created = CreatedGame(http, "human", "human", visibility="public")
        self.game, self.host = created.game, created.host
        self.ada, self.bo = created.join("Ada"), created.join("Bo")
        self.start_id, self.leave_id = new_id(), new_id()
        started = self.start(http)
        assert started.status_code == 200, started.text
        self.started: Json = started.json()
        for player in (self.ada, self.bo):
            player.do(player.legal()[0])
        self.left: Json = self.ada.send(LEAVE, self.leave_id).json()

    def start(self, http: httpx.Client) -> httpx.Response:
        headers = bearer(self.host) | {"Idempotency-Key": self.start_id}
        return http.post(f"/v1/games/{self.game}/start", headers=headers)

    def end(self) -> None:
        assert self.bo.send(LEAVE).status_code == 200

    def shown(self) -> list[Json]:
        """All that the public and each player are shown."""
        return [
            read(player, path, token)
            for path in PATHS
            for player, token in ((self.ada, None), (self.ada, self.ada.token), (self.bo, self.bo.token))
        ]


def read(player: Player, path: str, token: str | None) -> Json:
    reply = player.http.get(f"/v1/games/{player.game}/{path}", headers=bearer(token))
    assert reply.status_code == 200, reply.text
    found: Json = reply.json()
    return {field: value for field, value in found.items() if field != "age_ms"}


def become_one_value(ledger: RedisLedger, game: str) -> None:
    wait_until(lambda: ledger.read_stored_game(game) is not None)
    assert remove_streams(ledger, game)
    assert not ledger.read_entries(game)


@pytest.fixture(scope="module")
def ended(http: httpx.Client) -> Ended:
    game = Ended(http)
    game.end()
    return game


def test_P9_a_game_that_is_one_value_is_shown_and_answered_as_before(
    ended: Ended, http: httpx.Client, ledger: RedisLedger
) -> None:
    # given
    ada = ended.ada
    wait_until(lambda: ledger.read_stored_game(ended.game) is not None)
    before = ended.shown()
    with Socket(http, ended.game, ada.token) as socket:
        count = socket.receive()["number"]
        entries = socket.read(count)
        # when
        become_one_value(ledger, ended.game)
        # then
        assert ended.shown() == before
        assert ended.game in listed_games(http)
        socket.send("late", DRAW)
        socket.problem("late", 409, "GAME-3")
        socket.send(ended.leave_id, LEAVE)
        assert socket.read(1)[0] == entries[ended.left["number"] - 1]
    with Socket(http, ended.game, ada.token, 3, entries[2]["head"]) as again:
        again.receive()
        assert again.read(count - 3) == entries[3:]


def test_a_game_that_was_listed_while_it_was_played_is_listed_when_it_is_one_value(
    http: httpx.Client, ledger: RedisLedger
) -> None:
    # given
    game = Ended(http)
    assert game.game in listed_games(http)
    # when
    game.end()
    become_one_value(ledger, game.game)
    # then
    rows = {row["game"]: row for row in http.get("/v1/games").raise_for_status().json()["games"]}
    assert rows[game.game]["status"] == "over"


def test_P2_commands_are_answered_by_the_verdicts_of_a_game_that_is_one_value(
    ended: Ended, http: httpx.Client, ledger: RedisLedger
) -> None:
    if ledger.read_entries(ended.game):
        become_one_value(ledger, ended.game)
    assert ended.ada.send(LEAVE, ended.leave_id).json() == ended.left
    other = problem(ended.ada.send(DRAW, ended.leave_id), 409, "ID-1")
    assert other["number"] == ended.left["number"]
    problem(ended.ada.send(DRAW), 409, "GAME-3")
    assert ended.start(http).json() == ended.started
    problem(http.post(f"/v1/games/{ended.game}/join", json={"name": "Cy"}), 409, "GAME-3")
    assert not ledger.read_entries(ended.game)


@pytest.mark.long
def test_a_late_dispute_of_a_game_that_is_one_value_is_answered(
    ended: Ended, http: httpx.Client, ledger: RedisLedger
) -> None:
    if ledger.read_entries(ended.game):
        become_one_value(ledger, ended.game)
    headers = bearer(ended.ada.token)
    raised = http.post(
        f"/v1/games/{ended.game}/disputes", json={"number": 4, "reason": "Why?"}, headers=headers
    ).json()

    def answer() -> Any:
        return http.get(raised["address"], headers=headers).json()["answer"]

    wait_until(lambda: answer() is not None)
    assert (answer()["scope"], answer()["ok"]) == ("whole", True)
    forked = http.post(f"/v1/games/{ended.game}/forks", json={"at": 5}, headers=headers)
    assert forked.status_code == 201, forked.text


@pytest.mark.long
def test_P3_lines_that_end_with_the_game_are_whole_though_its_streams_go(
    http: httpx.Client, ledger: RedisLedger
) -> None:
    game = Ended(http)
    with http.stream("GET", f"/v1/games/{game.game}/stream", headers=bearer(game.ada.token)) as reply:
        lines = reply.iter_lines()
        next(lines)
        game.end()
        become_one_value(ledger, game.game)
        deadline, read_lines = time.monotonic() + 60, []
        for line in lines:
            read_lines.append(line)
            assert time.monotonic() < deadline
    *entries, closed = map(_parse, read_lines)
    assert [entry["number"] for entry in entries] == [*range(1, len(entries) + 1)]
    assert any(event["type"] == "game_ended" for event in entries[-1]["events"])
    assert closed["reason"] == "the game is over"


def _parse(line: str) -> Json:
    found: Json = httpx.Response(200, text=line).json()
    return found
