"""Bad input: each gets a clear problem, and the log stays as it was."""

from __future__ import annotations

import json
from collections.abc import Iterator
from typing import Any
from urllib.parse import quote

import httpx
import pytest

from schemas.stored.codec import MAX_ENVELOPE_BYTES
from services.gateway.web.request_parsing import MAX_BODY_BYTES, MAX_CREATION_BYTES
from services.ledger import RedisLedger
from tests.gateway.clients import (
    DRAW,
    CreatedGame,
    Json,
    Player,
    bearer,
    in_turn,
    plain_problem,
    problem,
    seated,
)
from tests.gateway.conftest import Unchanged

BODIES = {
    "nothing": b"",
    "cut off": b'{"type": "draw_blind"',
    "a word": b"draw_blind",
    "text": b'"draw_blind"',
    "a number": b"7",
    "a list": b'[{"type": "draw_blind"}]',
    "null": b"null",
    "NaN": b'{"type": "draw_market", "slot": NaN}',
    "Infinity": b'{"type": "draw_market", "slot": -Infinity}',
    "a number past all numbers": b'{"type": "draw_market", "slot": 1e999}',
    "deep lists": b"[" * 10_000,
    "closed deep lists": b"[" * 5_000 + b"]" * 5_000,
    "deep objects": b'{"a":' * 2_000 + b"1" + b"}" * 2_000,
    "quite deep lists": b'{"type": ' + b"[" * 600 + b"]" * 600 + b"}",
    "half a surrogate pair": b'{"type": "draw_blind", "\\ud800": 1}',
    "wrong UTF-8": b'{"type": "draw_\xff\xfe"}',
    "a number of 5,000 digits": b'{"type": ' + b"1" * 5_000 + b"}",
    "two values": b'{"type": "draw_blind"} {}',
    "zero bytes": b"\x00" * 40,
}


@pytest.fixture(scope="module")
def ada(http: httpx.Client) -> Player:
    return in_turn(http)[0]


@pytest.mark.parametrize("what", BODIES)
@pytest.mark.parametrize("path", ["", "/{game}/commands", "/{game}/join"])
def test_SHAPE_1_a_body_that_is_no_JSON_object(
    http: httpx.Client, ada: Player, ledger: RedisLedger, unchanged: Unchanged, path: str, what: str
) -> None:
    games = ledger.games()
    with unchanged(ada.game):
        url = "/v1/games" + path.format(game=ada.game)
        reply = http.post(url, content=BODIES[what], headers=bearer(ada.token))
        body = problem(reply, 422, "SHAPE-1", "body")
        assert len(body["detail"]) < 300
    assert ledger.games() == games


COMMANDS: list[tuple[Any, str]] = [
    ({}, "type"),
    ({"type": "fly"}, "type"),
    ({"type": 4}, "type"),
    ({"type": None}, "type"),
    ({"type": ["draw_blind"]}, "type"),
    ({"type": {"a": "draw_blind"}}, "type"),
    ({"type": "start_game"}, "type"),
    ({"type": "call_time", "seat": 0}, "type"),
    ({"type": "create_game", "seats": []}, "type"),
    ({"type": "take_seat", "name": "Mallory"}, "type"),
    ({"type": "draw_blind", "card": "red"}, "card"),
    ({"type": "draw_market", "slot": 10}, "slot"),
    ({"type": "draw_market", "slot": -1}, "slot"),
    ({"type": "draw_market", "slot": "2"}, "slot"),
    ({"type": "draw_market", "slot": True}, "slot"),
    ({"type": "draw_market", "slot": 1.0}, "slot"),
    ({"type": "draw_market", "slot": 10**400}, "slot"),
    ({"type": "draw_market", "color": "pink"}, "color"),
    ({"type": "draw_market", "color": "red\n"}, "color"),
    ({"type": "draw_market"}, "draw_market"),
    ({"type": "draw_market", "slot": 1, "color": "red"}, "draw_market"),
    ({"type": "keep_tickets"}, "keep"),
    ({"type": "keep_tickets", "keep": [0] * 11}, "keep"),
    ({"type": "keep_tickets", "keep": [0, 11]}, "keep.1"),
    ({"type": "keep_tickets", "keep": "01"}, "keep"),
    ({"type": "claim_route", "route": "montreal-new-york-a"}, "cards"),
    ({"type": "claim_route", "route": "montreal-new-york-a", "cards": {}}, "cards"),
    ({"type": "claim_route", "route": "montreal-new-york-a", "cards": {"blue": 0}}, "cards.blue"),
    ({"type": "claim_route", "route": "montreal-new-york-a", "cards": {"blue": 251}}, "cards.blue"),
    ({"type": "claim_route", "route": "montreal-new-york-a", "cards": {"pink": 3}}, "cards.pink"),
    ({"type": "claim_route", "route": "../etc", "cards": {"blue": 3}}, "route"),
    ({"type": "claim_route", "route": "r" * 81, "cards": {"blue": 3}}, "route"),
    ({"type": "draw_tickets", "decks": {"regular": 11}}, "decks.regular"),
]


@pytest.mark.parametrize(("body", "field"), COMMANDS, ids=str)
def test_SHAPE_1_a_command_that_is_not_of_its_form(
    ada: Player, unchanged: Unchanged, body: Json, field: str
) -> None:
    with unchanged(ada.game):
        problem(ada.send(body), 422, "SHAPE-1", field)


def test_TOKEN_1_a_token_sends_no_command_for_another_seat(ada: Player, unchanged: Unchanged) -> None:
    with unchanged(ada.game):
        for seat in (1, 7, -1, "0", None, [0], 0.0, False):
            problem(ada.send({**DRAW, "seat": seat}), 403, "TOKEN-1")
    with unchanged(ada.game, 1):
        assert ada.send({"type": "pass", "seat": 0}).json()["rule"] == "TURN-4"


HUMANS = [{"kind": "human"}, {"kind": "human"}]
CREATIONS: list[tuple[Json, str, str | None, str]] = [
    ({}, "SHAPE-1", "seats", ""),
    ({"seats": []}, "SHAPE-1", "seats", ""),
    ({"seats": HUMANS * 5}, "SHAPE-1", "seats", ""),
    ({"seats": "two"}, "SHAPE-1", "seats", ""),
    ({"seats": [{"kind": "cat"}, {"kind": "human"}]}, "SHAPE-1", "seats.0.kind", ""),
    ({"seats": [{"kind": "bot", "policy": "perfect"}, *HUMANS]}, "SHAPE-1", "seats.0.policy", ""),
    ({"seats": HUMANS, "colour": "red"}, "SHAPE-1", "colour", ""),
    ({"seats": HUMANS, "ruleset": 3}, "SHAPE-1", "ruleset", ""),
    ({"seats": HUMANS, "seed": ""}, "SHAPE-1", "seed", ""),
    ({"seats": HUMANS, "seed": "s" * 65}, "SHAPE-1", "seed", ""),
    ({"seats": HUMANS, "seed": "\ud800"}, "SHAPE-1", "body", ""),
    ({"seats": HUMANS, "board": "../../etc/passwd"}, "SHAPE-1", "board", ""),
    ({"seats": HUMANS, "options": [1]}, "SHAPE-1", "options", ""),
    ({"seats": HUMANS, "options": {"cars": 2**60}}, "SHAPE-1", "options", ""),
    ({"seats": HUMANS, "type": "draw_blind"}, "SHAPE-1", "type", ""),
    ({"seats": HUMANS * 3}, "GAME-6", None, "seats"),
    ({"seats": HUMANS[:1]}, "GAME-6", None, "seats"),
    ({"seats": [{"kind": "bot"}, *HUMANS]}, "GAME-6", None, "seats.0.policy"),
    ({"seats": [*HUMANS, {"kind": "human", "policy": "random"}]}, "GAME-6", None, "seats.2.policy"),
    ({"seats": HUMANS, "ruleset": "mars"}, "GAME-6", None, "ruleset"),
    ({"seats": HUMANS, "board": "mars"}, "GAME-6", None, "board"),
    ({"seats": HUMANS, "options": {"wings": 2}}, "GAME-6", None, "options: wings"),
    ({"seats": HUMANS, "options": {"cars": 0}}, "GAME-6", None, "options: cars"),
    ({"seats": HUMANS, "options": {"cars": "45"}}, "GAME-6", None, "options: cars"),
    ({"seats": HUMANS, "options": {"cards": {"red": 3}}}, "GAME-6", None, "options.cards"),
    ({"seats": HUMANS, "options": {"route_points": [1, 2]}}, "GAME-6", None, "options.route_points"),
    ({"seats": HUMANS, "options": {"start_keep": 9}}, "GAME-6", None, "options.start_keep"),
    (
        {"seats": HUMANS, "options": {"start_tickets": {"regular": 30}}},
        "GAME-6",
        None,
        "options.start_tickets",
    ),
]


@pytest.mark.parametrize(("body", "rule", "field", "words"), CREATIONS, ids=str)
def test_GAME_6_a_game_that_cannot_be_created(
    http: httpx.Client, body: Json, rule: str, field: str | None, words: str
) -> None:
    answer = problem(http.post("/v1/games", content=json.dumps(body)), 422, rule, field)
    assert words in answer["detail"]


JOINS: list[tuple[Json, str]] = [
    ({}, "name"),
    ({"name": ""}, "name"),
    ({"name": " Ada"}, "name"),
    ({"name": "A" * 41}, "name"),
    ({"name": "A\nB"}, "name"),
    ({"name": 5}, "name"),
    ({"name": "\ud83d"}, "body"),
    ({"name": "Cy", "seat": "1"}, "seat"),
    ({"name": "Cy", "seat": -1}, "seat"),
    ({"name": "Cy", "seat": 8}, "seat"),
    ({"name": "Cy", "seat": True}, "seat"),
    ({"name": "Cy", "seat": 2**70}, "seat"),
    ({"name": "Cy", "seat": {"a": [1]}}, "seat"),
    ({"name": "Cy", "chair": 1}, "chair"),
    ({"name": "Cy", "type": "take_seat"}, "type"),
]


@pytest.mark.parametrize(("body", "field"), JOINS, ids=str)
def test_SHAPE_1_a_join_that_is_not_of_its_form(
    http: httpx.Client, unchanged: Unchanged, body: Json, field: str
) -> None:
    game = CreatedGame(http, "human", "human").game
    with unchanged(game):
        problem(http.post(f"/v1/games/{game}/join", content=json.dumps(body)), 422, "SHAPE-1", field)


def test_SIZE_1_a_body_that_is_too_large(http: httpx.Client, ada: Player, unchanged: Unchanged) -> None:
    large = json.dumps({**DRAW, "pad": "x" * MAX_BODY_BYTES}).encode()

    def chunks() -> Iterator[bytes]:
        yield from (large[i : i + 1_000] for i in range(0, len(large), 1_000))

    with unchanged(ada.game):
        for path in (f"/v1/games/{ada.game}/commands", f"/v1/games/{ada.game}/join"):
            for content in (large, large * 100, chunks()):
                problem(http.post(path, content=content, headers=bearer(ada.token)), 413, "SIZE-1", "body")
        problem(http.post("/v1/games", content=b" " * (MAX_CREATION_BYTES + 1)), 413, "SIZE-1", "body")
        board = {
            "seats": HUMANS,
            "board": {"pad": "x" * MAX_ENVELOPE_BYTES},
        }  # fits a body, but no command envelope
        problem(http.post("/v1/games", json=board), 413, "SIZE-1", "envelope")
        just = json.dumps({**DRAW, "pad": ""}).encode()
        just = just.replace(b'""', b'"' + b"x" * (MAX_BODY_BYTES - len(just)) + b'"')
        assert len(just) == MAX_BODY_BYTES
        reply = http.post(f"/v1/games/{ada.game}/commands", content=just, headers=bearer(ada.token))
        problem(reply, 422, "SHAPE-1", "pad")


@pytest.mark.parametrize("id_", ["", "x" * 65, "x" * 8_000, "a b", "ü", "a/b", "a\tb", "{}"])
def test_SHAPE_1_a_commands_id_that_is_not_of_its_form(
    http: httpx.Client, ada: Player, unchanged: Unchanged, id_: str
) -> None:
    key = {b"Idempotency-Key": id_.encode("latin-1")}
    token = {b"Authorization": f"Bearer {ada.token}".encode()}
    with unchanged(ada.game):
        for path, body in (("commands", DRAW), ("join", {"name": "Cy"}), ("start", {})):
            reply = http.post(f"/v1/games/{ada.game}/{path}", json=body, headers=token | key)
            problem(reply, 422, "SHAPE-1", "Idempotency-Key")
        problem(
            http.post("/v1/games", json={"seats": HUMANS}, headers=key), 422, "SHAPE-1", "Idempotency-Key"
        )


def test_SHAPE_1_an_id_that_a_token_depends_on_is_long(http: httpx.Client) -> None:
    short, game = {"Idempotency-Key": "x" * 15}, CreatedGame(http, "human", "human").game
    problem(http.post("/v1/games", json={"seats": HUMANS}, headers=short), 422, "SHAPE-1", "Idempotency-Key")
    reply = http.post(f"/v1/games/{game}/join", json={"name": "Ada"}, headers=short)
    problem(reply, 422, "SHAPE-1", "Idempotency-Key")


def test_SHAPE_1_a_client_never_uses_an_id_that_the_clock_will_need(
    http: httpx.Client, unchanged: Unchanged
) -> None:
    """Otherwise a seat whose time runs out could block the game: an id has one verdict."""
    game = seated(http)[0]
    clock = {**bearer(game.token), "Idempotency-Key": "clock:5:0"}
    with unchanged(game.game):
        problem(http.post(f"/v1/games/{game.game}/start", headers=clock), 422, "SHAPE-1", "Idempotency-Key")


WEIRD = ["x", "ab", "UPPER", "-abc", "a_b", "a.b", "é" * 5, "\U0001f686" * 50, "a" * 41, "a" * 10_000, " abc", "abc\n",
         "\x00\x00\x00", "a:b", "{game}", "p0}:g:x", "..%00"]  # fmt: skip


@pytest.mark.parametrize("game", ["000000000000", *WEIRD], ids=lambda game: repr(game)[:20])
def test_GAME_1_an_unknown_game(http: httpx.Client, ada: Player, game: str) -> None:
    path = f"/v1/games/{quote(game, safe='')}"
    body = problem(http.get(f"{path}/view"), 404, "GAME-1")
    assert len(body["detail"]) < 100
    problem(http.get(f"{path}/view", headers=bearer(ada.token)), 404, "GAME-1")
    problem(http.post(f"{path}/commands", json=DRAW, headers=bearer(ada.token)), 404, "GAME-1")
    problem(http.post(f"{path}/join", json={"name": "Ada"}), 404, "GAME-1")
    problem(http.post(f"{path}/start", headers=bearer(ada.token)), 404, "GAME-1")


@pytest.mark.parametrize(
    "path",
    ["/nothing", "/v1/games/a%2Fb/view", "/v1/games/%2e%2e/%2e%2e/view", "/v1/games//view", "/v1/games/abc"],
)
def test_an_unknown_path(http: httpx.Client, path: str) -> None:
    plain_problem(http.get(path), 404)


@pytest.mark.parametrize(
    ("verb", "path"),
    [("DELETE", "/v1/games"), ("PUT", "/v1/games"), ("PATCH", "/v1/games"), ("GET", "/v1/games/abc/join"), ("GET", "/v1/games/abc/commands"),
     ("GET", "/v1/games/abc/start"), ("POST", "/v1/games/abc/view"), ("DELETE", "/v1/games/abc/view"), ("POST", "/health"),
     ("PROPFIND", "/v1/games"), ("POST", "/rules/TURN-1"), ("TRACE", "/health")],
)  # fmt: skip
def test_a_method_that_the_path_does_not_allow(http: httpx.Client, verb: str, path: str) -> None:
    reply = http.request(verb, path)
    plain_problem(reply, 405)
    assert reply.headers["allow"]


@pytest.mark.parametrize(
    ("path", "field"),
    [("view?after=-1", "after"), ("view?after=x", "after"), ("view?after=1.5", "after"), ("view?after=", "after"),
     ("view?most=0", "most"), ("view?most=1001", "most"), ("view?most=1e3", "most"), ("view?after=NaN", "after")],
)  # fmt: skip
def test_SHAPE_1_query_parameters_out_of_range(
    http: httpx.Client, ada: Player, path: str, field: str
) -> None:
    problem(http.get(f"/v1/games/{ada.game}/{path}"), 422, "SHAPE-1", field)


@pytest.mark.parametrize("query", ["most=0", "most=1001", "most=x", "most=-5"])
def test_SHAPE_1_the_list_of_games_has_its_range(http: httpx.Client, query: str) -> None:
    problem(http.get(f"/v1/games?{query}"), 422, "SHAPE-1", "most")
