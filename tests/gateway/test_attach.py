"""A client that comes back is told where the log is, and goes on or begins anew."""

from __future__ import annotations

import asyncio
import re
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import httpx
import pytest

from schemas.stored.codec import Proofs, pack_public
from services.bootstrap.embedded import EmbeddedServer
from services.gateway.sockets.websocket_opening import LOG_REWOUND_REASON, CloseCode
from services.ledger import RedisLedger
from services.ledger.engine import keys
from services.ledger.engine.connection import connect_async
from services.ledger.scripts.stored_entries import head_after, parse_stored
from tests.gateway.clients import DRAW, CreatedGame, Json, Player, Socket, closed_why, entries, in_turn
from tests.gateway.subscribed_hub import EMPTY

ROOT = Path(__file__).parents[2]
ANOTHER = {b"p": pack_public(1_005, EMPTY, Proofs(b""))}  # an entry of another branch


@pytest.fixture
def ada(http: httpx.Client) -> Player:
    """The first player of a game with six entries."""
    return in_turn(http)[0]


Cut = Callable[..., None]


@pytest.fixture
def cut(server: EmbeddedServer, ledger: RedisLedger) -> Cut:
    """Deletes a public view's last entries, as a fail-over may; `instead` are put in their place."""

    async def run(game: str, count: int, instead: Sequence[dict[bytes, bytes]]) -> None:
        client: Any = connect_async(server.settings.redis_url)
        name = keys.public_view(ledger.partition_of(game), game)
        stored = await client.xrange(name)
        ids = [id_ for id_, _ in stored[-count:]]
        kept = [*stored[:-count], *zip(ids, instead, strict=False)]
        left = parse_stored(kept)
        head = b"%d " % len(left) + head_after(game, len(left), left)
        pipe = client.pipeline(transaction=True)  # a follower that read half of it would see a damaged view
        pipe.delete(name)
        for id_, fields in kept:
            pipe.xadd(name, fields, id_)
        pipe.set(keys.chain_head(ledger.partition_of(game), game), head)
        await pipe.execute()
        await client.aclose()

    def cut(game: str, count: int, *instead: dict[bytes, bytes]) -> None:
        asyncio.run(run(game, count, instead))

    return cut


def attached(socket: Socket) -> tuple[int, str | None]:
    """What the first message says: the number of the last entry, and the head after it."""
    message: Json = socket.receive()
    assert message.pop("type") == "attached"
    number, head = message.pop("number"), message.pop("head")
    assert not message
    return number, head


def test_P3_every_socket_is_told_first_where_the_log_is(http: httpx.Client, ada: Player) -> None:
    known = entries(http, ada.game, None)
    for token in (None, ada.token):
        for after in (0, 5, 6):
            with Socket(http, ada.game, token, after) as socket:
                assert attached(socket) == (6, known[-1]["head"])
                assert len(socket.read(6 - after)) == 6 - after


def test_P3_a_client_that_comes_back_after_one_lost_entry_is_told(http: httpx.Client, cut: Cut) -> None:
    """It asks from the entry before its last, gets none, and must not wait for ever."""
    created = CreatedGame(http, "human", "human")
    created.join("Ada")
    created.join("Bo")
    known = entries(http, created.game, None)
    assert len(known) == 3
    cut(created.game, 1)
    with Socket(http, created.game, None, 2) as socket:
        assert attached(socket) == (2, known[1]["head"])
    with Socket(http, created.game, None, 3, known[2]["head"]) as socket:
        assert attached(socket) == (2, known[1]["head"])
        socket.problem(None, 422, "SHAPE-1", "after")
        assert closed_why(socket)[0] == CloseCode.BEGIN_ANEW


def test_P3_a_client_that_names_the_head_that_the_log_has_goes_on(http: httpx.Client, ada: Player) -> None:
    known = entries(http, ada.game, None)
    for after in (4, 6):
        with Socket(http, ada.game, None, after, known[after - 1]["head"]) as socket:
            assert socket.read(6 - after) == known[after:]
    with Socket(http, ada.game, ada.token, 6, known[-1]["head"].upper()) as socket:
        socket.send("a", DRAW)
        assert socket.read(1)[0]["answers"] == "a"


@pytest.mark.parametrize("length", [5, 6])
def test_P3_a_client_whose_entry_was_replaced_is_told_to_begin_anew(
    http: httpx.Client, cut: Cut, ada: Player, length: int
) -> None:
    """Whether the log is shorter than it was, or as long again."""
    head = entries(http, ada.game, None)[4]["head"]
    replaced = {**ANOTHER, b"h": b"\1" * 32}
    cut(ada.game, 2, *[replaced] * (length - 4))
    with Socket(http, ada.game, ada.token, 5, head) as socket:
        assert attached(socket)[0] == length
        assert closed_why(socket) == (CloseCode.BEGIN_ANEW, LOG_REWOUND_REASON)


@pytest.mark.long
def test_P3_clients_are_closed_with_the_code_to_begin_anew(http: httpx.Client, cut: Cut, ada: Player) -> None:
    with Socket(http, ada.game, ada.token, 6) as socket:
        attached(socket)
        cut(ada.game, 2)
        assert closed_why(socket) == (CloseCode.BEGIN_ANEW, LOG_REWOUND_REASON)
    with Socket(http, ada.game, ada.token, 0) as socket:
        assert [entry["number"] for entry in socket.read(4)] == [1, 2, 3, 4]


def test_P3_a_client_that_reads_from_the_entry_before_its_last_sees_whether_it_was_replaced(
    http: httpx.Client, cut: Cut, ada: Player
) -> None:
    """What a client that was disconnected may do over HTTP: docs/reference/acknowledgements.md."""
    view = f"/v1/games/{ada.game}/view"
    known = entries(http, ada.game, None)
    assert entries(http, ada.game, None, 4)[0] == known[4], "as long as nothing was lost"
    cut(ada.game, 2, ANOTHER)
    (another,) = entries(http, ada.game, None, 4)
    assert another["number"] == known[4]["number"] == 5
    assert another != known[4]
    with Socket(http, ada.game, None, 4) as socket:
        assert socket.read(1)[0] == another
        body = http.get(view, params={"after": 5}).json()
    assert (body["entries"], body["next"]) == ([], 5), "six was known"


def test_the_codes_to_go_on_and_to_begin_anew_are_those_that_are_documented() -> None:
    page = (ROOT / "docs" / "reference" / "acknowledgements.md").read_text()
    codes = {int(code): text for code, text in re.findall(r"^\| (\d{4}) \| (.+?) \|", page, re.M)}
    assert (CloseCode.GO_ON, CloseCode.BEGIN_ANEW) == (4001, 4002)
    assert ("go on" in codes[4001], "begin anew" in codes[4002]) == (True, True)
    assert {*CloseCode} <= codes.keys()
