"""A view as lines of JSON, that curl can follow."""

from __future__ import annotations

import json
import time
from collections.abc import Iterator
from contextlib import contextmanager

import httpx
import pytest

from services.gateway.following.hub import Hub
from services.gateway.following.subscriptions import Subscription
from services.gateway.sockets import followed_view
from services.ledger import RedisLedger
from tests.gateway.clients import DRAW, LEAVE, Json, Player, bearer, entries, in_turn, problem
from tests.gateway.test_stored_games import become_one_value


@contextmanager
def followed(player: Player, token: str | None = None, **params: str | int) -> Iterator[Iterator[Json]]:
    """The lines of a game, as they come."""
    url = f"/v1/games/{player.game}/stream"
    with player.http.stream("GET", url, params=params, headers=bearer(token), timeout=120) as reply:
        assert reply.status_code == 200
        assert reply.headers["content-type"] == "application/x-ndjson"
        yield (json.loads(line) for line in reply.iter_lines())


def test_entries_come_as_they_happen_until_the_game_is_over(http: httpx.Client) -> None:
    # given
    ada, bo = in_turn(http)
    with followed(ada, ada.token, after=4) as lines:
        attached = next(lines)
        assert (attached["type"], attached["number"]) == ("attached", 6)
        assert [next(lines)["number"] for _ in range(2)] == [5, 6]
        # when
        ada.send(DRAW)
        entry = next(lines)
        # then
        assert (entry["type"], entry["number"]) == ("entry", 7)
        assert entry["events"][0]["card"] is not None
        for player in (ada, bo):
            player.send(LEAVE)
        *entries, last = lines
        assert entries[-1]["events"][-1]["type"] == "game_ended"
        assert (last["type"], last["code"]) == ("closed", 1000)
    with followed(ada, after=attached["number"] + len(entries) + 1) as lines:
        assert [line["type"] for line in lines] == ["attached", "closed"]


def test_a_line_that_keeps_alive_has_the_head(http: httpx.Client, monkeypatch: pytest.MonkeyPatch) -> None:
    ada, _ = in_turn(http)
    monkeypatch.setattr(followed_view, "KEEP_ALIVE_S", 0.05)
    with followed(ada, after=5) as lines:
        _, entry, alive = (next(lines) for _ in range(3))
        assert alive == {"type": "alive", "number": 6, "head": entry["head"]}
        assert next(lines) == alive


def test_a_seats_latest_entry_has_its_legal_commands(http: httpx.Client) -> None:
    ada, _ = in_turn(http)
    with followed(ada, ada.token, after=5, legal="true") as lines:
        next(lines)
        assert {"type": "draw_blind"} in next(lines)["legal"]


def test_a_follower_whose_entries_are_lost_begins_anew(http: httpx.Client) -> None:
    ada, _ = in_turn(http)
    for known in ({"after": 9}, {"after": 5, "head": "0" * 64}):
        with followed(ada, **known) as lines:
            *_, last = lines
            assert (last["type"], last["code"]) == ("closed", 4002)


@pytest.mark.parametrize("is_stored", [False, True], ids=["with streams", "stored"])
def test_P3_a_follower_that_has_another_last_entry_of_a_finished_game_begins_anew(
    http: httpx.Client, ledger: RedisLedger, is_stored: bool
) -> None:
    """Nothing follows that entry, so that no reader of what follows could compare it."""
    # given
    ada, bo = in_turn(http)
    for player in (ada, bo):
        player.send(LEAVE)
    last_entry = entries(http, ada.game, None)[-1]
    if is_stored:
        become_one_value(ledger, ada.game)
    codes = {}
    # when
    for head in (last_entry["head"], "0" * 64):
        with followed(ada, after=last_entry["number"], head=head) as lines:
            *_, last = lines
            codes[head] = last["code"]
    # then
    assert codes == {last_entry["head"]: 1000, "0" * 64: 4002}


def test_a_wrong_request_opens_no_stream(http: httpx.Client) -> None:
    ada, _ = in_turn(http)
    url = f"/v1/games/{ada.game}/stream"
    problem(http.get(url, params={"after": -1}), 422, "SHAPE-1", "after")
    problem(http.get(url, params={"head": "xyz"}), 422, "SHAPE-1", "head")
    problem(http.get(url, params={"legal": "true"}), 401, "TOKEN-1")
    problem(http.get(url.replace(ada.game, "000000000000")), 404, "GAME-1")


@pytest.mark.long
def test_TOKEN_1_a_stream_ends_when_its_token_is_withdrawn(http: httpx.Client) -> None:
    ada, _ = in_turn(http)
    with followed(ada, ada.token, after=6) as lines:
        next(lines)
        http.post(f"/v1/games/{ada.game}/withdraw-token", headers=bearer(ada.token))
        (last,) = lines
        assert (last["type"], last["code"], last["reason"]) == ("closed", 1008, "this token was withdrawn")


def test_P9_a_follower_that_leaves_is_followed_no_longer(
    http: httpx.Client, monkeypatch: pytest.MonkeyPatch
) -> None:
    ada, _ = in_turn(http)
    ended: list[str] = []
    unsubscribe = Hub.unsubscribe

    def noted(hub: Hub, game: str, subscription: Subscription) -> None:
        unsubscribe(hub, game, subscription)
        ended.append(game)

    monkeypatch.setattr(Hub, "unsubscribe", noted)
    with followed(ada, after=5) as lines:
        assert [next(lines)["type"] for _ in range(2)] == ["attached", "entry"]
    deadline = time.monotonic() + 60
    while ada.game not in ended and time.monotonic() < deadline:
        time.sleep(0.02)
    assert ada.game in ended
