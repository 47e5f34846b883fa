"""The WebSocket session: it sends a view as it grows, and receives commands."""

from __future__ import annotations

import json
from socket import SHUT_RDWR

import httpx
import pytest

from services.gateway.following.hub import VerdictWaiter
from services.gateway.web.request_parsing import MAX_BODY_BYTES
from tests.gateway.clients import (
    DRAW,
    LEAVE,
    CreatedGame,
    Player,
    Socket,
    bearer,
    closed,
    entries,
    in_turn,
    new_id,
    numbers,
)
from tests.gateway.conftest import Unchanged


def expect_silence(socket: Socket, s: float = 0.2) -> None:
    """Nothing more is sent."""
    with pytest.raises(TimeoutError):
        socket.next(s)


# -- following -----------------------------------------------------------------------


@pytest.fixture(scope="module")
def played(http: httpx.Client) -> list[Player]:
    """A game of two that has gone on for a while."""
    players = in_turn(http)
    for player in (*players, *players):
        for _ in range(2):
            assert player.send(DRAW).status_code == 200
    return players


def test_a_socket_resumes_after_any_number_with_exactly_the_rest(
    http: httpx.Client, played: list[Player]
) -> None:
    game = played[0].game
    for token in (None, played[0].token, played[1].token):
        whole = entries(http, game, token)
        assert len(whole) == 14
        for after in range(15):
            with Socket(http, game, token, after) as socket:
                assert socket.read(14 - after) == whole[after:]


def test_a_socket_at_the_end_gets_the_next_entry_and_nothing_twice(
    http: httpx.Client, played: list[Player]
) -> None:
    with Socket(http, played[0].game, None, 14) as socket:
        expect_silence(socket)
        assert played[0].send({"type": "pass"}).status_code == 409
        assert numbers(socket.read(1)) == [15]
        expect_silence(socket)


def test_sockets_that_begin_at_different_numbers_all_get_all(http: httpx.Client) -> None:
    ada, bo = in_turn(http)
    sockets = [
        Socket(http, ada.game, token, after) for token in (None, ada.token, bo.token) for after in (0, 3, 6)
    ]
    opened = [socket.__enter__() for socket in sockets]
    try:
        for player in (ada, ada, bo, bo):
            assert player.send(DRAW).status_code == 200
        for place, socket in enumerate(opened):
            after = (0, 3, 6)[place % 3]
            token = (None, ada.token, bo.token)[place // 3]
            assert socket.read(10 - after) == entries(http, ada.game, token, after)
    finally:
        for socket in sockets:
            socket.__exit__(None, None, None)


def test_a_game_is_followed_from_its_creation_to_its_end(http: httpx.Client) -> None:
    created = CreatedGame(http, "human", "human")
    with Socket(http, created.game) as public:
        ada, bo = created.join("Ada"), created.join("Bo")
        created.start()
        for player in (ada, bo):
            player.do(player.legal()[0])
        for player in (ada, bo):
            assert player.send(LEAVE).status_code == 200
        found = public.read(8)
    assert numbers(found) == list(range(1, 9))
    assert found[-1]["events"][-1]["type"] == "game_ended"
    assert found == entries(http, created.game, None)


def test_two_sockets_of_one_seat_both_get_everything(http: httpx.Client) -> None:
    ada, bo = in_turn(http)
    with Socket(http, ada.game, ada.token, 6) as first, Socket(http, ada.game, ada.token, 6) as second:
        first.send("a", DRAW)
        assert first.read(1) == second.read(1)
        second.send("b", DRAW)
        assert first.read(1) == second.read(1)
        assert bo.send(DRAW).status_code == 200
        (seen,) = first.read(1)
        assert [seen] == second.read(1)
    assert seen["events"][0]["card"] is None


# -- playing -------------------------------------------------------------------------


def test_an_entry_that_answers_the_id_is_the_verdict(http: httpx.Client) -> None:
    ada, bo = in_turn(http)
    with Socket(http, ada.game, ada.token, 6) as up, Socket(http, ada.game, bo.token, 6) as other:
        up.send("mine", DRAW)
        (mine,), (seen,) = up.read(1), other.read(1)
        assert (mine["answers"], seen["answers"]) == ("mine", None)
        assert mine["events"][0]["card"] is not None
        assert seen["events"][0]["card"] is None
        up.wire.send(json.dumps({"command": {**DRAW, "seat": 0}}))  # the gateway makes an id itself
        assert up.read(1)[0]["answers"]


def test_TURN_1_a_refusal_is_its_seats_entry_and_an_empty_one_for_others(
    http: httpx.Client, unchanged: Unchanged
) -> None:
    ada, bo = in_turn(http)
    with (
        unchanged(ada.game, 1),
        Socket(http, ada.game, bo.token, 6) as mine,
        Socket(http, ada.game, ada.token, 6) as other,
        Socket(http, ada.game, None, 6) as public,
    ):
        mine.send("too-soon", DRAW)
        (entry,) = mine.read(1)
        assert entry["answers"] == "too-soon"
        assert entry["events"][0]["rule"] == "TURN-1"
        for socket in (other, public):
            assert [(e["number"], e["answers"], e["events"]) for e in socket.read(1)] == [(7, None, [])]


def test_GAME_3_a_command_without_an_entry_is_answered_by_a_problem(
    http: httpx.Client, unchanged: Unchanged, monkeypatch: pytest.MonkeyPatch
) -> None:
    players = in_turn(http)
    for player in players:
        assert player.send(LEAVE).status_code == 200
    monkeypatch.setattr(VerdictWaiter, "poll", lambda waiter: None)  # only a notification wakes it
    with unchanged(players[0].game), Socket(http, players[0].game, players[0].token, 8) as socket:
        socket.send("late", DRAW)
        socket.problem("late", 409, "GAME-3")
        expect_silence(socket)


def test_many_commands_in_a_row_are_answered_in_order(http: httpx.Client) -> None:
    ada, bo = in_turn(http)
    with Socket(http, ada.game, bo.token, 6) as socket:
        for n in range(15):
            socket.send(f"n{n}", DRAW)
        assert [entry["answers"] for entry in socket.read(15)] == [f"n{n}" for n in range(15)]
    assert ada.send(DRAW).status_code == 200


# -- bad messages --------------------------------------------------------------------

MESSAGES: list[tuple[str | bytes, object, str]] = [
    ("", None, "body"),
    ("draw", None, "body"),
    ("[]", None, "body"),
    ('{"id": "a", "command": NaN}', None, "body"),
    ("[" * 10_000, None, "body"),
    (b'{"id": "\xff"}', None, "body"),
    ('{"id": "\\ud800", "command": {"type": "draw_blind"}}', None, "body"),
    ('{"id": ' + "[" * 300 + "]" * 300 + "}", None, "body"),
    ('{"id": "a"}', "a", "command"),
    ('{"id": "a", "command": "draw_blind"}', "a", "command"),
    ('{"id": "a", "command": {"type": "fly"}}', "a", "type"),
    ('{"id": "a", "command": {"type": "start_game"}}', "a", "type"),
    ('{"id": "a", "command": {"type": "draw_market", "slot": 99}}', "a", "slot"),
    ('{"id": "a", "command": {"type": "draw_blind"}, "seat": 0}', "a", "seat"),
    ('{"id": 7, "command": {"type": "draw_blind"}}', 7, "id"),
    ('{"id": "", "command": {"type": "draw_blind"}}', "", "id"),
    ('{"id": "a b", "command": {"type": "draw_blind"}}', "a b", "id"),
    ('{"id": {"a": [null]}, "command": {"type": "draw_blind"}}', {"a": [None]}, "id"),
    ('{"id": -1e999, "command": {"type": "draw_blind"}}', None, "body"),
    ('{"type": "draw_blind"}', None, "type"),
]


def test_SHAPE_1_bad_messages_get_problems_and_the_socket_stays_open(
    http: httpx.Client, unchanged: Unchanged
) -> None:
    ada, _ = in_turn(http)
    with Socket(http, ada.game, ada.token, 6) as socket:
        with unchanged(ada.game):
            for message, id_, field in MESSAGES:
                socket.wire.send(message)
                socket.problem(id_, 422, "SHAPE-1", field)
        socket.send("good", DRAW)
        assert socket.read(1)[0]["answers"] == "good"


def test_TOKEN_1_a_socket_sends_no_command_for_another_seat(http: httpx.Client, unchanged: Unchanged) -> None:
    ada, _ = in_turn(http)
    with unchanged(ada.game), Socket(http, ada.game, ada.token, 6) as socket:
        socket.send("a", {**DRAW, "seat": 1})
        socket.problem("a", 403, "TOKEN-1")


def test_SIZE_1_an_oversized_message_ends_the_socket_with_1009(
    http: httpx.Client, unchanged: Unchanged
) -> None:
    ada, _ = in_turn(http)
    with unchanged(ada.game), Socket(http, ada.game, ada.token, 6) as socket:
        socket.wire.send(json.dumps({"id": "a", "command": {**DRAW, "pad": "x" * MAX_BODY_BYTES}}))
        assert closed(socket) == 1009


def test_TOKEN_1_spectators_and_hosts_may_not_send(http: httpx.Client, unchanged: Unchanged) -> None:
    created = CreatedGame(http, "human", "human")
    with unchanged(created.game):
        for token in (None, created.host):
            with Socket(http, created.game, token, 1) as socket:
                socket.send("a", DRAW)
                socket.problem("a", 403, "TOKEN-1")


# -- connecting and disconnecting ------------------------------------------------------------------


def test_a_socket_and_http_show_the_same_after_everything(http: httpx.Client) -> None:
    ada, bo = in_turn(http)
    with Socket(http, ada.game, ada.token) as socket:
        for player in (ada, ada, bo, bo):
            assert player.send(DRAW, new_id()).status_code == 200
        assert socket.read(10) == entries(http, ada.game, ada.token)


def test_a_client_that_disconnects_disturbs_nobody(http: httpx.Client) -> None:
    ada, bo = in_turn(http)
    with Socket(http, ada.game, bo.token, 6) as stays:
        for number in range(7, 12):
            with Socket(http, ada.game, ada.token, 0) as goes:
                goes.send(new_id(), {"type": "pass"})
                assert numbers(stays.read(1)) == [number]
                goes.wire.socket.shutdown(SHUT_RDWR)
    assert http.get(f"/v1/games/{ada.game}/view", headers=bearer(ada.token)).json()["next"] == 11
