"""TIE-1 over HTTP: a seat that shared the first place takes a seat in the game that follows."""

from __future__ import annotations

import asyncio

import httpx
import pytest

from schemas.commands import PlayOff
from schemas.events import PlayOffCalled
from schemas.stored.codec import Proofs, pack_public
from schemas.trains.commands import BuildStation
from schemas.web.tokens import TokenKeys
from services.bootstrap.embedded import EmbeddedServer
from services.gateway.errors import NotYetError
from services.gateway.following.hub import Hub
from services.gateway.games.client_limits import ClientLimits
from services.gateway.games.service import GatewayService
from services.gateway.models.response_models import PlayOffSeat
from services.gateway.routes.dependencies import GameRequest
from services.gateway.routes.games import take_seat
from services.gateway.web.problem_details import problem_of
from services.gateway.web.rate_limit import RateLimiter
from services.ledger import RedisLedger
from services.ledger.async_ledger import AsyncLedger
from services.ledger.engine import keys
from services.ledger.engine.connection import connect, connect_async
from services.referee.games import fold, split_by_visibility
from tests.gateway.clients import (
    CreatedGame,
    Json,
    Player,
    bearer,
    begun,
    entries,
    in_turn,
    listed_games,
    minted,
    new_id,
    plan,
    problem,
)

LEVEL = {"start_tickets": {"long": 0, "regular": 0}, "start_keep": 0, "last_cars": 45}  # over in a few turns
QUICK: Json = {"ruleset": "europe", "options": LEVEL}
SERIES = {"of": "abc", "number": 1, "seats": [0, 1], "wins": [2, 2]}


def ended(http: httpx.Client, people: int = 2, last: int | None = None) -> list[Player]:
    """The players of a game that is over: all tied, but the seat `last`, which built a station."""
    players = begun(http, people, **QUICK)
    while not players[0].look().result:
        for player in players:
            if choices := player.legal():
                built = [choice for choice in choices if isinstance(choice, BuildStation)]
                player.do(built[0] if player.seat == last and built else choices[0])
    return players


def play_off(player: Player) -> httpx.Response:
    return player.http.post(f"/v1/games/{player.game}/play-off", headers=bearer(player.token))


def seated_again(player: Player) -> Player:
    reply = play_off(player)
    assert reply.status_code == 200, reply.text
    body = reply.json()
    assert set(body) == {"game", "seat", "token"}
    return Player(player.http, body["game"], body["seat"], body["token"])


def test_TIE_1_those_who_shared_the_first_place_get_their_seats_and_play(http: httpx.Client) -> None:
    ada, _, cy = ended(http, 3, last=1)
    again = [seated_again(player) for player in (ada, cy)]
    assert [player.game for player in again] == [f"{ada.game}-po1"] * 2
    assert [player.seat for player in again] == [0, 1]
    first = entries(http, again[0].game, None)[0]["events"][0]
    assert first["play_off"] == {"of": ada.game, "number": 1, "seats": [0, 2], "wins": [0, 0]}
    until_started(again)
    assert [seat.name for seat in again[0].look().seats] == ["Ada", "Cy"]
    for player in again:
        assert player.do(player.legal()[0])["number"] > 2
    assert again[0].look().turn == 0


def until_started(players: list[Player]) -> None:
    """Return once the server has started the game."""
    while not all(player.look().started for player in players):
        pass


def test_TIE_1_a_repeated_request_gets_the_same_answer(http: httpx.Client) -> None:
    ada, bo = ended(http)
    assert play_off(ada).json() == play_off(ada).json() != play_off(bo).json()


def test_TIE_1_the_token_is_for_that_seat_of_that_game_alone(http: httpx.Client) -> None:
    ada, _ = ended(http)
    again = seated_again(ada)
    until_started([again])
    own = http.get(f"/v1/games/{again.game}/view", headers=bearer(again.token)).json()
    assert own["viewer"] == 0
    problem(http.get(f"/v1/games/{ada.game}/view", headers=bearer(again.token)), 403, "TOKEN-1")
    problem(http.get(f"/v1/games/{again.game}/view", headers=bearer(ada.token)), 403, "TOKEN-1")


@pytest.mark.long
def test_TIE_1_it_goes_on_from_game_to_game(http: httpx.Client) -> None:
    players = ended(http)
    again = [seated_again(player) for player in players]
    until_started(again)
    while not again[0].look().result:
        for player in again:
            if choices := player.legal():
                player.do(choices[0])
    third = seated_again(again[1])
    assert (third.game, third.seat) == (f"{players[0].game}-po2", 1)


def test_TIE_1_who_did_not_share_it_has_no_seat_there(http: httpx.Client) -> None:
    players = ended(http, 3, last=1)
    problem(play_off(players[1]), 403, "TOKEN-1")


def test_TIE_1_the_public_sees_who_plays_off_where(http: httpx.Client) -> None:
    ada, _ = ended(http)
    (event,) = [e for e in entries(http, ada.game, None)[-1]["events"] if e["type"] == "play_off_called"]
    assert (event["game"], event["seats"]) == (f"{ada.game}-po1", [0, 1])


def test_GAME_1_without_a_play_off_there_is_no_seat_to_take(http: httpx.Client) -> None:
    (ada, *_) = in_turn(http, **QUICK)
    problem(play_off(ada), 404, "GAME-1")  # it isn't over
    won = ended(http, 2, last=1)
    problem(play_off(won[0]), 404, "GAME-1")  # somebody has won
    ghost = Player(http, "no-such-game", 0, ada.token)
    problem(play_off(ghost), 404, "GAME-1")


def test_TOKEN_1_only_a_seat_of_the_game_may_ask(http: httpx.Client, server: EmbeddedServer) -> None:
    ada, _ = ended(http)
    other, _ = in_turn(http, **QUICK)
    key = server.settings.token_key.get_secret_value().encode()
    url = f"/v1/games/{ada.game}/play-off"
    problem(http.post(url), 401, "TOKEN-1")
    problem(http.post(url, headers=bearer("nonsense")), 401, "TOKEN-1")
    problem(http.post(url, headers=bearer(other.token)), 403, "TOKEN-1")
    problem(http.post(url, headers=bearer(minted(key, ada.game, None))), 403, "TOKEN-1")


def test_WAIT_1_a_play_off_that_is_not_created_yet_is_answered_with_ask_again(
    server: EmbeddedServer, ledger: RedisLedger
) -> None:
    """The game has called a play-off, and no referee has created that one."""
    game, called = "orphan", PlayOffCalled("orphan-po1", PlayOff("orphan", 1, (0, 1), (0, 0)), (0, 1))

    with connect(server.settings.redis_url) as client:
        public = keys.public_view(keys.partition_of(game, ledger.partitions), game)
        client.xadd(public, {"p": pack_public(0, split_by_visibility((called,)), Proofs(b""))}, id="1-0")

    async def ask() -> PlayOffSeat:
        shared = AsyncLedger(connect_async(server.settings.redis_url), ledger.partitions)
        service = GatewayService(
            shared, Hub(shared), TokenKeys(b"k" * 32), ClientLimits(RateLimiter(100, 100, lambda: 0.0), 0.05)
        )
        try:
            return await take_seat(GameRequest(service, game, minted(b"k" * 32, game, 0), "somewhere"))
        finally:
            await shared.close()

    with pytest.raises(NotYetError) as raised:
        asyncio.run(ask())
    assert (problem_of(raised.value).status, raised.value.rule) == (503, "WAIT-1")


def test_SHAPE_1_a_client_cannot_declare_its_game_a_play_off(http: httpx.Client) -> None:
    before = listed_games(http)
    for series in (SERIES, None, {}):
        body = {"seats": [plan("human")] * 2, "visibility": "public", **QUICK, "play_off": series}
        problem(http.post("/v1/games", json=body), 422, "SHAPE-1", "play_off")
    assert listed_games(http) == before
    created = CreatedGame(http, "human", "human")
    body = {"name": "Ada", "play_off": SERIES}
    problem(http.post(f"/v1/games/{created.game}/join", json=body), 422, "SHAPE-1", "play_off")


@pytest.mark.parametrize("id_", ["play-off:start", "play-off:create", "play-off:something-long-enough"])
def test_SHAPE_1_reserved_ids_are_not_for_clients(http: httpx.Client, id_: str) -> None:
    created = CreatedGame(http, "human", "human")
    own = {"Idempotency-Key": id_}
    body = {"seats": [plan("human"), plan("human")]}
    problem(http.post("/v1/games", json=body, headers=own), 422, "SHAPE-1", "Idempotency-Key")
    problem(
        http.post(f"/v1/games/{created.game}/join", json={"name": "Ada"}, headers=own),
        422,
        "SHAPE-1",
        "Idempotency-Key",
    )
    start = http.post(f"/v1/games/{created.game}/start", headers=bearer(created.host) | own)
    problem(start, 422, "SHAPE-1", "Idempotency-Key")


def test_a_client_may_give_the_position_that_its_game_starts_from(
    http: httpx.Client, ledger: RedisLedger
) -> None:
    position = {"turn": 1, "hands": [{"red": 3}, {"locomotive": 2}], "routes": {"cadiz-lisboa-a": 0}}
    body = {"seats": [plan("human"), plan("human")], "ruleset": "europe", "position": position}
    reply = http.post("/v1/games", json=body, headers={"Idempotency-Key": new_id()})
    assert reply.status_code == 201, reply.text
    game = reply.json()["game"]
    for name in ("Ada", "Bo"):
        assert http.post(f"/v1/games/{game}/join", json={"name": name}).status_code == 200
    http.post(f"/v1/games/{game}/start", headers=bearer(reply.json()["token"])).raise_for_status()
    state = fold(ledger.read_entries(game))
    assert (state.turn, state.own.route_owners) == (1, {"cadiz-lisboa-a": 0})
    assert state.seats[1].own.hand["locomotive"] == 2
