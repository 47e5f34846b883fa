"""Suggestions over HTTP: for the seat itself while its game is played, for everybody once it is over."""

from __future__ import annotations

from collections.abc import Callable
from concurrent.futures import Future, ThreadPoolExecutor
from threading import Event, Semaphore

import httpx
import pytest

from schemas.commands import Leave
from services.gateway.models.table_models import Suggestions
from services.runtime.executors import FairThreadPool
from services.tables.table_fold import FoldedTable
from tests.gateway.clients import ANSWER_S, Json, Player, bearer, begun, in_turn, over, problem

SHORT = {"last_cars": 40}  # so that games that are played out end soon


@pytest.fixture(scope="module")
def players(http: httpx.Client) -> list[Player]:
    """Two people; seat 0 is to act."""
    return in_turn(http, options=SHORT)


def ask(player: Player, token: str | None = None, **params: object) -> httpx.Response:
    return player.http.get(
        f"/v1/games/{player.game}/suggestions",
        params={name: str(value) for name, value in params.items()},
        headers=bearer(player.token if token is None else token or None),
    )


def test_a_seat_is_shown_what_it_might_do_and_why(players: list[Player]) -> None:
    ada, bo = players
    answer: Json = ask(ada).json()
    ada.look()
    assert (answer["seat"], answer["number"]) == (0, ada.number)
    assert answer == ask(ada).json(), "asked twice, it is the same"
    legal = ada.http.get(f"/v1/games/{ada.game}/legal", headers=bearer(ada.token)).json()["commands"]
    assert all(each["command"] in [one["command"] for one in legal] for each in answer["commands"])
    best = answer["commands"][0]
    assert best["games"] > 0 and best["points"] is not None
    assert best["why"].startswith("You end with about ") and best["text"]
    assert ask(bo).json()["commands"] == [], "it isn't its turn"


def test_TOKEN_1_while_a_game_is_played_a_seat_asks_for_itself_alone(players: list[Player]) -> None:
    ada, bo = players
    problem(ask(ada, token=""), 401, "TOKEN-1")
    problem(ask(bo, seat=0), 403, "TOKEN-1")
    problem(ask(ada, token="", seat=0), 403, "TOKEN-1")


def test_SUGGEST_1_a_table_may_be_made_without_suggestions(http: httpx.Client) -> None:
    ada, bo = begun(http, suggestions=False)
    problem(ask(ada), 403, "SUGGEST-1")
    for player in (ada, bo):
        player.do(Leave())
    assert ask(ada, at=1).status_code == 200, "the game is over"


def test_once_a_game_is_over_everybody_may_ask_for_any_seat(http: httpx.Client) -> None:
    game, last = over(http)
    watcher = Player(http, game, -1, "")
    answers = [ask(watcher, token="", seat=seat, at=last - 1).json()["commands"] for seat in (0, 1)]
    assert sorted(map(bool, answers)) == [False, True], "one of them made the last move"
    assert ask(watcher, token="", seat=0).json()["commands"] == []
    problem(ask(watcher, token="", seat=7, at=3), 404, "SHAPE-1")
    problem(ask(watcher, token="", seat=0, at=last + 1), 422, "SHAPE-1", "at")


def test_who_asks_for_many_suggestions_waits_for_who_asks_for_one(
    http: httpx.Client, players: list[Player], monkeypatch: pytest.MonkeyPatch
) -> None:
    ada, _ = players
    eve, _ = in_turn(http, options=SHORT)
    asked, begun, go_on, order = Semaphore(0), Event(), Event(), list[str]()
    submit, suggest = FairThreadPool.submit, FoldedTable.suggestions

    def noted(pool: FairThreadPool, asker: str, call: Callable[[], object]) -> Future[object]:
        future = submit(pool, asker, call)
        if isinstance(getattr(call, "__self__", None), FoldedTable):
            asked.release()
        return future

    def held(fold: FoldedTable) -> Suggestions | None:
        order.append(fold.game)
        begun.set()
        assert go_on.wait(ANSWER_S)
        return suggest(fold)

    monkeypatch.setattr(FairThreadPool, "submit", noted)
    monkeypatch.setattr(FoldedTable, "suggestions", held)
    transport = httpx.HTTPTransport(local_address="127.0.0.2")
    with (
        ThreadPoolExecutor(7) as callers,
        httpx.Client(base_url=http.base_url, transport=transport, timeout=ANSWER_S) as elsewhere,
    ):
        answers = [callers.submit(ask, eve) for _ in range(6)]
        assert begun.wait(ANSWER_S)
        answers.append(callers.submit(ask, Player(elsewhere, ada.game, 0, ada.token)))
        for _ in answers:
            assert asked.acquire(timeout=ANSWER_S)
        go_on.set()
        assert [each.result(ANSWER_S).status_code for each in answers] == [200] * 7
    assert order == [eve.game, ada.game, *[eve.game] * 5]
