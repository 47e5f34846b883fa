"""A seat's webhook over the API: set, shown without its secret, removed. tests/auditor has how it is notified."""

from __future__ import annotations

import asyncio
import base64
from typing import Any, Final

import fakeredis
import httpx
import pytest

from schemas.web.tokens import TokenKeys
from services.gateway.games.client_limits import ClientLimits
from services.gateway.server import create_app
from services.gateway.web.rate_limit import RateLimiter
from services.ledger.async_ledger import AsyncLedger
from services.ledger.engine import keys
from services.runtime.webhook_urls import WebhookPolicy
from tests.auditor.webhook_receiver import SECRET
from tests.gateway.clients import LEAVE, Json, Player, bearer, begun, minted, problem

URL: Final = "https://bot.example.org/hook"
NONE: Final = {"url": None, "form": None, "notified": None, "failure": None}


def ask(player: Player, method: str, body: object = None) -> httpx.Response:
    headers = bearer(player.token)
    return player.http.request(method, f"/v1/games/{player.game}/webhook", json=body, headers=headers)


def state(player: Player) -> Json:
    reply = ask(player, "GET")
    assert reply.status_code == 200, reply.text
    shown: Json = reply.json()
    assert (shown.pop("game"), shown.pop("seat")) == (player.game, player.seat)
    return shown


def test_a_webhook_is_its_seats_alone_and_its_secret_is_shown_once(http: httpx.Client) -> None:
    # given
    ada, bo = begun(http)
    # when
    first, second = (ask(ada, "PUT", {"url": URL}).json() for _ in range(2))
    # then
    assert first["url"] == URL and first["seat"] == ada.seat
    assert len(base64.b64decode(first["secret"].removeprefix("whsec_"), validate=True)) == 32
    assert first["secret"] != second["secret"]
    assert "secret" not in ask(ada, "GET").text.replace("whsec_", "secret")
    assert (state(ada)["url"], state(bo)) == (URL, NONE)
    assert (
        ask(ada, "DELETE").json() == ask(ada, "DELETE").json() == {"game": ada.game, "seat": ada.seat, **NONE}
    )
    assert state(ada) == NONE


def test_a_secret_of_ones_own_is_taken(http: httpx.Client) -> None:
    ada, _ = begun(http)
    assert ask(ada, "PUT", {"url": URL, "secret": SECRET}).json()["secret"] == SECRET


@pytest.mark.parametrize(
    ("body", "field"),
    [
        ({"url": "http://bot.example.org/"}, "url"),
        ({"url": "https://127.0.0.1/"}, "url"),
        ({"url": "https://[::ffff:169.254.169.254]/"}, "url"),
        ({"url": "https://me@bot.example.org/"}, "url"),
        ({"url": "https://bot.example.org/" + "x" * 1_000}, "url"),
        ({"url": 7}, "url"),
        ({}, "url"),
        ({"url": URL, "secret": "whsec_c2hvcnQ="}, "secret"),
        ({"url": URL, "secret": "whsec_\u00e4" + "x" * 40}, "secret"),
        ({"url": URL, "secret": SECRET.removeprefix("whsec_")}, "secret"),
        ({"url": URL, "seat": 1}, "seat"),
        ({"url": URL, "form": "teams"}, "form"),
    ],
)
def test_SHAPE_1_a_webhook_that_may_not_be_changes_nothing(
    http: httpx.Client, body: Json, field: str
) -> None:
    ada, _ = begun(http)
    problem(ask(ada, "PUT", body), 422, "SHAPE-1", field)
    assert state(ada) == NONE


def test_a_webhook_has_the_form_that_its_player_chose_and_a_test_leaves_it(http: httpx.Client) -> None:
    # given
    ada, bo = begun(http)
    shown = ask(ada, "PUT", {"url": URL, "form": "discord"}).json()
    # when
    tested, none = (
        player.http.post(f"/v1/games/{player.game}/webhook/test", headers=bearer(player.token)).json()
        for player in (ada, bo)
    )
    # then
    assert (shown["form"], tested["form"], tested["notified"], none["url"]) == (
        "discord",
        "discord",
        None,
        None,
    )
    assert state(ada)["url"] == URL


def test_GAME_3_a_game_that_is_over_asks_nobody_any_more(http: httpx.Client) -> None:
    ada, bo = begun(http)
    for player in (ada, bo):
        player.send(LEAVE)
    refused = problem(ask(ada, "PUT", {"url": URL}), 409, "GAME-3")
    assert "id" not in refused, "it is no command"


def test_OPERATOR_1_a_server_may_tell_nobody() -> None:
    async def put() -> httpx.Response:
        client: Any = fakeredis.FakeAsyncRedis()
        await client.xadd(keys.public_view(keys.partition_of("a-game", 4), "a-game"), {"p": b""}, "1-0")
        limits = ClientLimits(RateLimiter(9, 9, lambda: 0.0), webhook_policy=WebhookPolicy("off"))
        app = create_app(AsyncLedger(client, 4), TokenKeys(b"k" * 32), limits)
        transport = httpx.ASGITransport(app)
        async with httpx.AsyncClient(transport=transport, base_url="http://gateway") as asker:
            headers = bearer(minted("k" * 32, "a-game", 0))
            return await asker.put("/v1/games/a-game/webhook", json={"url": URL}, headers=headers)

    assert "LEDGERLINE_WEBHOOKS" in problem(asyncio.run(put()), 403, "OPERATOR-1")["detail"]
