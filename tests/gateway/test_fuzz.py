"""The gateway answers any input, and nothing breaks."""

from __future__ import annotations

import json
from typing import Any

import httpx
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from schemas.commands import FIELDS
from schemas.published_contracts import COMMANDS
from services.ledger import RedisLedger
from tests.gateway.clients import MEDIA_TYPE, Json, Player, Socket, bearer, in_turn

WORDS = st.sampled_from(
    ["type", "seat", "seats", "kind", "human", "bot", "policy", "random", "ruleset", "usa", "board", "options", "seed",
     "cars", "cards", "red", "locomotive", "route", "slot", "color", "keep", "decks", "regular", "name", "id", "command",
     *(cls.type for cls in COMMANDS)]
)  # fmt: skip
PLAIN = (
    st.none()
    | st.booleans()
    | st.integers()
    | st.integers(-2, 12)
    | st.floats()
    | st.text(max_size=20)
    | WORDS
)
VALUES = st.recursive(
    PLAIN,
    lambda inner: (
        st.lists(inner, max_size=4) | st.dictionaries(WORDS | st.text(max_size=5), inner, max_size=4)
    ),
)
ANY_BODY = st.dictionaries(WORDS | st.text(max_size=5), VALUES, max_size=5)
LIKE_COMMANDS = st.sampled_from(COMMANDS).flatmap(
    lambda cls: st.fixed_dictionaries(
        {"type": st.just(cls.type)}, optional=dict.fromkeys(FIELDS[cls], VALUES)
    )
)
SEAT = st.fixed_dictionaries(
    {}, optional={"kind": st.sampled_from(["human", "bot"]), "policy": WORDS, "name": st.text(max_size=42)}
)
LIKE_CREATIONS = st.fixed_dictionaries(
    {"seats": st.lists(SEAT, max_size=9)},
    optional={
        "ruleset": WORDS,
        "board": WORDS,
        "seed": st.text(max_size=70),
        "options": st.dictionaries(
            st.sampled_from(
                ["cars", "cards", "hand", "market", "flush", "clock_ms", "strict", "route_points"]
            )
            | WORDS,
            VALUES | st.integers(0, 60),
            max_size=3,
        ),
    },
)
FEW = settings(suppress_health_check=[HealthCheck.function_scoped_fixture, HealthCheck.too_slow])


@pytest.fixture(scope="module")
def ada(http: httpx.Client) -> Player:
    return in_turn(http, options={"refusals_kept": 1000})[0]


def require_answered(reply: httpx.Response) -> None:
    assert reply.status_code < 500, reply.text
    if reply.is_error:
        body = reply.json()
        assert reply.headers["content-type"] == MEDIA_TYPE
        assert body["status"] == reply.status_code
        assert body["type"]
        assert body["title"]


def written(body: object) -> bytes:
    return json.dumps(body).encode()


@FEW
@given(body=ANY_BODY | LIKE_CREATIONS)
def test_any_creation_is_answered(http: httpx.Client, body: Json) -> None:
    require_answered(http.post("/v1/games", content=written(body)))


@FEW
@given(body=ANY_BODY | LIKE_COMMANDS)
def test_any_command_is_answered(ada: Player, body: Json) -> None:
    require_answered(
        ada.http.post(f"/v1/games/{ada.game}/commands", content=written(body), headers=bearer(ada.token))
    )


@FEW
@given(body=st.fixed_dictionaries({}, optional={"name": VALUES, "seat": VALUES, "x": VALUES}))
def test_any_join_is_answered(ada: Player, body: Json) -> None:
    require_answered(ada.http.post(f"/v1/games/{ada.game}/join", content=written(body)))


@FEW
@given(raw=st.binary(max_size=200) | VALUES.map(written))
def test_any_bytes_are_answered(ada: Player, raw: bytes) -> None:
    for path in ("/v1/games", f"/v1/games/{ada.game}/commands"):
        require_answered(ada.http.post(path, content=raw, headers=bearer(ada.token)))


@FEW
@given(
    game=st.text(min_size=1, max_size=30),
    key=st.text("abc .:-_\xe4{}", max_size=70),
    token=st.text("abc.=-_!0\xe4", max_size=40),
)
def test_any_address_and_header_is_answered(http: httpx.Client, game: str, key: str, token: str) -> None:
    url = http.base_url.copy_with(
        path="/v1/games/" + "".join(f"%{byte:02x}" for byte in game.encode("utf-8", "replace"))
    )
    headers = {
        b"Idempotency-Key": key.strip().encode("latin-1"),
        b"Authorization": b"Bearer x" + token.encode("latin-1"),
    }
    for path in ("commands", "join", "start"):
        require_answered(http.post(f"{url}/{path}", content=b'{"type": "draw_blind"}', headers=headers))
    require_answered(http.get(f"{url}/view", headers=headers))


@pytest.mark.long
@settings(FEW, max_examples=10)
@given(
    messages=st.lists(VALUES | st.fixed_dictionaries({"id": VALUES, "command": LIKE_COMMANDS}), max_size=8)
)
def test_any_message_leaves_the_socket_open(ada: Player, messages: list[Any]) -> None:
    with Socket(ada.http, ada.game, ada.token) as socket:
        for message in messages:
            socket.wire.send(json.dumps(message))
        socket.wire.send("the last")
        while (message := socket.next())["type"] == "entry" or "isn't JSON" not in message["problem"][
            "detail"
        ]:
            pass


def test_after_all_that_the_server_still_plays(http: httpx.Client, ledger: RedisLedger) -> None:
    assert http.get("/health").json() == {"status": "ok"}
    ada, bo = in_turn(http)
    assert ada.send({"type": "draw_blind"}).status_code == 200
    assert len(ledger.read_entries(bo.game)) == 7
