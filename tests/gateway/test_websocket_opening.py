"""Opening a WebSocket: by a token, after a number, and the answer when one is wrong."""

from __future__ import annotations

from collections.abc import Iterator

import httpx
import pytest
from websockets.exceptions import InvalidStatus

from services.gateway.sockets import websocket_opening
from tests.gateway.clients import DRAW, Json, Socket, closed, in_turn, seated


def wrong_openings(http: httpx.Client) -> Iterator[tuple[Json, int, str]]:
    ada, other = seated(http)[0], seated(http)[0]
    yield {"game": ada.game, "token": other.token}, 403, "TOKEN-1"
    yield {"game": ada.game, "token": ada.token[:-1]}, 401, "TOKEN-1"
    yield {"game": ada.game, "token": "x"}, 401, "TOKEN-1"
    yield {"game": ada.game, "additional_headers": {"Authorization": "Basic x"}}, 401, "TOKEN-1"
    yield {"game": ada.game, "subprotocols": ["ledgerline", "token.x.y.z"]}, 401, "TOKEN-1"
    yield {"game": ada.game, "token": ada.token, "after": -1}, 422, "SHAPE-1"
    yield {"game": ada.game, "token": ada.token, "after": 1, "head": "f" * 63}, 422, "SHAPE-1"
    yield {"game": ada.game, "token": ada.token, "after": 0, "head": "g" * 64}, 422, "SHAPE-1"
    yield {"game": "000000000000"}, 404, "GAME-1"
    yield {"game": "%F0%9F%9A%86" * 60}, 404, "GAME-1"
    yield {"game": "UPPER"}, 404, "GAME-1"
    yield {"game": "a" * 4_000}, 404, "GAME-1"


def test_a_wrong_opening_gets_a_problem_and_is_closed_with_1008(http: httpx.Client) -> None:
    for opening, status, rule in wrong_openings(http):
        with Socket(http, **opening) as socket:
            message = socket.next()
            assert (message["type"], message["id"]) == ("problem", None)
            body = message["problem"]
            assert (body["status"], body["rule"]) == (status, rule), opening
            assert closed(socket) == 1008


def test_an_after_that_is_no_number_opens_nothing(http: httpx.Client) -> None:
    game = seated(http)[0].game
    for after in ("x", "1.5", ""):
        with pytest.raises(InvalidStatus), Socket(http, game, None, after):
            pass


def test_a_token_may_come_in_the_first_message(http: httpx.Client) -> None:
    ada, _ = in_turn(http)
    with Socket(http, ada.game, after=6, token_in_message=ada.token) as socket:
        socket.send("a", DRAW)
        assert socket.read(1)[0]["events"][0]["card"] is not None


@pytest.mark.parametrize("first", ['{"token": 3}', '{"token": "x", "id": "a"}', "[]", "{", '{"id": "a"}'])
def test_SHAPE_1_another_first_message_than_a_token_opens_nothing(http: httpx.Client, first: str) -> None:
    with Socket(http, seated(http)[0].game, after="0&authenticate=true") as socket:
        socket.wire.send(first)
        assert socket.next()["problem"]["rule"] == "SHAPE-1"
        assert closed(socket) == 1008


def test_TOKEN_1_a_token_that_does_not_come_opens_nothing(
    http: httpx.Client, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(websocket_opening, "FIRST_MESSAGE_S", 0.05)
    with Socket(http, seated(http)[0].game, after="0&authenticate=true") as socket:
        socket.problem(None, 401, "TOKEN-1")
        assert closed(socket) == 1008


@pytest.mark.parametrize("field", ["token", "access_token"])
def test_TOKEN_1_a_token_in_the_address_opens_nothing(http: httpx.Client, field: str) -> None:
    ada = seated(http)[0]
    with Socket(http, ada.game, after=f"0&{field}={ada.token}") as socket:
        assert "never stands in an address" in socket.problem(None, 422, "SHAPE-1", field)["detail"]
        assert closed(socket) == 1008


def test_a_browser_gives_its_token_as_a_subprotocol(http: httpx.Client) -> None:
    ada, _ = in_turn(http)
    offered = ["ledgerline", f"token.{ada.token}"]
    with Socket(http, ada.game, after=6, subprotocols=offered) as socket:
        assert socket.wire.subprotocol == "ledgerline", "the token isn't sent back"
        socket.send("a", DRAW)
        assert socket.read(1)[0]["events"][0]["card"] is not None
