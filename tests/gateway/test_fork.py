"""Forks over HTTP: the asker goes on by what it knew and keeps its seat, and bots play on."""

from __future__ import annotations

from typing import Any

import httpx
import pytest

from schemas.events import GameForked, SeatTaken
from services.bootstrap.embedded import EmbeddedServer
from services.ledger import RedisLedger
from services.referee.games import RULESETS, GameState, fold
from services.referee.games.state import Ruleset
from tests.gateway.clients import (
    Json,
    Player,
    bearer,
    begun,
    ended,
    entries,
    in_turn,
    minted,
    new_id,
    over,
    problem,
    read_events,
)


def ask_for(
    http: httpx.Client, game: str, body: Json, token: str | None = None, id_: str | None = None
) -> httpx.Response:
    headers = bearer(token) | {"Idempotency-Key": id_ or new_id()}
    return http.post(f"/v1/games/{game}/forks", json=body, headers=headers)


def forked(http: httpx.Client, game: str, at: int, token: str | None = None, id_: str | None = None) -> Json:
    reply = ask_for(http, game, {"at": at}, token, id_)
    assert reply.status_code == 201, reply.text
    body: Json = reply.json()
    return body


def joined(http: httpx.Client, fork: Json, name: str) -> Player:
    reply = http.post(f"/v1/games/{fork['game']}/join", json={"name": name})
    assert reply.status_code == 200, reply.text
    return Player(http, fork["game"], reply.json()["seat"], reply.json()["token"])


def start(http: httpx.Client, fork: Json) -> None:
    reply = http.post(f"/v1/games/{fork['game']}/start", headers=bearer(fork["token"]))
    assert reply.status_code == 200, reply.text


def hand(state: GameState, seat: int) -> dict[Any, int]:
    return {card: count for card, count in state.seats[seat].own.hand.items() if count}


# -- while the other game goes on ---------------------------------------------------------------


def test_an_asker_with_a_seats_token_sees_its_own_hand_and_the_others_are_dealt_again(
    http: httpx.Client, ledger: RedisLedger
) -> None:
    ada, bo = in_turn(http)
    ada.look()
    fork = forked(http, ada.game, ada.number, ada.token)
    assert (fork["of"], fork["at"], fork["afresh"], fork["seat"]) == (ada.game, ada.number, True, 0)
    assert fork["taken"] == [{"seat": 0, "name": "Ada", "policy": None}]
    again = Player(http, fork["game"], 0, fork["seat_token"])
    other = joined(http, fork, "Cy")
    assert other.seat == 1
    start(http, fork)
    assert hand(again.look(), 0) == hand(ada.look(), 0)
    assert again.look().seats[0].own.tickets == ada.look().seats[0].own.tickets
    assert again.look().own.market == ada.look().own.market
    assert again.look().turn == ada.look().turn
    source, copy = fold(ledger.read_entries(ada.game)), fold(ledger.read_entries(fork["game"]))
    assert copy.own.deck != source.own.deck
    assert hand(other.look(), 1) == hand(copy, 1)
    assert sum(hand(copy, 1).values()) == sum(hand(bo.look(), 1).values())
    assert again.do(again.legal()[0])["number"] == 4


def test_a_fork_without_a_token_goes_on_by_what_is_public(http: httpx.Client) -> None:
    ada, _ = in_turn(http)
    ada.look()
    fork = forked(http, ada.game, ada.number)
    assert fork["afresh"]
    assert fork["taken"] == []
    assert not {"seat", "seat_token"} & fork.keys()


def test_the_fork_shows_everybody_its_source(http: httpx.Client) -> None:
    ada, _ = in_turn(http)
    ada.look()
    fork = forked(http, ada.game, ada.number, ada.token)
    events = read_events(entries(http, fork["game"], None)[0])
    assert GameForked(ada.game, ada.number, 0, True) in events
    assert [event.name for event in events if isinstance(event, SeatTaken)] == ["Ada"]


def test_nothing_of_the_other_game_changes(http: httpx.Client, unchanged: Any) -> None:
    ada, _ = in_turn(http)
    ada.look()
    with unchanged(ada.game):
        forked(http, ada.game, ada.number, ada.token)


# -- when it is over ------------------------------------------------------------------------------


def test_a_fork_of_a_game_that_is_over_keeps_its_cards_and_bots_play_it_to_its_end(
    http: httpx.Client, ledger: RedisLedger
) -> None:
    game, last = over(http)
    fork = forked(http, game, last // 2)
    assert not fork["afresh"]
    assert [seat["policy"] for seat in fork["taken"]] == ["greedy", "random"]
    source, copy = fold(ledger.read_entries(game)[: last // 2]), fold(ledger.read_entries(fork["game"]))
    assert (copy.own.deck, copy.own.route_owners, copy.own.market) == (
        source.own.deck,
        source.own.route_owners,
        source.own.market,
    )
    assert [hand(copy, seat) for seat in (0, 1)] == [hand(source, seat) for seat in (0, 1)]
    start(http, fork)
    assert ended(http, fork["game"]) > 2
    further = forked(http, fork["game"], 2)
    assert (further["of"], further["afresh"]) == (fork["game"], False)


# -- once, and by whom ------------------------------------------------------------------------------


def test_the_same_id_again_gives_the_same_game_and_tokens(http: httpx.Client) -> None:
    ada, bo = in_turn(http)
    ada.look()
    id_ = new_id()
    fork = forked(http, ada.game, ada.number, ada.token, id_)
    assert forked(http, ada.game, ada.number, ada.token, id_) == fork
    problem(ask_for(http, ada.game, {"at": ada.number}, bo.token, id_), 409, "ID-1")


def test_the_id_of_a_creation_is_refused_for_a_fork(http: httpx.Client) -> None:
    ada, _ = in_turn(http)
    ada.look()
    id_ = new_id()
    seats = [{"kind": "human"}, {"kind": "human"}]
    assert http.post("/v1/games", json={"seats": seats}, headers={"Idempotency-Key": id_}).status_code == 201
    problem(ask_for(http, ada.game, {"at": ada.number}, None, id_), 409, "ID-1")


def test_a_token_of_another_game_is_refused(http: httpx.Client, server: EmbeddedServer) -> None:
    (ada, _), (other, _) = begun(http), begun(http)
    problem(ask_for(http, ada.game, {"at": 4}, other.token), 403, "TOKEN-1")
    problem(ask_for(http, ada.game, {"at": 4}, "ll1.x.y"), 401, "TOKEN-1")
    host = minted(server.settings.token_key.get_secret_value().encode(), ada.game, None)
    assert "seat" not in forked(http, ada.game, 4, host)


@pytest.mark.parametrize(
    ("body", "field"),
    [
        ({}, "at"),
        ({"at": 0}, "at"),
        ({"at": 2**64}, "at"),  # which no message to the engine can hold
        ({"at": "4"}, "at"),
        ({"at": 4, "asker": 1}, "asker"),
        ({"at": 4, "of": "other"}, "of"),
        ({"at": 4, "type": "fork_game"}, "type"),
        ({"at": 4, "seed": "mine"}, "seed"),
    ],
)
def test_a_request_of_another_form_is_refused_by_its_field(
    http: httpx.Client, body: Json, field: str
) -> None:
    ada, _ = begun(http)
    problem(ask_for(http, ada.game, body), 422, "SHAPE-1", field)


@pytest.mark.parametrize(("at", "why"), [(1, "hadn't started at entry 1"), (99, "has 4 entries")])
def test_an_entry_that_no_game_can_go_on_from_is_refused_with_the_reason(
    http: httpx.Client, at: int, why: str
) -> None:
    ada, _ = begun(http)
    reply = ask_for(http, ada.game, {"at": at})
    problem(reply, 422, "GAME-6")
    assert why in reply.json()["detail"]


def test_an_unknown_game_has_no_fork(http: httpx.Client) -> None:
    problem(ask_for(http, "nowhere", {"at": 4}), 404, "GAME-1")


@pytest.mark.parametrize("rules", [each for each in RULESETS.values() if each.fork_command is None])
def test_GAME_6_a_game_whose_moments_cannot_be_laid_again_has_no_fork_and_goes_on(
    http: httpx.Client, rules: Ruleset
) -> None:
    ada, *_ = begun(http, rules.rule_options.seats_least, ruleset=rules.name)
    before = entries(http, ada.game, None)
    for token in (None, ada.token):
        reply = ask_for(http, ada.game, {"at": len(before)}, token)
        problem(reply, 422, "GAME-6")
        assert "can't be laid again" in reply.json()["detail"]
    assert entries(http, ada.game, None) == before


def test_only_a_referee_sets_the_events_of_a_fork(http: httpx.Client) -> None:
    fork = {"of": "abc", "at": 1, "asker": None, "afresh": False, "rules": 2, "facts": []}
    reply = http.post("/v1/games", json={"seats": [{"kind": "human"}] * 2, "fork": fork})
    problem(reply, 422, "SHAPE-1", "fork")
