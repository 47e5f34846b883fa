"""Devices that are told by Web Push, over the API: a few a seat, each at a public https address. tests/auditor has how."""

from __future__ import annotations

from typing import Any, Final

import httpx
import pytest

from schemas.web.webhooks import MAX_DEVICES
from services.bootstrap.embedded import EmbeddedServer
from services.ledger import RedisLedger
from services.runtime.web_push import PushSender
from tests.auditor.webhook_receiver import Browser, base64url
from tests.gateway.clients import LEAVE, Json, Player, bearer, begun, problem

KEYS: Final = Browser().keys
ENDPOINT: Final = "https://push.example.org/send/"


def ask(player: Player, method: str, body: object = None, **query: str) -> httpx.Response:
    path = f"/v1/games/{player.game}/push"
    return player.http.request(method, path, json=body, headers=bearer(player.token), params=query)


def put(player: Player, name: str) -> int:
    """How many devices its seat has then."""
    devices: int = ask(player, "PUT", {"endpoint": ENDPOINT + name, "keys": KEYS}).json()["devices"]
    return devices


def endpoints(ledger: RedisLedger, player: Player) -> dict[int, str]:
    found = ledger.webhooks().find_all(player.game, player.seat)
    return {place: stored.webhook.url.removeprefix(ENDPOINT) for place, stored in found.items()}


def test_the_key_is_kept_beside_the_others_and_a_browser_is_given_its_public_half(
    http: httpx.Client, server: EmbeddedServer
) -> None:
    assert server.data is not None
    secret = (server.data / "push.key").read_text()
    assert http.get("/v1/push-key").json() == {"key": PushSender(secret).public_key}


def test_P8_a_seat_has_a_few_devices_and_each_once(http: httpx.Client, ledger: RedisLedger) -> None:
    # given
    ada, bo = begun(http)
    # when
    counts = [put(ada, name) for name in "abbcd"]
    # then
    assert counts == [1, 2, 2, 3, MAX_DEVICES]
    assert put(ada, "e") == MAX_DEVICES
    assert (endpoints(ledger, ada), endpoints(ledger, bo)) == ({1: "e", 2: "b", 3: "c", 4: "d"}, {})
    # and each is removed by itself, or all of them, and the webhook stays
    http.put(
        f"/v1/games/{ada.game}/webhook", json={"url": "https://bot.example.org/"}, headers=bearer(ada.token)
    ).raise_for_status()
    assert ask(ada, "DELETE", endpoint=f"{ENDPOINT}c").json()["devices"] == 3
    assert ask(ada, "DELETE").json()["devices"] == 0
    assert [*endpoints(ledger, ada)] == [0]


@pytest.mark.parametrize(
    ("change", "field"),
    [
        ({"endpoint": "http://push.example.org/"}, "endpoint"),
        ({"endpoint": "https://127.0.0.1/"}, "endpoint"),
        ({"endpoint": "https://[::ffff:10.0.0.1]/"}, "endpoint"),
        ({"endpoint": ENDPOINT + "x" * 1_000}, "endpoint"),
        ({"keys": {**KEYS, "p256dh": base64url(b"\x04" + b"\x01" * 64)}}, "keys.p256dh"),
        ({"keys": {**KEYS, "p256dh": base64url(b"\x04")}}, "keys.p256dh"),
        ({"keys": {**KEYS, "p256dh": "A" * 101}}, "keys.p256dh"),
        ({"keys": {**KEYS, "auth": base64url(b"short")}}, "keys.auth"),
        ({"keys": {**KEYS, "auth": "no base64"}}, "keys.auth"),
        ({"keys": {"auth": KEYS["auth"]}}, "keys.p256dh"),
        ({"expirationTime": None}, "expirationTime"),
    ],
)
def test_SHAPE_1_a_device_that_may_not_be_changes_nothing(
    http: httpx.Client, ledger: RedisLedger, change: Json, field: str
) -> None:
    ada, _ = begun(http)
    body: Any = {"endpoint": ENDPOINT, "keys": KEYS} | change
    problem(ask(ada, "PUT", body), 422, "SHAPE-1", field)
    assert endpoints(ledger, ada) == {}


def test_GAME_3_a_game_that_is_over_tells_no_device(http: httpx.Client) -> None:
    ada, bo = begun(http)
    for player in (ada, bo):
        player.send(LEAVE)
    problem(ask(ada, "PUT", {"endpoint": ENDPOINT, "keys": KEYS}), 409, "GAME-3")
