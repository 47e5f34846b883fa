"""Who may ask what: every endpoint and socket of the gateway, by whom it is asked, and the status of the answer."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, Final

import fakeredis
import httpx
import pytest
from fastapi.routing import iter_route_contexts
from pydantic import SecretStr
from starlette.routing import Mount

from schemas.web.tokens import TokenKeys
from services.bootstrap.embedded import run_embedded_server
from services.gateway.games.client_limits import ClientLimits
from services.gateway.routes import guide_pages
from services.gateway.server import create_app
from services.gateway.web.rate_limit import RateLimiter
from services.ledger.async_ledger import AsyncLedger
from tests.auditor.webhook_receiver import Browser
from tests.gateway.clients import CreatedGame, Json, Player, Socket, bearer, closed, minted
from tests.many_clients import settings_for_many_clients

# A `forged` token is of another key; `public` sends none. `host`, `own` (seat 0) and `other` (seat 1) hold tokens of the
# game that is asked about, a `stranger` holds seat 0 of another game. The tokens of `withdrawn` and `ended` were seat
# 0's; `operator` sends the operator's key, without which nobody has a board of their own or a position here.
# The game of the last three is for its players alone, by invitation: an `outsider` sends nothing, `invited` sends its
# invitation to seat 0 as a token, and `member` holds that seat.
# A socket that opens is 101, and one that opens and is closed with a problem has that problem's status. 409 is a rule of
# the game: all seats are taken, and it has started.
MATRIX: Final = """
                                        forged public host own other stranger withdrawn ended operator outsider invited member
GET    /                                   200    200  200 200   200      200       200   200   200      200     200    200
GET    /table/{game}                       200    200  200 200   200      200       200   200   200      200     200    200
GET    /audit/{game}                       200    200  200 200   200      200       200   200   200      200     200    200
GET    /operator                           200    200  200 200   200      200       200   200   200      200     200    200
GET    /assets                             307    307  307 307   307      307       307   307   307      307     307    307
GET    /llms.txt                           200    200  200 200   200      200       200   200   200      200     200    200
GET    /service_worker.js                  200    200  200 200   200      200       200   200   200      200     200    200
GET    /verify_game.py                     200    200  200 200   200      200       200   200   200      200     200    200
GET    /asyncapi.json                      200    200  200 200   200      200       200   200   200      200     200    200
GET    /docs                               200    200  200 200   200      200       200   200   200      200     200    200
GET    /guide                              307    307  307 307   307      307       307   307   307      307     307    307
GET    /guide/{path:path}                  404    404  404 404   404      404       404   404   404      404     404    404
GET    /openapi.json                       200    200  200 200   200      200       200   200   200      200     200    200
GET    /health                             200    200  200 200   200      200       200   200   200      200     200    200
GET    /health/live                        200    200  200 200   200      200       200   200   200      200     200    200
GET    /health/ready                       200    200  200 200   200      200       200   200   200      200     200    200
GET    /rules                              200    200  200 200   200      200       200   200   200      200     200    200
GET    /rules/{rule}                       200    200  200 200   200      200       200   200   200      200     200    200
GET    /v1/games                           200    200  200 200   200      200       200   200   200      200     200    200
POST   /v1/games                           201    201  201 201   201      201       201   201   201      201     201    201
POST   /v1/games?on=own-board              403    403  403 403   403      403       403   403   201      403     403    403
POST   /v1/games/{game}/join               409    409  409 409   409      409       409   409   409      401     401    401
POST   /v1/games/{game}/start              401    401  409 409   409      403       401   401   401      401     401    409
POST   /v1/games/{game}/withdraw-token     401    401  200 200   200      403       401   401   401      401     401    200
POST   /v1/games/{game}/forks              401    201  201 201   201      403       401   401   201      401     401    201
POST   /v1/games/{game}/rematch            401    401  409 409   409      403       401   401   401      401     401    409
GET    /v1/games/{game}/rematch            401    200  200 200   200      403       401   401   401      401     401    200
POST   /v1/games/{game}/play-off           401    401  403 404   404      403       401   401   401      401     401    404
POST   /v1/games/{game}/commands           401    401  403 200   200      403       401   401   401      401     401    200
POST   /v1/games/{game}/commands?as=seat-0 401    401  403 200   403      403       401   401   401      401     401    200
POST   /v1/games/{game}/leave              401    401  403 200   200      403       401   401   401      401     401    200
POST   /v1/games/{game}/end                401    401  409 403   403      403       401   401   401      401     401    403
POST   /v1/games/{game}/seats/{seat}/free  401    401  409 403   403      403       401   401   401      401     401    403
POST   /v1/games/{game}/seats/{seat}/bot   401    401  409 403   403      403       401   401   401      401     401    403
GET    /v1/games/{game}/view               401    200  200 200   200      403       401   401   200      401     401    200
GET    /v1/games/{game}/view?legal=true    401    401  403 200   200      403       401   401   401      401     401    200
GET    /v1/games/{game}/stream             401    200  200 200   200      403       401   401   200      401     401    200
GET    /v1/games/{game}/stream?legal=true  401    401  403 200   200      403       401   401   401      401     401    200
SOCKET /v1/games/{game}/play               401    101  101 101   101      403       401   401   101      401     401    101
SOCKET /v1/games/{game}/play?as=subprotocol   401    101  101 101   101      403       401   401   101      401     401    101
SOCKET /v1/games/{game}/play?as=message    401    101  101 101   101      403       401   401   101      401     401    101
SOCKET /v1/games/{game}/play?legal=true    401    401  403 101   101      403       401   401   401      401     401    101
POST   /v1/games/{game}/disputes           401    401  403 202   202      403       401   401   401      401     401    202
GET    /v1/games/{game}/disputes           401    401  403 200   200      403       401   401   401      401     401    200
GET    /v1/games/{game}/disputes/{dispute} 401    401  403 200   404      403       401   401   401      401     401    200
GET    /v1/games/{game}/state              401    200  200 200   200      403       401   401   200      401     401    200
GET    /v1/games/{game}/board              401    200  200 200   200      403       401   401   200      401     401    200
GET    /v1/games/{game}/legal              401    401  403 200   200      403       401   401   401      401     401    200
GET    /v1/games/{game}/suggestions?seat=1 401    403  403 403   200      403       401   401   403      401     401    403
PUT    /v1/games/{game}/webhook            401    401  403 200   200      403       401   401   401      401     401    200
GET    /v1/games/{game}/webhook            401    401  403 200   200      403       401   401   401      401     401    200
POST   /v1/games/{game}/webhook/test       401    401  403 200   200      403       401   401   401      401     401    200
DELETE /v1/games/{game}/webhook            401    401  403 200   200      403       401   401   401      401     401    200
PUT    /v1/games/{game}/push               401    401  403 200   200      403       401   401   401      401     401    200
DELETE /v1/games/{game}/push               401    401  403 200   200      403       401   401   401      401     401    200
GET    /v1/games/{game}/replays            401    200  200 200   200      403       401   401   200      401     401    200
GET    /v1/games/{game}/replays/{number}   401    200  200 200   200      403       401   401   200      401     401    200
GET    /v1/games/{game}/replays?as=1       401    403  403 403   200      403       401   401   403      401     401    403
GET    /v1/games/{game}/audit              401    409  409 409   409      403       401   401   409      401     401    409
GET    /v1/games/{game}/choices/{place}    401    409  409 409   409      403       401   401   409      401     401    409
GET    /v1/games/{game}/file               401    409  409 409   409      403       401   401   409      401     401    409
GET    /v1/operator                        403    401  403 403   403      403       403   403   200      401     403    403
POST   /v1/operator                        403    401  403 403   403      403       403   403   422      401     403    403
GET    /v1/boards                          200    200  200 200   200      200       200   200   200      200     200    200
GET    /v1/boards/{board}                  200    200  200 200   200      200       200   200   200      200     200    200
GET    /v1/boards/{board}/svg              200    200  200 200   200      200       200   200   200      200     200    200
GET    /v1/rulesets                        200    200  200 200   200      200       200   200   200      200     200    200
GET    /v1/public-keys                     200    200  200 200   200      200       200   200   200      200     200    200
GET    /v1/push-key                        200    200  200 200   200      200       200   200   200      200     200    200
"""
KEEP: Final[Json] = {"type": "keep_tickets", "keep": [0, 1, 2]}
BODIES: Final[dict[str, Json]] = {
    "POST /v1/games": {"seats": [{"kind": "human"}, {"kind": "human"}]},
    "POST /v1/games?on=own-board": {"seats": [{"kind": "human"}, {"kind": "human"}], "position": {}},
    "POST /v1/games/{game}/join": {"name": "Cy"},
    "POST /v1/games/{game}/seats/{seat}/bot": {"policy": "greedy"},
    "POST /v1/games/{game}/forks": {"at": 4},
    "POST /v1/games/{game}/commands": KEEP,
    "POST /v1/games/{game}/commands?as=seat-0": {**KEEP, "seat": 0},
    "PUT /v1/games/{game}/webhook": {"url": "https://bot.example.org/"},
    "PUT /v1/games/{game}/push": {"endpoint": "https://push.example.org/1", "keys": Browser().keys},
    "POST /v1/games/{game}/disputes": {"number": 1, "reason": "It looks wrong."},
    "POST /v1/operator": {"action": "drop dead letter", "name": "none"},
}
SENT: Final[dict[str, dict[str, str]]] = {
    "legal=true": {"legal": "true"},
    "as=1": {"as": "1"},
    "seat=1": {"seat": "1", "at": "1"},
}
KEY: Final = "k" * 32
OPERATOR_KEY: Final = "o" * 32
CALLERS: Final = MATRIX.split("\n")[1].split()
ROWS: Final = {" ".join(line.split()[:2]): line.split()[2:] for line in MATRIX.split("\n")[2:] if line}


@pytest.fixture(scope="module")
def http(tmp_path_factory: pytest.TempPathFactory) -> Iterator[httpx.Client]:
    settings = settings_for_many_clients(
        token_key=SecretStr(KEY),
        own_boards="operator",
        operator_key=SecretStr(OPERATOR_KEY),
    )
    with (
        pytest.MonkeyPatch.context() as patch,
        run_embedded_server(tmp_path_factory.mktemp("server"), settings) as running,
        httpx.Client(base_url=running.url, timeout=20, trust_env=False) as client,
    ):
        patch.setattr(guide_pages, "FOLDER", tmp_path_factory.mktemp("no guide") / "none")
        yield client


@pytest.fixture(scope="module")
def stranger(http: httpx.Client) -> Player:
    return CreatedGame(http, "human", "human").join("Eve")


class Table:
    """A game of two people, of whom seat 0 withdrew a token, another that is for its players alone, and by caller the game
    that it asks about and what it sends as a token."""

    def __init__(self, http: httpx.Client, stranger: Player) -> None:
        created = CreatedGame(http, "human", "human")
        self.game, ada, bo = created.game, created.join("Ada"), created.join("Bo")
        created.start()
        path = f"/v1/games/{self.game}/withdraw-token"
        self.tokens = {
            "forged": minted("f" * 32, self.game, 0),
            "public": None,
            "host": created.host,
            "own": http.post(path, headers=bearer(ada.token)).json()["token"],
            "other": bo.token,
            "stranger": stranger.token,
            "withdrawn": ada.token,
            "ended": minted(KEY, self.game, 0, generation=1, ends_at_s=1),
            "operator": OPERATOR_KEY,
        }
        self.games = dict.fromkeys(self.tokens, self.game)
        private = CreatedGame(http, "human", "human", visibility="players", by_invitation=True)
        invitations = [each["invitation"] for each in private.reply["invitations"]]
        member, _ = (
            private.join(name, invitation=text) for name, text in zip("AB", invitations, strict=True)
        )
        private.start()
        self.tokens |= {"outsider": None, "invited": invitations[0], "member": member.token}
        self.games |= dict.fromkeys(("outsider", "invited", "member"), private.game)
        assert list(self.tokens) == CALLERS

    def raise_dispute(self, http: httpx.Client, caller: str) -> str:
        """A dispute of the seat that this caller holds."""
        path, body = f"/v1/games/{self.games[caller]}/disputes", BODIES["POST /v1/games/{game}/disputes"]
        dispute: str = http.post(path, json=body, headers=bearer(self.tokens[caller])).json()["dispute"]
        return dispute


@pytest.fixture(scope="module")
def unchanged(http: httpx.Client, stranger: Player) -> Table:
    """The table of all rows whose requests change nothing."""
    return Table(http, stranger)


def status(http: httpx.Client, row: str, url: str, token: str | None) -> int:
    """The status that a row's request is answered with."""
    method, path = row.split()
    legal = path.endswith("?legal=true")
    if method != "SOCKET":
        body, params = BODIES.get(row), SENT.get(path.partition("?")[2], {})
        with http.stream(method, url, json=body, params=params, headers=bearer(token)) as reply:
            return reply.status_code
    offered = [f"token.{token}"] if token and path.endswith("?as=subprotocol") else []
    shown: dict[str, Any] = (
        {"subprotocols": ["ledgerline", *offered]} if offered else {"additional_headers": bearer(token)}
    )
    game = url.removesuffix("/play").rpartition("/")[2]
    in_message = token is not None and path.endswith("?as=message")
    shown = {"token_in_message": token} if in_message else shown
    with Socket(http, game, legal=legal, **shown) as socket:
        first = socket.next()
        if first["type"] == "entry":
            return 101
        assert closed(socket) == 1008
        return int(first["problem"]["status"])


def gateway_endpoints() -> set[str]:
    """The method and the path of all that the gateway serves, from its own routes."""
    limiter = RateLimiter(1, 1, lambda: 0.0)
    app = create_app(
        AsyncLedger(fakeredis.FakeAsyncRedis(), 4), TokenKeys(KEY.encode()), ClientLimits(limiter)
    )
    endpoints = set()
    for route in iter_route_contexts(app.routes):
        path, methods = route.path, route.methods or {"SOCKET"}
        if isinstance(route.original_route, Mount):
            path, methods = route.original_route.path, {"GET"}
        endpoints |= {f"{method} {path}" for method in methods - {"HEAD"}}
    return endpoints


def test_every_endpoint_and_socket_has_a_row() -> None:
    assert {row.partition("?")[0] for row in ROWS} == gateway_endpoints()


@pytest.mark.parametrize("row", ROWS)
def test_TOKEN_1_each_caller_gets_what_its_token_opens(
    row: str, http: httpx.Client, stranger: Player, unchanged: Table
) -> None:
    is_read = row.startswith(("GET ", "SOCKET ")) and "{dispute}" not in row
    table = unchanged if is_read else Table(http, stranger)
    disputes = {}
    if "{dispute}" in row:
        disputes = {table.games[caller]: table.raise_dispute(http, caller) for caller in ("own", "member")}
    path = row.split()[1].partition("?")[0].replace("{path:path}", "docs/index.html")
    answers = {}
    for caller, token in table.tokens.items():
        game = table.games[caller]
        url = path.format(
            game=game, rule="TOKEN-1", dispute=disputes.get(game), board="usa", number=1, seat=1, place=0
        )
        answers[caller] = str(status(http, row, url, token))
    assert answers == dict(zip(CALLERS, ROWS[row], strict=True))


def test_the_document_says_where_a_token_is_needed(http: httpx.Client) -> None:
    paths = http.get("/openapi.json").json()["paths"]
    needed = {
        f"{method.upper()} {path}": {} not in operation.get("security", [{}])
        for path, operations in paths.items()
        for method, operation in operations.items()
    }
    public = CALLERS.index("public")
    rows = {
        row.partition("?")[0]: ROWS[row] for row in reversed(ROWS)
    }  # without a query, where there is one without
    assert needed == {row: rows[row][public] == "401" for row in needed}


def test_TOKEN_1_a_view_and_a_new_token_are_of_the_holders_seat(http: httpx.Client, stranger: Player) -> None:
    table = Table(http, stranger)
    holders: dict[str, int | str] = {"public": "public", "host": "public", "own": 0, "other": 1}
    for caller, viewer in holders.items():
        headers = bearer(table.tokens[caller])
        assert http.get(f"/v1/games/{table.game}/view", headers=headers).json()["viewer"] == viewer
        if caller != "public":
            issued = http.post(f"/v1/games/{table.game}/withdraw-token", headers=headers).json()
            assert issued["seat"] == (None if caller == "host" else viewer)
            table.tokens[caller] = issued["token"]
