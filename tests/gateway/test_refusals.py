"""What the referee refuses, as it comes back over the web; and floods."""

from __future__ import annotations

from collections.abc import Iterator

import httpx
import pytest

from schemas.codec import unpack_entry
from schemas.commands import DrawBlind
from services.bootstrap.embedded import run_embedded_server
from services.ledger import RedisLedger
from services.runtime.settings import read_settings
from tests.gateway.clients import (
    DRAW,
    LEAVE,
    Laid,
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


def test_TURN_1_out_of_turn_is_refused_and_kept_for_its_seat_alone(
    http: httpx.Client, ledger: RedisLedger, unchanged: Unchanged
) -> None:
    ada, bo = in_turn(http)
    with unchanged(ada.game, 1):
        told = problem(bo.send(DRAW, "too-soon"), 409, "TURN-1")
    assert (told["id"], told["number"]) == ("too-soon", 7)
    kept = unpack_entry(ledger.read_entries(ada.game)[-1])
    assert (kept.id, kept.seat, kept.command) == ("too-soon", 1, DrawBlind())
    assert kept.refusal is not None
    own = entries(http, bo.game, bo.token)[-1]
    assert own["answers"] == "too-soon"
    (event,) = own["events"]
    assert (event["type"], event["seat"], event["rule"]) == ("command_refused", 1, "TURN-1")
    assert event["why"] == told["detail"]
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
            told = problem(player.send(DRAW, "too-late"), 409, "GAME-3")
            assert told["id"] == "too-late"
            problem(player.send(LEAVE), 409, "GAME-3")
        problem(http.post(f"/games/{ada.game}/join", json={"name": "Cy"}), 409, "GAME-3")
        problem(http.post(f"/games/{ada.game}/start", headers=bearer(ada.token)), 409, "GAME-3")
    assert entries(http, ada.game, None)[-1]["events"][-1]["type"] == "game_ended"


def test_GAME_4_a_taken_seat_is_not_free(http: httpx.Client, unchanged: Unchanged) -> None:
    laid = Laid(http, "human", "random", "human")
    laid.join("Ada", 0)
    with unchanged(laid.game, 4):
        for seat in (0, 1, 5):
            reply = http.post(f"/games/{laid.game}/join", json={"name": "Bo", "seat": seat})
            problem(reply, 409, "GAME-4")
        problem(http.post(f"/games/{laid.game}/join", json={"name": "Ada"}), 409, "GAME-4")
    laid.join("Bo")
    problem(http.post(f"/games/{laid.game}/join", json={"name": "Cy"}), 409, "GAME-4")


def test_GAME_5_a_game_starts_once_and_when_all_sit(http: httpx.Client, unchanged: Unchanged) -> None:
    laid = Laid(http, "human", "human")
    laid.join("Ada")
    start = f"/games/{laid.game}/start"
    with unchanged(laid.game, 1):
        problem(http.post(start, headers=bearer(laid.host)), 409, "GAME-5")
    laid.join("Bo")
    laid.start()
    with unchanged(laid.game, 1):
        problem(http.post(start, headers=bearer(laid.host)), 409, "GAME-5")


def test_CONDUCT_1_a_flood_of_refusals_is_counted_and_not_kept(
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
    """Else a seat that blundered too often in its own turn could never end it."""
    ada, _ = in_turn(http, options={"refusals_kept": 3})
    for _ in range(3):
        problem(ada.send({"type": "pass"}), 409, "TURN-4")
    problem(ada.send({"type": "pass"}), 429, "RATE-1")
    assert [ada.send(DRAW).status_code for _ in range(2)] == [200, 200]


def test_GAME_4_refused_joins_keep_nobody_else_out(http: httpx.Client) -> None:
    """Joining needs no token: a stranger's bad joins must not close the table."""
    laid = Laid(http, "human", "human", options={"refusals_kept": 2})
    laid.join("Ada")
    for _ in range(4):
        assert http.post(f"/games/{laid.game}/join", json={"name": "Ada"}).is_error
    laid.join("Bo")
    laid.start()


# -- floods --------------------------------------------------------------------------


@pytest.fixture(scope="module")
def slow(tmp_path_factory: pytest.TempPathFactory) -> Iterator[httpx.Client]:
    """A house that takes six commands at once, and then one in ten seconds."""
    settings = read_settings(port=0, rate=0.1, burst=6)
    with (
        run_embedded_server(tmp_path_factory.mktemp("slow"), settings) as running,
        httpx.Client(base_url=running.url, timeout=20, trust_env=False) as client,
    ):
        yield client


@pytest.fixture(scope="module")
def slow_game(slow: httpx.Client) -> tuple[Laid, list[Player]]:
    laid = Laid(slow, "human", "human")
    return laid, [laid.join("Ada"), laid.join("Bo")]


def test_RATE_1_a_flood_is_slowed_and_says_when_to_come_back(slow_game: tuple[Laid, list[Player]]) -> None:
    _, (ada, bo) = slow_game
    replies = [ada.send(DRAW) for _ in range(8)]
    assert [reply.status_code for reply in replies] == [409] * 6 + [429] * 2
    told = problem(replies[-1], 429, "RATE-1")
    assert 1 <= int(replies[-1].headers["retry-after"]) <= 10
    assert told["retry_after"] == int(replies[-1].headers["retry-after"])
    assert bo.send(DRAW).status_code == 409, "another seat isn't slowed"
    with Socket(ada.http, ada.game, ada.token, 3) as socket:
        socket.send("a", DRAW)
        messages = [socket.next() for _ in range(8)]
        assert [m["problem"]["rule"] for m in messages if m["type"] == "problem"] == ["RATE-1"]


def test_RATE_1_the_house_is_not_flooded_either(
    slow: httpx.Client, slow_game: tuple[Laid, list[Player]]
) -> None:
    laid, _ = slow_game
    created = [slow.post("/games", json={"seats": [{}, {}]}) for _ in range(8)]
    assert created[-1].status_code == 429
    problem(slow.post("/games", json={"seats": [{}, {}]}), 429, "RATE-1")
    problem(slow.post(f"/games/{laid.game}/join", json={"name": "Cy"}), 429, "RATE-1")
    starts = [slow.post(f"/games/{laid.game}/start", headers=bearer(laid.host)) for _ in range(8)]
    assert [reply.status_code for reply in starts[:2]] == [200, 409]
    problem(starts[-1], 429, "RATE-1")


def test_RATE_1_who_only_looks_is_not_slowed(
    slow: httpx.Client, slow_game: tuple[Laid, list[Player]]
) -> None:
    game = slow_game[0].game
    assert {slow.get(f"/games/{game}/view").status_code for _ in range(30)} == {200}


def test_RATE_1_nobody_looks_for_games_that_have_left_without_end(slow: httpx.Client) -> None:
    """Each look may read a file of the archive, by whichever way it comes."""
    told = []
    for _ in range(4):
        told += [slow.get("/games/gone/view"), slow.post("/games/gone/commands", json=DRAW)]
    assert [reply.status_code for reply in told] == [404] * 6 + [429] * 2
    problem(told[-1], 429, "RATE-1")
    with Socket(slow, "gone") as socket:
        assert socket.next()["problem"]["rule"] == "RATE-1"
        assert closed_why(socket)[0] == 1008
