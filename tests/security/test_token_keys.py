"""Keys and tokens that should open nothing: guessed, former, withdrawn, ended."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Coroutine
from contextlib import suppress
from threading import Event
from typing import Any, Final

import fakeredis
import httpx
import pytest
from pydantic import SecretStr

from schemas.errors import InvalidInputError
from schemas.web.tokens import Holder, Token, TokenKeys, token_end_s
from services.bootstrap.composition import run_gateway
from services.gateway.errors import TokenError
from services.gateway.games import authorization
from services.gateway.games.authorization import GENERATIONS_KEPT_S, Authorization
from services.gateway.games.client_limits import ClientLimits
from services.gateway.server import create_app
from services.gateway.web.rate_limit import RateLimiter
from services.ledger.async_ledger import AsyncLedger
from services.ledger.engine import keys
from services.ledger.engine.connection import connect_async
from services.ledger.stores.token_generations import KEPT_S
from services.runtime.settings import read_settings
from tests.cli.command_line import run_in_process
from tests.gateway.clients import CreatedGame, Socket, bearer, closed_why, minted, new_id, problem
from tests.security.conftest import WholeServer

GAME: Final = "0a1b2c3d4e5f"
OLD, NEW = b"o" * 32, b"n" * 32


@pytest.mark.parametrize("key", ["k" * 31, f"{'k' * 40},{'s' * 31}", f"{'k' * 40},", "secret"])
def test_TOKEN_1_a_key_that_can_be_guessed_is_refused_with_what_to_do(key: str) -> None:
    settings = read_settings(token_key=SecretStr(key))
    with pytest.raises(InvalidInputError, match=r"LEDGERLINE_TOKEN_KEY.*openssl rand -hex 32") as refused:
        run_gateway(settings, Event())
    assert not any(part and part in str(refused.value) for part in key.split(","))


def test_TOKEN_1_keys_rotate_and_a_token_names_its_own() -> None:
    before, meanwhile, after = TokenKeys(OLD), TokenKeys(NEW, OLD), TokenKeys(NEW)
    token = Token(Holder(GAME, 0), 2, 1 << 40)
    old, new = before.mint(token), meanwhile.mint(token)
    assert [keys.verify(old) for keys in (before, meanwhile, after)] == [token, token, None]
    assert [keys.verify(new) for keys in (before, meanwhile, after)] == [None, token, token]
    assert old.split(".")[1] != new.split(".")[1]
    assert meanwhile.verify(".".join((new.split(".")[0], old.split(".")[1], *new.split(".")[2:]))) is None


class Clocks:
    """The times that an `Authorization` goes by; tests set them."""

    wall_s = monotonic_s = 0.0


def with_two_gateways(
    check: Callable[[Clocks, Authorization, Authorization], Coroutine[Any, Any, None]],
) -> None:
    async def scenario() -> None:
        clocks, ledger = Clocks(), AsyncLedger(fakeredis.FakeAsyncRedis(), 4)
        one, other = (
            Authorization(ledger, TokenKeys(NEW), 3_000, lambda: clocks.wall_s, lambda: clocks.monotonic_s)
            for _ in range(2)
        )
        await check(clocks, one, other)
        await ledger.close()

    asyncio.run(scenario())


async def refusal_of(gateway: Authorization, token: str) -> str:
    """Why a gateway doesn't take a token; empty where it does."""
    with suppress(TokenError):
        await gateway.require_holder(GAME, token)
        return ""
    try:
        await gateway.require_holder(GAME, token)
    except TokenError as error:
        return error.detail
    raise AssertionError("refused once, and then taken")


def test_TOKEN_1_a_withdrawn_token_opens_nothing_at_any_gateway_soon() -> None:
    async def check(clocks: Clocks, one: Authorization, other: Authorization) -> None:
        lost, others, host = [await one.issue(GAME, seat) for seat in (0, 1, None)]
        for token in (lost, others, host):
            assert [await refusal_of(gateway, token) for gateway in (one, other)] == ["", ""]

        mine = await one.withdraw(Token(Holder(GAME, 0), 0, 1 << 40))

        assert await refusal_of(one, lost) == "this token was withdrawn"
        clocks.monotonic_s += GENERATIONS_KEPT_S
        assert await refusal_of(other, lost) == "this token was withdrawn"
        for token in (mine, others, host, await other.issue(GAME, 0)):
            assert [await refusal_of(gateway, token) for gateway in (one, other)] == ["", ""]

    with_two_gateways(check)


def test_TOKEN_1_two_withdrawals_at_once_leave_one_valid_token() -> None:
    async def check(clocks: Clocks, one: Authorization, other: Authorization) -> None:
        # given
        token = Token(Holder(GAME, 0), 0, 1 << 40)
        # when
        answers = await asyncio.gather(
            *(gateway.withdraw(token) for gateway in (one, other, one)), return_exceptions=True
        )
        # then
        [mine] = [answer for answer in answers if isinstance(answer, str)]
        refused = [answer.detail for answer in answers if isinstance(answer, TokenError)]
        assert refused == ["this token was withdrawn"] * 2
        assert [await refusal_of(gateway, mine) for gateway in (one, other)] == ["", ""]

    with_two_gateways(check)


def test_TOKEN_1_a_token_ends() -> None:
    async def check(clocks: Clocks, one: Authorization, _: Authorization) -> None:
        token = await one.issue(GAME, 0)
        end_s = token_end_s(0, 3_000)
        assert 3_000 < end_s <= 3_100
        clocks.wall_s = end_s - 1
        assert await refusal_of(one, token) == ""
        clocks.wall_s = end_s
        assert "has ended" in await refusal_of(one, token)
        assert await refusal_of(one, await one.issue(GAME, 0)) == ""

    with_two_gateways(check)


def test_TOKEN_1_the_generations_that_a_gateway_keeps_are_bounded(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(authorization, "MAX_GAMES_KEPT", 3)

    async def check(_: Clocks, one: Authorization, __: Authorization) -> None:
        for number in range(9):
            await one.issue(f"game-{number}", 0)
        assert len(one._kept_generations) == 3

    with_two_gateways(check)


def test_TOKEN_1_who_holds_a_seat_withdraws_its_tokens_over_http(
    whole: WholeServer, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(authorization, "TOKEN_CHECK_S", 0.05)
    created, key = CreatedGame(whole.http, "human", "human"), new_id()
    path = f"/v1/games/{created.game}"
    joined = whole.http.post(f"{path}/join", json={"name": "Ada"}, headers={"Idempotency-Key": key}).json()
    bo = created.join("Bo")
    with Socket(whole.http, created.game, joined["token"]) as socket:
        assert len(socket.read(3)) == 3
        reply = whole.http.post(f"{path}/withdraw-token", headers=bearer(joined["token"]))
        assert closed_why(socket) == (1008, "this token was withdrawn")

    issued = reply.json()
    assert (issued["game"], issued["seat"]) == (created.game, 0)
    for method, url in (("GET", "view"), ("POST", "start"), ("POST", "commands"), ("POST", "withdraw-token")):
        reply = whole.http.request(method, f"{path}/{url}", json={}, headers=bearer(joined["token"]))
        problem(reply, 401, "TOKEN-1")
    rejoined = whole.http.post(f"{path}/join", json={"name": "Ada"}, headers={"Idempotency-Key": key}).json()
    for token, seat in (
        (issued["token"], 0),
        (rejoined["token"], 0),
        (bo.token, 1),
        (created.host, "public"),
    ):
        assert whole.http.get(f"{path}/view", headers=bearer(token)).json()["viewer"] == seat


def test_TOKEN_1_an_operator_withdraws_a_seats_tokens(
    whole: WholeServer, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(authorization, "GENERATIONS_KEPT_S", 0.0)
    created = CreatedGame(whole.http, "human", "random")
    ada = created.join("Ada")
    view = f"/v1/games/{created.game}/view"

    result = run_in_process("withdraw-token", created.game, "0", "--issue", data=whole.data)

    assert result.returncode == 0, result.stderr
    problem(whole.http.get(view, headers=bearer(ada.token)), 401, "TOKEN-1")
    issued = result.stdout.splitlines()[-1]
    assert whole.http.get(view, headers=bearer(issued)).json()["viewer"] == 0
    for holder, why in (
        ("1", "a bot's"),
        ("2", "from A to B"),
        ("c", "from A to B"),
        ("x", "host"),
        ("-1", ""),
    ):
        wrong = run_in_process("withdraw-token", created.game, holder, data=whole.data)
        assert wrong.returncode == 2
        assert why in wrong.stderr
    assert run_in_process("withdraw-token", created.game, "host", data=whole.data).returncode == 0
    problem(whole.http.get(view, headers=bearer(created.host)), 401, "TOKEN-1")


def test_TOKEN_1_a_withdrawal_outlives_its_game(whole: WholeServer) -> None:
    game = CreatedGame(whole.http, "human", "human").game
    assert whole.ledger.withdraw_tokens(game, 1) == 1
    assert whole.ledger.read_token_generations(game).of(1) == 1
    client: Any = whole.ledger._client
    key = keys.token_generations(keys.partition_of(game, whole.ledger.partitions), game)
    assert KEPT_S - 60 < client.ttl(key) <= KEPT_S
    assert whole.ledger.evict(game, 2, len(whole.ledger.read_entries(game)))
    assert whole.ledger.read_token_generations(game).of(1) == 1


def test_P2_the_same_ids_are_answered_the_same_after_a_rotation_of_keys(whole: WholeServer) -> None:
    settings, ids = (
        whole.running.settings,
        {name: {"Idempotency-Key": new_id()} for name in ("creation", "join")},
    )
    body = {"seats": [{"kind": "human"}, {"kind": "human"}]}
    game = whole.http.post("/v1/games", json=body, headers=ids["creation"]).json()["game"]
    path = f"/v1/games/{game}/join"
    joined = whole.http.post(path, json={"name": "Ada"}, headers=ids["join"]).json()

    async def ask_a_gateway_with_a_new_key() -> tuple[Any, Any]:
        token_keys = TokenKeys(NEW, settings.token_key.get_secret_value().encode())
        ledger = AsyncLedger(connect_async(settings.redis_url), whole.ledger.partitions)
        app = create_app(ledger, token_keys, ClientLimits(RateLimiter(1_000, 1_000, lambda: 0.0)))
        transport = httpx.ASGITransport(app)
        async with (
            app.router.lifespan_context(app),
            httpx.AsyncClient(transport=transport, base_url="http://gateway") as http,
        ):
            created = await http.post("/v1/games", json=body, headers=ids["creation"])
            return created.json(), (await http.post(path, json={"name": "Ada"}, headers=ids["join"])).json()

    created_again, joined_again = asyncio.run(ask_a_gateway_with_a_new_key())

    assert created_again["game"] == game
    assert (joined_again["seat"], joined_again["number"]) == (joined["seat"], joined["number"]) == (0, 2)
    assert TokenKeys(NEW).verify(joined_again["token"])
    assert minted(NEW, game, 0).split(".")[1] == joined_again["token"].split(".")[1]
