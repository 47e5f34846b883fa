"""The referee's refusals as HTTP answers; and floods."""

from __future__ import annotations

from collections.abc import Iterator

import httpx
import pytest

from schemas.stored.codec import unpack_entry
from schemas.trains.commands import DrawBlind
from services.bootstrap.embedded import run_embedded_server
from services.ledger import RedisLedger
from services.runtime.connection_limits import ServerLimits
from services.runtime.settings import read_settings
from tests.gateway.clients import (
    DRAW,
    LEAVE,
    CreatedGame,
    Player,
    Socket,
    bearer,
    begun,
    closed_why,
    entries,
    in_turn,
    problem,
    seated,
)  # fmt: skip
from tests.gateway.conftest import Unchanged


def test_TURN_1_out_of_turn_is_refused_and_shown_to_its_seat_alone(
    http: httpx.Client, ledger: RedisLedger, unchanged: Unchanged
) -> None:
    ada, bo = in_turn(http)
    with unchanged(ada.game, 1):
        body = problem(bo.send(DRAW, "too-soon"), 409, "TURN-1")
    assert (body["id"], body["number"]) == ("too-soon", 7)
    kept = unpack_entry(ledger.read_entries(ada.game)[-1])
    assert (kept.id, kept.seat, kept.command) == ("too-soon", 1, DrawBlind())
    assert kept.refusal is not None
    own = entries(http, bo.game, bo.token)[-1]
    assert own["answers"] == "too-soon"
    (event,) = own["events"]
    assert (event["type"], event["seat"], event["rule"]) == ("command_refused", 1, "TURN-1")
    assert event["why"] == body["detail"]
    for token in (None, ada.token):
        other = entries(http, ada.game, token)[-1]
        assert (other["number"], other["answers"], other["events"]) == (7, None, [])


def test_GAME_2_a_game_that_has_not_started(http: httpx.Client, unchanged: Unchanged) -> None:
    ada = seated(http)[0]
    with unchanged(ada.game, 1):
        problem(ada.send(DRAW), 409, "GAME-2")


def test_SETUP_2_a_choice_comes_first(http: httpx.Client) -> None:
    ada = begun(http)[0]
    problem(ada.send(DRAW), 409, "TURN-3")
    problem(ada.send({"type": "keep_tickets", "keep": [0]}), 409, "SETUP-3")


def test_GAME_3_a_finished_game_takes_nothing_more(http: httpx.Client, unchanged: Unchanged) -> None:
    ada, bo = in_turn(http)
    for player in (ada, bo):
        assert player.send(LEAVE).status_code == 200
    with unchanged(ada.game):
        for player in (ada, bo):
            body = problem(player.send(DRAW, "too-late"), 409, "GAME-3")
            assert body["id"] == "too-late"
            problem(player.send(LEAVE), 409, "GAME-3")
        problem(http.post(f"/v1/games/{ada.game}/join", json={"name": "Cy"}), 409, "GAME-3")
        problem(http.post(f"/v1/games/{ada.game}/start", headers=bearer(ada.token)), 409, "GAME-3")
    assert entries(http, ada.game, None)[-1]["events"][-1]["type"] == "game_ended"


def test_GAME_4_a_taken_seat_is_not_free(http: httpx.Client, unchanged: Unchanged) -> None:
    created = CreatedGame(http, "human", "random", "human")
    created.join("Ada", 0)
    with unchanged(created.game, 4):
        for seat in (0, 1, 5):
            reply = http.post(f"/v1/games/{created.game}/join", json={"name": "Bo", "seat": seat})
            problem(reply, 409, "GAME-4")
        problem(http.post(f"/v1/games/{created.game}/join", json={"name": "Ada"}), 409, "GAME-4")
    created.join("Bo")
    problem(http.post(f"/v1/games/{created.game}/join", json={"name": "Cy"}), 409, "GAME-4")


def test_GAME_5_a_game_starts_once_and_when_all_seats_are_taken(
    http: httpx.Client, unchanged: Unchanged
) -> None:
    created = CreatedGame(http, "human", "human")
    created.join("Ada")
    start = f"/v1/games/{created.game}/start"
    with unchanged(created.game, 1):
        problem(http.post(start, headers=bearer(created.host)), 409, "GAME-5")
    created.join("Bo")
    created.start()
    with unchanged(created.game, 1):
        problem(http.post(start, headers=bearer(created.host)), 409, "GAME-5")


def test_CONDUCT_1_a_flood_of_refusals_is_counted_and_not_logged(
    http: httpx.Client, unchanged: Unchanged
) -> None:
    ada, bo = in_turn(http, options={"refusals_kept": 3})
    with unchanged(ada.game, 3):
        for _ in range(3):
            problem(bo.send(DRAW), 409, "TURN-1")
        for _ in range(3):
            reply = bo.send(DRAW)
            problem(reply, 429, "RATE-1")
            assert int(reply.headers["retry-after"]) >= 1
    with unchanged(ada.game, 2):  # the other seat's turn goes on, and ends
        assert [ada.send(DRAW).status_code for _ in range(2)] == [200, 200]
    assert bo.send(DRAW).status_code == 200


def test_CONDUCT_1_a_flood_of_refusals_stops_no_legal_command(http: httpx.Client) -> None:
    """Otherwise a seat with too many refusals in its own turn could never end it."""
    ada, _ = in_turn(http, options={"refusals_kept": 3})
    for _ in range(3):
        problem(ada.send({"type": "pass"}), 409, "TURN-4")
    problem(ada.send({"type": "pass"}), 429, "RATE-1")
    assert [ada.send(DRAW).status_code for _ in range(2)] == [200, 200]


def test_GAME_4_refused_joins_do_not_block_others(http: httpx.Client) -> None:
    """Joining needs no token: a stranger's bad joins must not close the game."""
    created = CreatedGame(http, "human", "human", options={"refusals_kept": 2})
    created.join("Ada")
    for _ in range(4):
        assert http.post(f"/v1/games/{created.game}/join", json={"name": "Ada"}).is_error
    created.join("Bo")
    created.start()


# -- floods --------------------------------------------------------------------------


@pytest.fixture(scope="module")
def slow(tmp_path_factory: pytest.TempPathFactory) -> Iterator[httpx.Client]:
    """A server that takes six commands at once, and then one in ten seconds."""
    settings, limits = read_settings(port=0, rate=0.1), ServerLimits(burst_s=60)
    with (
        run_embedded_server(tmp_path_factory.mktemp("slow"), settings, limits=limits) as running,
        httpx.Client(base_url=running.url, timeout=120, trust_env=False) as client,
    ):
        yield client


def from_address(slow: httpx.Client, address: str) -> httpx.Client:
    """A client of that server at an address of its own, whose budget is whole."""
    keeps_none_open = httpx.Limits(max_keepalive_connections=0)
    transport = httpx.HTTPTransport(local_address=address, limits=keeps_none_open)
    return httpx.Client(base_url=slow.base_url, transport=transport, timeout=120, trust_env=False)


@pytest.fixture(scope="module")
def slow_game(slow: httpx.Client) -> tuple[CreatedGame, list[Player]]:
    created = CreatedGame(from_address(slow, "127.0.0.2"), "human", "human")
    joined = [created.join("Ada"), created.join("Bo")]
    return created, [Player(slow, player.game, player.seat, player.token) for player in joined]


def test_RATE_1_a_flood_is_slowed_and_the_answer_has_the_time_to_wait(
    slow_game: tuple[CreatedGame, list[Player]],
) -> None:
    _, (ada, bo) = slow_game
    replies = [ada.send(DRAW) for _ in range(8)]
    assert [reply.status_code for reply in replies] == [409] * 6 + [429] * 2
    body = problem(replies[-1], 429, "RATE-1")
    assert 1 <= int(replies[-1].headers["retry-after"]) <= 10
    assert body["retry_after"] == int(replies[-1].headers["retry-after"])
    assert bo.send(DRAW).status_code == 409, "another seat isn't slowed"
    with Socket(ada.http, ada.game, ada.token, 3) as socket:
        socket.send("a", DRAW)
        messages = [socket.next() for _ in range(8)]
        assert [m["problem"]["rule"] for m in messages if m["type"] == "problem"] == ["RATE-1"]


@pytest.mark.long
def test_RATE_1_a_flood_of_system_commands_is_slowed_too(
    slow: httpx.Client, slow_game: tuple[CreatedGame, list[Player]]
) -> None:
    created, _ = slow_game
    creations = [slow.post("/v1/games", json={"seats": [{}, {}]}) for _ in range(8)]
    assert creations[-1].status_code == 429
    problem(slow.post("/v1/games", json={"seats": [{}, {}]}), 429, "RATE-1")
    problem(slow.post(f"/v1/games/{created.game}/join", json={"name": "Cy"}), 429, "RATE-1")
    starts = [slow.post(f"/v1/games/{created.game}/start", headers=bearer(created.host)) for _ in range(8)]
    assert [reply.status_code for reply in starts[:2]] == [200, 409]
    problem(starts[-1], 429, "RATE-1")


def test_RATE_1_reading_is_not_slowed(
    slow: httpx.Client, slow_game: tuple[CreatedGame, list[Player]]
) -> None:
    game = slow_game[0].game
    assert {slow.get(f"/v1/games/{game}/view").status_code for _ in range(30)} == {200}


def test_RATE_1_reading_games_that_the_engine_no_longer_has_is_limited(slow: httpx.Client) -> None:
    """Each request may read a file of the archive, over HTTP and WebSocket."""
    replies, slow = [], from_address(slow, "127.0.0.3")
    for _ in range(4):
        replies += [slow.get("/v1/games/gone/view"), slow.post("/v1/games/gone/commands", json=DRAW)]
    assert [reply.status_code for reply in replies] == [404] * 6 + [429] * 2
    problem(replies[-1], 429, "RATE-1")
    with Socket(slow, "gone", source_address=("127.0.0.3", 0)) as socket:
        assert socket.next()["problem"]["rule"] == "RATE-1"
        assert closed_why(socket)[0] == 1008
