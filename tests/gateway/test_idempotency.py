"""P2 over HTTP and WebSocket: an id that is sent again, over any connection, has one verdict."""

from __future__ import annotations

import threading
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from typing import Final, TypeVar

import httpx
import pytest

from schemas.commands import CreateGame, SeatPlan, TakeSeat
from schemas.stored.codec import digest_command
from schemas.trains.commands import ClaimRoute
from services.bootstrap.embedded import EmbeddedServer
from services.ledger import RedisLedger
from tests.gateway.clients import (
    DRAW,
    CreatedGame,
    Json,
    Player,
    Socket,
    bearer,
    entries,
    in_turn,
    new_id,
    problem,
    seated,
)
from tests.gateway.conftest import Unchanged

T = TypeVar("T")
PASS: Final[Json] = {"type": "pass"}
CARDS: Final = (("red", 2), ("locomotive", 1))
HUMANS = {"seats": [{"kind": "human"}, {"kind": "human"}]}


def at_once(calls: list[Callable[[], T]]) -> list[T]:
    with ThreadPoolExecutor(len(calls)) as pool:
        return [done.result() for done in [pool.submit(call) for call in calls]]


def by_http(server: EmbeddedServer, player: Player, command: Json, id_: str) -> Json:
    """The verdict on a command that is sent over a connection of its own."""
    with httpx.Client(base_url=server.url, timeout=120, trust_env=False) as http:
        reply = Player(http, player.game, player.seat, player.token).send(command, id_)
        body: Json = reply.json()
        return (
            body["entry"] if reply.status_code == 200 else {"refused": body["rule"], "number": body["number"]}
        )


def by_socket(player: Player, command: Json, id_: str, after: int) -> Json:
    """The same over a WebSocket: the entry that answers the id, read from the number `after`."""
    with Socket(player.http, player.game, player.token, after) as socket:
        socket.send(id_, command)
        while True:
            message = socket.next()
            if message["type"] == "entry" and message["answers"] == id_:
                del message["type"]
                return message


def test_P2_one_id_sent_five_times_over_http_and_socket_gets_one_verdict(
    http: httpx.Client, server: EmbeddedServer, unchanged: Unchanged
) -> None:
    ada, _ = in_turn(http)
    with unchanged(ada.game, 1):
        calls: list[Callable[[], Json]] = [lambda: by_http(server, ada, DRAW, "five")] * 3
        calls += [lambda: by_socket(ada, DRAW, "five", 6)] * 2
        verdicts = at_once(calls)
    assert [verdict["number"] for verdict in verdicts] == [7] * 5
    assert all(verdict == verdicts[0] for verdict in verdicts)
    assert verdicts[0]["answers"] == "five"


def test_P2_a_refusal_is_the_one_verdict_too(
    http: httpx.Client, server: EmbeddedServer, unchanged: Unchanged
) -> None:
    ada, bo = in_turn(http)
    with unchanged(ada.game, 1):
        calls: list[Callable[[], Json]] = [lambda: by_http(server, bo, DRAW, "no")] * 3
        calls += [lambda: by_socket(bo, DRAW, "no", 6)] * 2
        verdicts = at_once(calls)
    assert verdicts[:3] == [{"refused": "TURN-1", "number": 7}] * 3
    assert [v["events"][0]["rule"] for v in verdicts[3:]] == ["TURN-1"] * 2
    for _ in range(2):
        assert ada.send(DRAW).status_code == 200
    with unchanged(ada.game):  # a verdict stands, though the seat may act now
        problem(bo.send(DRAW, "no"), 409, "TURN-1")
    assert bo.send(DRAW, "now").status_code == 200


def test_P2_an_id_that_was_answered_long_ago_is_answered_the_same(
    http: httpx.Client, unchanged: Unchanged
) -> None:
    ada, bo = in_turn(http)
    first = ada.send(DRAW, "early").json()
    assert ada.send(DRAW, "next").status_code == 200
    assert bo.send(DRAW).status_code == 200
    with unchanged(ada.game), Socket(http, ada.game, ada.token, 9) as socket:
        assert ada.send(DRAW, "early").json() == first
        socket.send("early", DRAW)
        assert socket.read(1) == [first["entry"]]


def test_P2_ID_1_an_id_sent_again_with_another_command_is_answered_so_with_the_first_verdict(
    http: httpx.Client, unchanged: Unchanged
) -> None:
    ada, bo = in_turn(http)
    first = ada.send(DRAW, "early").json()
    refused = problem(bo.send(DRAW, "no"), 409, "TURN-1")
    with unchanged(ada.game):
        again = problem(ada.send(PASS, "early"), 409, "ID-1")
        assert {key: again[key] for key in first if key != "verdict"} == {
            key: value for key, value in first.items() if key != "verdict"
        }
        again = problem(bo.send(PASS, "no"), 409, "ID-1")
        assert again["number"] == refused["number"]
        assert again["entry"]["events"][0]["rule"] == "TURN-1"


@pytest.mark.parametrize("after", [0, 7])
def test_P2_on_a_socket_too_whether_it_has_sent_that_verdict_or_not(
    http: httpx.Client, unchanged: Unchanged, after: int
) -> None:
    ada, _ = in_turn(http)
    first = ada.send(DRAW, "early").json()["entry"]
    with unchanged(ada.game), Socket(http, ada.game, ada.token, after) as socket:
        socket.send("early", PASS)
        while (message := socket.next())["type"] != "problem":
            assert message["type"] == "entry"
        assert (message["id"], message["problem"]["rule"]) == ("early", "ID-1")
        assert message["problem"]["entry"] == first


def test_P2_two_commands_under_one_id_at_once_on_a_socket_are_told_apart(
    http: httpx.Client, paused_referee: threading.Event
) -> None:
    paused_referee.set()
    ada, _ = in_turn(http)
    paused_referee.clear()
    with Socket(http, ada.game, ada.token, 6) as socket:
        socket.send("twice", DRAW)
        socket.send("twice", PASS)
        answer = socket.problem("twice", 409, "ID-1")
        paused_referee.set()
        [entry] = socket.read(1)
    assert "entry" not in answer, "there is no verdict yet"
    assert entry["answers"] == "twice"


def test_P2_two_commands_under_one_id_at_once_over_http_are_told_apart(
    http: httpx.Client, server: EmbeddedServer, unchanged: Unchanged
) -> None:
    ada, _ = in_turn(http)

    def send(command: Json) -> httpx.Response:
        with httpx.Client(base_url=server.url, timeout=120, trust_env=False) as own:
            return Player(own, ada.game, ada.seat, ada.token).send(command, "both")

    with unchanged(ada.game, 1):
        replies = at_once([lambda: send(DRAW), lambda: send({**DRAW, "seat": 0}), lambda: send(PASS)])
    assert replies[0].json() == replies[1].json()
    assert {"ID-1"} == {reply.json().get("rule") for reply in replies} - {None, "TURN-4"}


def test_P2_the_same_cards_in_another_order_are_the_same_command() -> None:
    claim, again = (ClaimRoute("a-b", dict(cards)) for cards in (CARDS, reversed(CARDS)))
    assert digest_command(claim) == digest_command(again)
    plans = (SeatPlan(),) * 2
    created = [
        digest_command(CreateGame(plans, options=options))
        for options in ({"cars": 8, "deal": 4}, {"deal": 4, "cars": 8}, {"deal": 4, "cars": 9})
    ]
    assert created[0] == created[1] != created[2]


def test_P2_a_creation_or_a_join_under_an_id_of_another_is_answered_so_and_opens_nothing(
    http: httpx.Client, unchanged: Unchanged
) -> None:
    key = {"Idempotency-Key": new_id()}
    created = http.post("/v1/games", json=HUMANS, headers=key).json()
    join = f"/v1/games/{created['game']}/join"
    http.post(join, json={"name": "Ada"}, headers=key)
    with unchanged(created["game"]):
        for path, body in (("/v1/games", {**HUMANS, "options": {"cars": 9}}), (join, {"name": "Eve"})):
            again = problem(http.post(path, json=body, headers=key), 409, "ID-1")
            assert again["id"] == key["Idempotency-Key"]
            assert "token" not in str(again)


def test_P2_an_id_belongs_to_its_seat(http: httpx.Client) -> None:
    ada, bo = in_turn(http)
    assert ada.send(DRAW, "same").json()["entry"]["number"] == 7
    problem(bo.send(DRAW, "same"), 409, "TURN-1")
    other, _ = in_turn(http)
    assert other.send(DRAW, "same").json()["entry"]["number"] == 7
    assert [e["answers"] for e in entries(http, ada.game, bo.token)][6:] == [None, "same"]


def test_P2_the_same_id_creates_one_game(server: EmbeddedServer, unchanged: Unchanged) -> None:
    key = {"Idempotency-Key": new_id()}

    def create() -> Json:
        with httpx.Client(base_url=server.url, timeout=120, trust_env=False) as http:
            reply = http.post("/v1/games", json=HUMANS, headers=key)
            assert reply.status_code == 201, reply.text
            body: Json = reply.json()
            return body

    created = at_once([create] * 5)
    assert all(creation == created[0] for creation in created)
    with unchanged(created[0]["game"]):
        assert create() == created[0]


def test_P2_another_id_creates_another_game(http: httpx.Client) -> None:
    assert CreatedGame(http, "human", "human").game != CreatedGame(http, "human", "human").game


def test_P2_the_same_join_gives_the_same_seat_and_token(http: httpx.Client, unchanged: Unchanged) -> None:
    created = CreatedGame(http, "human", "human")
    key = {"Idempotency-Key": new_id()}
    with unchanged(created.game, 1):
        joins = [
            http.post(f"/v1/games/{created.game}/join", json={"name": "Ada"}, headers=key) for _ in range(3)
        ]
    assert joins[0].status_code == 200
    assert all(join.json() == joins[0].json() for join in joins)
    assert created.join("Bo").seat == 1
    assert (
        http.post(f"/v1/games/{created.game}/join", json={"name": "Ada"}, headers=key).json()
        == joins[0].json()
    )


@pytest.mark.parametrize("times", [2, 5])
def test_P2_a_start_that_is_sent_again_starts_once(
    http: httpx.Client, unchanged: Unchanged, times: int
) -> None:
    ada = seated(http)[0]
    key = {**bearer(ada.token), "Idempotency-Key": "start-it"}
    with unchanged(ada.game, 1):
        starts = [http.post(f"/v1/games/{ada.game}/start", headers=key) for _ in range(times)]
    head = entries(http, ada.game, None)[-1]["head"]
    expected = {"game": ada.game, "number": 4, "level": "decided", "head": head}
    assert [start.json() for start in starts] == [expected] * times


def test_P2_an_id_of_a_system_command_is_good_for_one_type_of_command(
    http: httpx.Client, unchanged: Unchanged
) -> None:
    """Otherwise a start under a join's id would be acknowledged, though the game didn't start."""
    created = CreatedGame(http, "human", "human")
    key = {"Idempotency-Key": new_id()}
    assert http.post(f"/v1/games/{created.game}/join", json={"name": "Ada"}, headers=key).status_code == 200
    created.join("Bo")
    with unchanged(created.game):
        reply = http.post(f"/v1/games/{created.game}/start", headers=bearer(created.host) | key)
        problem(reply, 409, "ID-1")
    created.start()


def test_P2_a_join_sent_again_under_another_name_is_told_so_until_the_name_is_erased(
    http: httpx.Client, ledger: RedisLedger
) -> None:
    created, id_ = CreatedGame(http, "human", "human"), new_id()

    def join(name: str) -> httpx.Response:
        headers = {"Idempotency-Key": id_}
        return http.post(f"/v1/games/{created.game}/join", json={"name": name}, headers=headers)

    first = join("Ada")
    assert first.status_code == 200
    assert join("Ada").json()["seat"] == first.json()["seat"]
    problem(join("Bo"), 409, "ID-1")
    ledger.erase_names(created.game, [*ledger.read_names(created.game)])
    assert join("Bo").json()["seat"] == first.json()["seat"]


def test_P2_a_digest_that_is_stored_says_nothing_of_names() -> None:
    ada, bo = (digest_command(TakeSeat(name, 0, 33)) for name in ("Ada", "Bo"))
    assert ada == bo != digest_command(TakeSeat("Ada", 1, 33))
    plans = [(SeatPlan(name=name), SeatPlan()) for name in ("Ada", "Bo")]
    assert digest_command(CreateGame(plans[0])) == digest_command(CreateGame(plans[1]))
