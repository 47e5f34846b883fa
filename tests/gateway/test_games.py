"""The ordinary requests: create, join, start, play, read, and OpenAPI's pages."""

from __future__ import annotations

import random
import time
from typing import Any

import httpx
import pytest

from schemas.commands import POLICIES, TakeSeat, read_command
from schemas.events import GameEnded
from schemas.published_contracts import ALL_RULES
from schemas.stored.entries import write_view_entry
from schemas.stored.player_names import with_names
from schemas.trains.commands import ClaimRoute
from services.gateway.games.authorization import FIELD
from services.ledger import RedisLedger
from services.ledger.engine import keys
from services.referee.games import RULESETS, GameState, fold, fold_events
from services.referee.games.trains import board
from tests.gateway.clients import (
    DRAW,
    CreatedGame,
    Player,
    bearer,
    entries,
    in_turn,
    listed_games,
    new_id,
    numbers,
    problem,
    read_events,
    seated,
)  # fmt: skip


def test_a_game_of_humans_and_bots_is_created_joined_and_started(http: httpx.Client) -> None:
    created = CreatedGame(http, "human", "random", "human", seed="friday", options={"clock_ms": 600_000})
    assert created.reply["number"] == 1
    assert created.reply["taken"] == [{"seat": 1, "name": "random 2", "policy": "random"}]
    ada, bo = created.join("Ada", 2), created.join("Bo")
    assert (ada.seat, bo.seat) == (2, 0)
    created.start()
    for player in (ada, bo):
        player.do(player.legal()[-1])
    until = time.monotonic() + 60
    while bo.look().turn is None:
        assert time.monotonic() < until, "the bot never chose"
    assert [seat.name for seat in bo.state.seats] == ["Bo", "random 2", "Ada"]
    assert bo.state.rule_options.clock_ms == 600_000


def test_a_bot_plays_when_it_is_its_turn(http: httpx.Client) -> None:
    created = CreatedGame(http, "human", "greedy")
    ada = created.join("Ada")
    created.start()
    ada.do(ada.legal()[0])
    rounds = 0
    until = time.monotonic() + 60
    while rounds < 3:
        assert time.monotonic() < until, "the bot never moved"
        if commands := ada.legal():
            ada.do(commands[0])
            rounds += 1
    event_types = {event["type"] for entry in entries(http, ada.game, None) for event in entry["events"]}
    assert "turn_started" in event_types


def test_any_seat_may_start_the_game(http: httpx.Client) -> None:
    players = seated(http)
    reply = http.post(f"/v1/games/{players[1].game}/start", headers=bearer(players[1].token))
    assert reply.status_code == 200
    head = entries(http, players[1].game, None)[-1]["head"]
    assert reply.json() == {"game": players[1].game, "number": 4, "level": "decided", "head": head}


def test_a_command_is_answered_with_its_entry_as_the_seat_sees_it(http: httpx.Client) -> None:
    ada, _ = in_turn(http)
    reply = ada.send(DRAW, "my-own-id")
    assert reply.status_code == 200
    body = reply.json()
    assert (body["id"], body["verdict"]) == ("my-own-id", "accepted")
    assert (body["level"], body["number"]) == ("decided", body["entry"]["number"])
    assert body["entry"]["answers"] == "my-own-id"
    assert body["entry"] == entries(http, ada.game, ada.token)[-1]
    assert body["entry"]["events"][0]["card"] is not None


def test_a_client_that_does_not_wait_gets_no_verdict_and_reads_it_later(http: httpx.Client) -> None:
    ada, _ = in_turn(http)
    reply = ada.send(DRAW, "later", Prefer="respond-async")
    assert reply.status_code == 202
    body = reply.json()
    assert (body["id"], body["verdict"], body["level"]) == ("later", "unknown", "accepted")
    assert ada.send(DRAW, "later").json()["entry"]["answers"] == "later"


def test_a_view_is_read_in_pages(http: httpx.Client) -> None:
    ada, _ = in_turn(http)
    whole = entries(http, ada.game, ada.token)
    assert numbers(whole) == list(range(1, 7))
    page = http.get(
        f"/v1/games/{ada.game}/view", params={"after": 1, "most": 2}, headers=bearer(ada.token)
    ).json()
    assert page == {"game": ada.game, "viewer": 0, "entries": whole[1:3], "next": 3, "more": True}
    last = http.get(f"/v1/games/{ada.game}/view", params={"after": 3, "most": 3}).json()
    assert (last["viewer"], last["next"], last["more"]) == ("public", 6, False)
    beyond = http.get(f"/v1/games/{ada.game}/view", params={"after": 10**30}).json()
    assert (beyond["entries"], beyond["next"], beyond["more"]) == ([], 6, False)


def test_the_gateway_sends_what_the_ledger_shows(http: httpx.Client, ledger: RedisLedger) -> None:
    ada, bo = in_turn(http)
    for viewer, token in ((None, None), (0, ada.token), (1, bo.token)):
        names = ledger.read_names(ada.game)
        shown = [write_view_entry(with_names(entry, names)) for entry in ledger.read_view(ada.game, viewer)]
        assert entries(http, ada.game, token) == shown


def test_the_latest_games_come_first(http: httpx.Client) -> None:
    games = [CreatedGame(http, "human", "human", visibility="public").game for _ in range(3)]
    time.sleep(0.002)  # games of one millisecond have no order
    latest = CreatedGame(http, "human", "human", visibility="public").game
    found = listed_games(http)
    assert found[0] == latest
    assert set(games) <= set(found)
    assert listed_games(http, most=1) == [latest]


def test_P8_a_list_says_which_games_it_lacks(http: httpx.Client, store: Any, ledger: RedisLedger) -> None:
    there, lost = (CreatedGame(http, "human", "human", visibility="public").game for _ in range(2))
    while ledger.partition_of(lost) == ledger.partition_of(there):
        lost = CreatedGame(http, "human", "human", visibility="public").game
    name = keys.games(ledger.partition_of(lost))
    store.rename(name, "kept")
    store.set(name, "what?")
    try:
        found = http.get("/v1/games").json()
    finally:
        store.rename("kept", name)
    listed = [each["game"] for each in found["games"]]
    assert there in listed and lost not in listed
    assert found["missing"] == f"the games of 1 of {ledger.partitions} partitions, which can't be read now"
    assert "missing" not in http.get("/v1/games").json()


def test_health_and_rules_answer(http: httpx.Client) -> None:
    reply = http.get("/health")
    assert (reply.status_code, reply.json()) == (200, {"status": "ok"})
    for rule, text in ALL_RULES.items():
        assert http.get(f"/rules/{rule}").json()["text"] == text
    problem(http.get("/rules/ROUTE-99"), 404, "SHAPE-1")


def test_the_type_of_a_problem_leads_to_its_rule(http: httpx.Client) -> None:
    _, bo = in_turn(http)
    body = problem(bo.send(DRAW), 409, "TURN-1")
    assert http.get(body["type"]).json()["text"] == body["title"]


def play_to_the_end(players: list[Player], rng: random.Random) -> int:
    """Play random legal moves, computed from each seat's own view; returns their number."""
    for moves in range(2_000):
        able = [(player, commands) for player in players if (commands := player.legal())]
        if not able:
            return moves
        player, commands = able[0]
        claims = [command for command in commands if isinstance(command, ClaimRoute)]
        before = player.number
        entry = player.do(rng.choice(claims or commands))
        player.look()
        assert entry["number"] == before + 1 == player.number
    raise AssertionError("the game doesn't end")


def test_a_whole_game_of_two_is_played_over_http(http: httpx.Client, ledger: RedisLedger) -> None:
    players = begun_with_seed(http, "gateway")
    assert play_to_the_end(players, random.Random(7)) > 50
    log = ledger.read_entries(players[0].game)
    truth = fold(log)
    assert truth.result is not None
    assert truth.result.reason == "last turns"
    public = GameState()
    for entry in entries(http, players[0].game, None):
        fold_events(public, entry["at"], read_events(entry))
    for seen in (public, *(player.look() for player in players)):
        assert seen.result == truth.result
        assert seen.own.route_owners == truth.own.route_owners
    (ended,) = [
        event
        for event in read_events(entries(http, players[0].game, None)[-1])
        if isinstance(event, GameEnded)
    ]
    assert ended == truth.result
    problem(players[0].send(DRAW), 409, "GAME-3")


def begun_with_seed(http: httpx.Client, seed: str) -> list[Player]:
    created = CreatedGame(http, "human", "human", seed=seed, options={"cars": 20})
    players = [created.join("Ada"), created.join("Bo")]
    created.start()
    return players


def test_a_named_seed_is_not_the_only_randomness_where_people_sit_and_the_public_view_shows_it(
    http: httpx.Client,
) -> None:
    """tests/security/test_named_seeds.py has what games of bots alone get."""
    one, two = (begun_with_seed(http, "twice")[0] for _ in range(2))
    sealed, other = (entries(http, player.game, None)[0]["events"][1] for player in (one, two))
    assert (sealed["given"], other["given"]) == (False, False)
    assert sealed["commitment"] != other["commitment"]
    assert (
        one.look().own.market != two.look().own.market
        or one.look().seats[0].own.hand != two.look().seats[0].own.hand
    )


# -- the OpenAPI page ----------------------------------------------------------------


def test_the_page_shows_every_request(http: httpx.Client) -> None:
    page = http.get("/openapi.json").json()
    assert {(path, verb) for path, verbs in page["paths"].items() for verb in verbs} >= {
        ("/v1/games", "post"), ("/v1/games", "get"), ("/v1/games/{game}/join", "post"), ("/v1/games/{game}/start", "post"),
        ("/v1/games/{game}/commands", "post"), ("/v1/games/{game}/view", "get"), ("/health", "get"),
        ("/rules/{rule}", "get"),
    }  # fmt: skip
    assert "openapi.json" in http.get("/docs").text


@pytest.mark.parametrize("path", ["/v1/games", "/v1/games/{game}/join", "/v1/games/{game}/commands"])
def test_the_pages_examples_are_accepted_by_the_contracts(http: httpx.Client, path: str) -> None:
    content = http.get("/openapi.json").json()["paths"][path]["post"]["requestBody"]["content"]
    examples = [example["value"] for example in content["application/json"]["examples"].values()]
    assert examples
    for value in examples:
        if path == "/v1/games":
            read_command({**value, "type": "create_game"})
            reply = http.post("/v1/games", json=value)
            assert reply.status_code == 201, reply.text
        elif path.endswith("join"):
            invited = value.pop(FIELD, None) is not None
            read_command({**value, "type": TakeSeat.type})
            created = CreatedGame(http, "human", "human", by_invitation=invited)
            if invited:
                value[FIELD] = created.reply["invitations"][0]["invitation"]
            assert http.post(f"/v1/games/{created.game}/join", json=value).status_code == 200
        else:
            read_command(value, players_only=True)


def test_the_pages_example_of_a_route_is_on_the_board(http: httpx.Client) -> None:
    content = http.get("/openapi.json").json()["paths"]["/v1/games/{game}/commands"]["post"]["requestBody"][
        "content"
    ]
    example = content["application/json"]["examples"]["claim_route"]["value"]
    route = board.load_board("usa").routes[example["route"]]
    assert sum(example["cards"].values()) == route.length


def test_the_pages_problems_are_what_the_gateway_answers(http: httpx.Client) -> None:
    page = http.get("/openapi.json").json()
    responses = page["paths"]["/v1/games/{game}/commands"]["post"]["responses"]
    for status in ("401", "404", "409", "422", "429"):
        example = responses[status]["content"]["application/problem+json"]["example"]
        assert example["status"] == int(status)
        assert example["title"] == ALL_RULES[example["rule"]]
        assert example["type"] == f"/rules/{example['rule']}"


def test_every_policy_and_ruleset_that_is_offered_can_be_created(http: httpx.Client) -> None:
    for ruleset, rules in RULESETS.items():
        people = [{"kind": "human"}] * (rules.rule_options.seats_least - 1)
        for policy in POLICIES:
            body = {"ruleset": ruleset, "seats": [{"kind": "bot", "policy": policy}, *people]}
            reply = http.post("/v1/games", json=body, headers={"Idempotency-Key": new_id()})
            assert reply.status_code == (201 if policy in rules.bot_policies else 422), reply.text
