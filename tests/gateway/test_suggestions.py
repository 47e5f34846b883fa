"""Suggestions over HTTP: for the seat itself while its game is played, for everybody once it is over."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator
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


def judged(player: Player, place: int, **params: object) -> httpx.Response:
    path = f"/v1/games/{player.game}/choices/{place}"
    return player.http.get(path, params={name: str(value) for name, value in params.items()})


def test_P5_choices_are_judged_when_the_game_is_over_and_not_before(players: list[Player]) -> None:
    problem(judged(players[0], 0, seat=0), 409, "GAME-7")


@pytest.mark.long
def test_each_choice_of_a_finished_game_is_set_against_what_a_bot_would_have_done(http: httpx.Client) -> None:
    # given
    game, _ = over(http)
    watcher = Player(http, game, -1, "")
    while http.get(f"/v1/games/{game}/file").status_code == 503:
        time.sleep(0.2)
    view = http.get(f"/v1/games/{game}/replays", params={"as": "1"}).json()["moves"]
    # when
    first: Json = judged(watcher, 0, seat=1).json()
    answers = [first] + [judged(watcher, n, seat=1).json() for n in range(1, first["choices"])]
    # then
    assert [each["place"] for each in answers] == list(range(len(answers)))
    own = {move["number"] for move in view if move["seat"] == 1}
    assert {each["number"] + 1 for each in answers} <= own
    assert first["done"]["command"]["type"] == "keep_tickets" and first["forks"]
    costs = [each["cost"] for each in answers if each["cost"] is not None]
    assert max(costs) > 3, "the bot random has lost points somewhere"
    assert all(each["best"] is not None for each in answers if each["cost"])
    assert first == judged(watcher, 0, seat=1).json(), "asked twice, it is the same"
    problem(judged(watcher, first["choices"], seat=1), 404, "SHAPE-1")
    problem(judged(watcher, 0, seat=7), 404, "SHAPE-1")


@pytest.fixture
def elsewhere(http: httpx.Client) -> Iterator[httpx.Client]:
    """A client of another address."""
    transport = httpx.HTTPTransport(local_address="127.0.0.2")
    with httpx.Client(base_url=http.base_url, transport=transport, timeout=ANSWER_S) as client:
        yield client


@pytest.mark.long
def test_who_asks_for_many_suggestions_waits_for_who_asks_for_one(
    http: httpx.Client, elsewhere: httpx.Client, players: list[Player], monkeypatch: pytest.MonkeyPatch
) -> None:
    ada, _ = players
    eve, _ = in_turn(http, options=SHORT)
    asked, begun, go_on, order = Semaphore(0), Event(), Event(), list[str]()
    submit, suggest = FairThreadPool.submit, FoldedTable.suggestions
    found = dict[str, Suggestions | None]()  # by game: who thinks first is the point, not what of

    def noted(pool: FairThreadPool, asker: str, call: Callable[[], object]) -> Future[object]:
        future = submit(pool, asker, call)
        if isinstance(getattr(call, "__self__", None), FoldedTable):
            asked.release()
        return future

    def held(fold: FoldedTable) -> Suggestions | None:
        order.append(fold.game)
        begun.set()
        assert go_on.wait(ANSWER_S)
        if fold.game not in found:
            found[fold.game] = suggest(fold)
        return found[fold.game]

    monkeypatch.setattr(FairThreadPool, "submit", noted)
    monkeypatch.setattr(FoldedTable, "suggestions", held)
    # however busy the machine is
    monkeypatch.setattr("services.gateway.tables.table_folds.MAX_WAIT_S", ANSWER_S)
    with ThreadPoolExecutor(7) as callers:
        answers = [callers.submit(ask, eve) for _ in range(6)]
        assert begun.wait(ANSWER_S)
        answers.append(callers.submit(ask, Player(elsewhere, ada.game, 0, ada.token)))
        for _ in answers:
            assert asked.acquire(timeout=ANSWER_S)
        go_on.set()
        assert [each.result(ANSWER_S).status_code for each in answers] == [200] * 7
    assert order == [eve.game, ada.game, *[eve.game] * 5]


@pytest.mark.long
def test_who_has_many_choices_analysed_at_once_waits_for_who_has_one(
    http: httpx.Client, elsewhere: httpx.Client, monkeypatch: pytest.MonkeyPatch
) -> None:
    # given
    game, _ = over(http)
    while http.get(f"/v1/games/{game}/file").status_code == 503:
        time.sleep(0.2)
    asked, begun, go_on, order = Semaphore(0), Event(), Event(), list[str]()
    submit, judge = FairThreadPool.submit, FoldedTable.judge
    found = list[object]()  # they all ask the same: who is judged first is the point, not how

    def noted(pool: FairThreadPool, asker: str, call: Callable[[], object]) -> Future[object]:
        def held() -> object:
            order.append(asker)
            begun.set()
            assert go_on.wait(ANSWER_S)
            found.extend([] if found else [call()])
            return found[0]

        if getattr(getattr(call, "func", None), "__func__", None) is not judge:
            return submit(pool, asker, call)
        asked.release()
        return submit(pool, asker, held)

    monkeypatch.setattr(FairThreadPool, "submit", noted)
    monkeypatch.setattr("services.gateway.tables.table_folds.MAX_WAIT_S", ANSWER_S)
    with ThreadPoolExecutor(9) as callers:
        # when
        answers = [callers.submit(judged, Player(http, game, -1, ""), 0, seat=1) for _ in range(8)]
        assert begun.wait(ANSWER_S)
        answers.append(callers.submit(judged, Player(elsewhere, game, -1, ""), 0, seat=1))
        for _ in answers:
            assert asked.acquire(timeout=ANSWER_S)
        go_on.set()
        assert [each.result(ANSWER_S).status_code for each in answers] == [200] * 9
    # then
    assert order == ["127.0.0.1", "127.0.0.2", *["127.0.0.1"] * 7]
