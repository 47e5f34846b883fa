"""Web Push: a device is told what its seat is asked, encrypted for it alone, by a server that proves who it is."""

from __future__ import annotations

import base64
import json
from collections.abc import Iterator
from typing import Final

import pytest
from cryptography.hazmat.primitives.asymmetric import ec
from cryptography.hazmat.primitives.asymmetric.utils import encode_dss_signature
from cryptography.hazmat.primitives.hashes import SHA256

from schemas.web.webhooks import MAX_DEVICES, Webhook
from services.runtime.web_push import PushKeys, PushSender, encrypt, from_base64url, to_base64url
from tests.auditor.conftest import Server
from tests.auditor.webhook_receiver import Browser, Request, receiving
from tests.auditor.webhook_table import Table
from tests.referee.running_referee import GAME

SENDER: Final = PushSender("p" * 32)


@pytest.fixture
def table(server: Server) -> Iterator[Table]:
    with receiving() as receiver:
        made = Table(server, receiver)
        made.auditor.context = made.auditor.context._replace(push=SENDER)
        yield made
        made.auditor.deregister()


def device(table: Table, browser: Browser, path: str = "/push/1") -> Webhook:
    return Webhook(table.receiver.url + path, browser.stored_keys, "push")


def claims_of(request: Request) -> dict[str, object]:
    """What the server signed, once its signature is checked with the key that it names."""
    scheme, token, key = request.headers["authorization"].replace(",", "").split()
    header, claims, signature = token.removeprefix("t=").split(".")
    raw = from_base64url(signature)
    public = ec.EllipticCurvePublicKey.from_encoded_point(
        ec.SECP256R1(), from_base64url(key.removeprefix("k="))
    )
    signed = encode_dss_signature(int.from_bytes(raw[:32]), int.from_bytes(raw[32:]))
    public.verify(signed, f"{header}.{claims}".encode(), ec.ECDSA(SHA256()))
    assert (scheme, json.loads(from_base64url(header))) == ("vapid", {"typ": "JWT", "alg": "ES256"})
    found: dict[str, object] = json.loads(from_base64url(claims))
    return found


def test_a_message_is_the_one_of_RFC_8291() -> None:
    # given
    keys = PushKeys.read(
        "BCVxsr7N_eNgVRqvHtD0zTZsEc6-VV-JvLexhqUzORcxaOzi6-AYWXvTBHm4bjyPjs7Vd8pZGH6SRpkNtoIAiw4",
        "BTBZMqHH6r4Tts7J_aSIgg",
    )
    scalar = int.from_bytes(from_base64url("yfWPiYE-n46HLnH0KqZOF1fJJU3MYrct3AELtAQ-oRw"))
    own = ec.derive_private_key(scalar, ec.SECP256R1())
    # when
    text = b"When I grow up, I want to be a watermelon"
    message = encrypt(keys, text, from_base64url("DGv6ra1nlYgDCS1FRnbzlw"), own)
    # then
    assert to_base64url(message) == (
        "DGv6ra1nlYgDCS1FRnbzlwAAEABBBP4z9KsN6nGRTbVYI_c7VJSPQTBtkgcy27mlmlMoZIIgDll6e3vCYLocInmYWAmS6TlzAC8wEqKK6PBr"
        "u3jl7A_yl95bQpu6cVPTpK4Mqgkf1CXztLVBSt2Ks3oZwbuwXPXLWyouBWLVWGNWQexSgSxsj_Qulcy4a-fN"
    )


def test_P5_each_device_reads_what_its_seat_is_asked_and_nobody_between_does(table: Table) -> None:
    # given
    table.open()
    browsers = {f"/push/{place}": Browser() for place in range(1, MAX_DEVICES + 1)}
    for place, (path, browser) in enumerate(browsers.items(), 1):
        assert table.store.put(GAME, 0, device(table, browser, path), place)
    # when
    requests = table.sent()
    # then
    assert {request.path for request in requests} == {*browsers}
    for request in requests:
        assert browsers[request.path].read(request.body) == {
            "type": "choice_to_make", "game": GAME, "seat": 0, "number": 2,
            "table": f"https://play.example/table/{GAME}",
        }  # fmt: skip
        assert GAME.encode() not in request.body
        assert {"content-encoding": "aes128gcm", "ttl": "86400"}.items() <= request.headers.items()
        assert claims_of(request) == {
            "aud": table.receiver.url, "exp": table.server.wall.now // 1000 + 43_200, "sub": "https://play.example/",
        }  # fmt: skip
        assert request.headers["authorization"].endswith(f"k={SENDER.public_key}")
    assert table.sent() == []


@pytest.mark.parametrize("status", [404, 410])
def test_a_device_that_is_gone_is_removed_alone(table: Table, status: int) -> None:
    # given
    table.open()
    table.store.put(GAME, 0, device(table, Browser()), 1)
    table.receiver.status = status
    # when
    table.sent()
    table.receiver.status = 201
    table.put(0)
    # then
    assert {*table.store.find_all(GAME, 0)} == {0}
    assert [request.path for request in table.sent()] == ["/hook"]


def test_P7_a_device_that_fails_is_told_again_and_its_seat_is_told_elsewhere(table: Table) -> None:
    # given
    table.open()
    browser = Browser()
    table.store.put(GAME, 0, device(table, browser), 2)
    table.receiver.status = 500
    first = table.sent()
    # when
    table.receiver.status = 201
    table.put(0)
    later = {request.path for request in [*table.sent(), *table.again()]}
    # then
    assert len(first) == 1 and later == {"/hook", "/push/1"}
    assert {place: stored.notified for place, stored in table.store.find_all(GAME, 0).items()} == {0: 2, 2: 2}


def test_the_key_is_the_same_after_each_start() -> None:
    assert PushSender("p" * 32).public_key == SENDER.public_key != PushSender("q" * 32).public_key
    assert base64.urlsafe_b64decode(SENDER.public_key + "=")[0] == 4
