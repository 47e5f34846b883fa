"""TOKEN-1: the tokens of open sockets are checked again, many at a time."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Coroutine, Sequence
from typing import Any

import pytest
from redis.exceptions import ConnectionError as Away

from schemas.web.tokens import Holder, Token
from services.gateway.errors import TokenError
from services.gateway.games import authorization
from services.gateway.games.authorization import Refusals, TokenWatch

TOKENS = [Token(Holder(f"game-{number}", 0), 0, 1 << 40) for number in range(40)]
WITHDRAWN = TokenError("this token was withdrawn")


class Checks:
    """Notes what was checked together, and refuses the tokens in `withdrawn`."""

    def __init__(self) -> None:
        self.made: list[int] = []
        self.withdrawn: set[Token] = set()
        self.error: Exception | None = None

    async def check(self, tokens: Sequence[Token]) -> Refusals:
        self.made.append(len(tokens))
        if self.error is not None:
            raise self.error
        return [WITHDRAWN if token in self.withdrawn else None for token in tokens]


def watching(
    monkeypatch: pytest.MonkeyPatch,
    scenario: Callable[[Checks, list[asyncio.Task[None]]], Coroutine[Any, Any, None]],
) -> None:
    """Run a scenario while every token is watched; nothing is left behind."""
    monkeypatch.setattr(authorization, "TOKEN_CHECK_S", 0.02)

    async def run() -> None:
        checks = Checks()
        watch = TokenWatch(checks.check)
        watches = [
            asyncio.create_task(watch.watch(token, asyncio.get_running_loop().create_future()))
            for token in TOKENS
        ]
        async with asyncio.timeout(60):
            await scenario(checks, watches)
        for each in watches:
            each.cancel()
        await asyncio.gather(*watches, return_exceptions=True)
        await asyncio.sleep(0)
        assert asyncio.all_tasks() == {asyncio.current_task()}

    asyncio.run(run())


def test_TOKEN_1_sockets_share_their_checks_and_only_the_withdrawn_one_ends(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    async def scenario(checks: Checks, watches: list[asyncio.Task[None]]) -> None:
        checks.withdrawn = {TOKENS[7]}
        with pytest.raises(TokenError, match="withdrawn"):
            await watches[7]
        rounds = len(checks.made)
        while sum(checks.made[rounds:]) < 3 * len(TOKENS):  # noqa: ASYNC110 - time has to pass
            await asyncio.sleep(0.01)
        assert [watch.done() for watch in watches].count(True) == 1
        assert len(checks.made[rounds:]) <= 2 * len(TOKENS), "several at a time"
        checks.withdrawn = set(TOKENS)
        assert [*await asyncio.gather(*watches, return_exceptions=True)] == [WITHDRAWN] * len(TOKENS)

    watching(monkeypatch, scenario)


def test_TOKEN_1_no_socket_stays_open_where_its_token_can_not_be_checked(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    async def scenario(checks: Checks, watches: list[asyncio.Task[None]]) -> None:
        checks.error = Away("a bug: an engine that is away is the check's to know")
        ended = await asyncio.gather(*watches, return_exceptions=True)
        assert ended == [checks.error] * len(TOKENS)

    watching(monkeypatch, scenario)
