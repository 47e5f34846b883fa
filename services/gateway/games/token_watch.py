"""Tokens of open sockets, which are checked again now and then: all that are due at a time by one read of the engine.

A read for each socket alone costs a gateway more than the moves of its games do.
"""

from __future__ import annotations

import asyncio
from collections import deque
from collections.abc import Awaitable, Callable, Sequence
from typing import Final

from schemas.tokens import Token
from services.gateway.errors import TokenError

TOKEN_CHECK_S: Final = 3.0  # how often the token of an open socket is checked again
CHECKS_APART: Final = 20  # how often in that time those that are due are looked for
MAX_AT_ONCE: Final = 256  # tokens

Watched = tuple[Token, asyncio.Future[None]]  # done once nobody watches it any more
Refusals = Sequence[TokenError | None]  # why each token opens nothing any more


class TokenWatch:
    """Watches tokens. `check` looks at many at once; one that it can't read anything of has no refusal."""

    def __init__(self, check: Callable[[Sequence[Token]], Awaitable[Refusals]]) -> None:
        self._check = check
        self._due: deque[tuple[float, Token, asyncio.Future[None]]] = deque()  # by the loop's time
        self._watchers = 0
        self._checking: asyncio.Task[None] | None = None

    async def watch(self, token: Token) -> None:
        """Raise TokenError once the token has ended or is withdrawn."""
        refused: asyncio.Future[None] = asyncio.get_running_loop().create_future()
        self._watchers += 1
        self._schedule(token, refused)
        if self._checking is None:
            self._checking = asyncio.create_task(self._check_due())
        try:
            await refused
        finally:
            refused.cancel()
            self._watchers -= 1
            if not self._watchers:
                self._due.clear()
                if self._checking is not None:
                    self._checking.cancel()
                    self._checking = None

    def _schedule(self, token: Token, refused: asyncio.Future[None]) -> None:
        due_s = asyncio.get_running_loop().time() + TOKEN_CHECK_S  # later than all before: they wait as long
        self._due.append((due_s, token, refused))

    async def _check_due(self) -> None:
        due: list[Watched] = []
        try:
            while True:
                await asyncio.sleep(TOKEN_CHECK_S / CHECKS_APART)
                while due := self._take_due():
                    refusals = await self._check([token for token, _ in due])
                    for (token, refused), refusal in zip(due, refusals, strict=True):
                        if refusal is None:
                            self._schedule(token, refused)
                        elif not refused.done():
                            refused.set_exception(refusal)
        except Exception as error:  # a bug: no socket stays open unwatched
            self._checking = None
            for _, refused in (*due, *(waiting[1:] for waiting in self._due)):
                if not refused.done():
                    refused.set_exception(error)

    def _take_due(self) -> list[Watched]:
        """Those whose time has come, without those that nobody watches any more."""
        now_s, taken = asyncio.get_running_loop().time(), list[Watched]()
        while self._due and self._due[0][0] <= now_s and len(taken) < MAX_AT_ONCE:
            _, token, refused = self._due.popleft()
            if not refused.done():
                taken.append((token, refused))
        return taken
