"""Forks at the door: who asks goes on by what it knew, its seat is its own, and bots play on."""

from __future__ import annotations

import time
from typing import Any

import httpx
import pytest

from schemas import tokens
from schemas.events import GameForked, SeatTaken
from services.bootstrap.embedded import EmbeddedServer
from services.ledger import RedisLedger
from services.referee.rules import GameState, fold
from tests.gateway.clients import (
    Json,
    Laid,
    Player,
    bearer,
    begun,
    entries,
    in_turn,
    new_id,
    problem,
    read_events,
)


def ask_for(
    http: httpx.Client, game: str, body: Json, token: str | None = None, id_: str | None = None
) -> httpx.Response:
    headers = bearer(token) | {"Idempotency-Key": id_ or new_id()}
    return http.post(f"/games/{game}/forks", json=body, headers=headers)


def forked(http: httpx.Client, game: str, at: int, token: str | None = None, id_: str | None = None) -> Json:
    reply = ask_for(http, game, {"at": at}, token, id_)
    assert reply.status_code == 201, reply.text
    told: Json = reply.json()
    return told


def joined(http: httpx.Client, told: Json, name: str) -> Player:
    reply = http.post(f"/games/{told['game']}/join", json={"name": name})
    assert reply.status_code == 200, reply.text
    return Player(http, told["game"], reply.json()["seat"], reply.json()["token"])


def start(http: httpx.Client, told: Json) -> None:
    reply = http.post(f"/games/{told['game']}/start", headers=bearer(told["token"]))
    assert reply.status_code == 200, reply.text


def over(http: httpx.Client) -> tuple[str, int]:
    """A game of bots that is over, and the number of its last entry."""
    laid = Laid(http, "greedy", "random", options={"last_cars": 35, "cars": 45})
    laid.start()
    return laid.game, ended(http, laid.game)


def ended(http: httpx.Client, game: str) -> int:
    late = time.monotonic() + 60
    while time.monotonic() < late:
        view = entries(http, game, None)
        if any(event["type"] == "game_ended" for event in view[-1]["events"]):
            return int(view[-1]["number"])
        time.sleep(0.05)
    raise AssertionError("the game doesn't end")


def hand(table: GameState, seat: int) -> dict[Any, int]:
    return {card: count for card, count in table.seats[seat].hand.items() if count}


# -- while the other game goes on ---------------------------------------------------------------


def test_who_asks_with_a_seat_s_token_sees_its_own_hand_and_the_others_are_dealt_afresh(
    http: httpx.Client, ledger: RedisLedger
) -> None:
    ada, bo = in_turn(http)
    ada.look()
    told = forked(http, ada.game, ada.number, ada.token)
    assert (told["of"], told["at"], told["afresh"], told["seat"]) == (ada.game, ada.number, True, 0)
    assert told["taken"] == [{"seat": 0, "name": "Ada", "policy": None}]
    again = Player(http, told["game"], 0, told["seat_token"])
    other = joined(http, told, "Cy")
    assert other.seat == 1
    start(http, told)
    assert hand(again.look(), 0) == hand(ada.look(), 0)
    assert again.look().seats[0].tickets == ada.look().seats[0].tickets
    assert again.look().market == ada.look().market
    assert again.look().turn == ada.look().turn
    there, here = fold(ledger.read_entries(ada.game)), fold(ledger.read_entries(told["game"]))
    assert here.deck != there.deck
    assert hand(other.look(), 1) == hand(here, 1)
    assert sum(hand(here, 1).values()) == sum(hand(bo.look(), 1).values())
    assert again.do(again.legal()[0])["number"] == 4


def test_who_asks_without_a_token_goes_on_by_what_everybody_knows(http: httpx.Client) -> None:
    ada, _ = in_turn(http)
    ada.look()
    told = forked(http, ada.game, ada.number)
    assert told["afresh"]
    assert told["taken"] == []
    assert not {"seat", "seat_token"} & told.keys()


def test_the_fork_tells_everybody_where_it_comes_from(http: httpx.Client) -> None:
    ada, _ = in_turn(http)
    ada.look()
    told = forked(http, ada.game, ada.number, ada.token)
    events = read_events(entries(http, told["game"], None)[0])
    assert GameForked(ada.game, ada.number, 0, True) in events
    assert [event.name for event in events if isinstance(event, SeatTaken)] == ["Ada"]


def test_nothing_of_the_other_game_changes(http: httpx.Client, unchanged: Any) -> None:
    ada, _ = in_turn(http)
    ada.look()
    with unchanged(ada.game):
        forked(http, ada.game, ada.number, ada.token)


# -- when it is over ------------------------------------------------------------------------------


def test_a_fork_of_a_game_that_is_over_lies_as_it_lay_and_bots_play_it_to_its_end(
    http: httpx.Client, ledger: RedisLedger
) -> None:
    game, last = over(http)
    told = forked(http, game, last // 2)
    assert not told["afresh"]
    assert [seat["policy"] for seat in told["taken"]] == ["greedy", "random"]
    there, here = fold(ledger.read_entries(game)[: last // 2]), fold(ledger.read_entries(told["game"]))
    assert (here.deck, here.route_owners, here.market) == (there.deck, there.route_owners, there.market)
    assert [hand(here, seat) for seat in (0, 1)] == [hand(there, seat) for seat in (0, 1)]
    start(http, told)
    assert ended(http, told["game"]) > 2
    further = forked(http, told["game"], 2)
    assert (further["of"], further["afresh"]) == (told["game"], False)


# -- once, and by whom ------------------------------------------------------------------------------


def test_the_same_id_again_gives_the_same_game_and_tokens(http: httpx.Client) -> None:
    ada, bo = in_turn(http)
    ada.look()
    id_ = new_id()
    told = forked(http, ada.game, ada.number, ada.token, id_)
    assert forked(http, ada.game, ada.number, ada.token, id_) == told
    problem(ask_for(http, ada.game, {"at": ada.number}, bo.token, id_), 422, "SHAPE-1", "Idempotency-Key")


def test_the_id_of_a_creation_is_no_fork_s(http: httpx.Client) -> None:
    ada, _ = in_turn(http)
    ada.look()
    id_ = new_id()
    seats = [{"kind": "human"}, {"kind": "human"}]
    assert http.post("/games", json={"seats": seats}, headers={"Idempotency-Key": id_}).status_code == 201
    problem(ask_for(http, ada.game, {"at": ada.number}, None, id_), 422, "SHAPE-1", "Idempotency-Key")


def test_a_token_of_another_game_asks_for_nothing(http: httpx.Client, home: EmbeddedServer) -> None:
    (ada, _), (other, _) = begun(http), begun(http)
    problem(ask_for(http, ada.game, {"at": 4}, other.token), 403, "TOKEN-1")
    problem(ask_for(http, ada.game, {"at": 4}, "ll1.x.y"), 401, "TOKEN-1")
    host = tokens.mint(home.settings.token_key.get_secret_value().encode(), ada.game, None)
    assert "seat" not in forked(http, ada.game, 4, host)


@pytest.mark.parametrize(
    ("body", "field"),
    [
        ({}, "at"),
        ({"at": 0}, "at"),
        ({"at": "4"}, "at"),
        ({"at": 4, "asker": 1}, "asker"),
        ({"at": 4, "of": "other"}, "of"),
        ({"at": 4, "type": "fork_game"}, "type"),
        ({"at": 4, "seed": "mine"}, "seed"),
    ],
)
def test_a_wish_of_another_form_is_refused_by_its_field(http: httpx.Client, body: Json, field: str) -> None:
    ada, _ = begun(http)
    problem(ask_for(http, ada.game, body), 422, "SHAPE-1", field)


@pytest.mark.parametrize(("at", "why"), [(1, "hadn't started at entry 1"), (99, "has 4 entries")])
def test_an_entry_that_nothing_goes_on_from_is_told(http: httpx.Client, at: int, why: str) -> None:
    ada, _ = begun(http)
    told = ask_for(http, ada.game, {"at": at})
    problem(told, 422, "GAME-6")
    assert why in told.json()["detail"]


def test_there_is_no_fork_of_a_game_that_there_is_not(http: httpx.Client) -> None:
    problem(ask_for(http, "nowhere", {"at": 4}), 404, "GAME-1")


def test_the_facts_that_lay_a_fork_are_for_a_referee_alone_to_say(http: httpx.Client) -> None:
    fork = {"of": "abc", "at": 1, "asker": None, "afresh": False, "rules": 2, "facts": []}
    reply = http.post("/games", json={"seats": [{"kind": "human"}] * 2, "fork": fork})
    problem(reply, 422, "SHAPE-1", "fork")
