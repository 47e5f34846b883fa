"""A command's way from the door to its verdict, and on to how sure of it the caller wants to be.

What is acknowledged was made sure of first; anything else is `unknown`, with the level that
was reached, and the same id sent again gives the one verdict.
"""

from __future__ import annotations

import asyncio
from contextlib import suppress
from dataclasses import dataclass
from typing import Any, Final, NamedTuple

from redis.exceptions import RedisError

from schemas.commands import Letter
from schemas.contract import Malformed
from schemas.entries import ViewEntry
from schemas.events import CommandRefused
from services.gateway.hub import Hub
from services.gateway.problem_details import Problem, refused
from services.ledger import Gap
from services.ledger.ack_levels import ACCEPTED, DECIDED, Level, read_level
from services.ledger.async_ledger import AsyncLedger
from services.ledger.ports import Full
from services.runtime.logging_setup import get_log

log = get_log("gateway")
WAIT_MS_MOST: Final = 60_000
AGAIN: Final = "send it again with the same id: it gives the one verdict"
TOLD: Final = "told"  # the level of an answer without an entry: it is said, and nothing is kept of it


class Ask(NamedTuple):
    """How sure a caller wants to be of its command, and how long it waits for that."""

    level: Level
    wait_s: float


def read_ask(level: object, wait_ms: object, answer_s: float) -> Ask:
    """What a caller asks for; what it leaves out is `decided`, and the house's time. Raises Malformed."""
    wanted = DECIDED if level is None else read_level(level)
    if wait_ms is None:
        return Ask(wanted, answer_s)
    if not isinstance(wait_ms, int) or isinstance(wait_ms, bool) or not 1 <= wait_ms <= WAIT_MS_MOST:
        raise Malformed("wait_ms", f"must be a whole number from 1 to {WAIT_MS_MOST}")
    return Ask(wanted, wait_ms / 1000)


@dataclass(slots=True)
class Reached:
    """How far a command is known to have come; with the level asked for, its entry is here."""

    level: Level | None = None  # None: not even that it was accepted
    number: int = 0
    entry: ViewEntry | None = None

    def body(self) -> dict[str, Any]:
        """The level, the number and the head after it, as every answer names them."""
        told: dict[str, Any] = {"level": str(self.level) if self.level else None}
        if self.number:
            told["number"] = self.number
        if self.entry is not None:
            told["head"] = self.entry.shown.head.hex() or None
        return told

    def refusal(self, id_: str) -> Problem | None:
        """The problem that this verdict is, where it is a refusal."""
        for event in self.entry.events if self.entry else ():
            if isinstance(event, CommandRefused):
                return refused(event.rule, event.why, id=id_, **self.body())
        return None


class Verdicts:
    """Sends letters, and waits for what comes of them."""

    def __init__(self, ledger: AsyncLedger, hub: Hub) -> None:
        self.ledger, self.hub = ledger, hub

    async def require(self, game: str, level: Level) -> None:
        """Raise Problem unless the engine can give this level now. Nothing is sent yet."""
        if lack := await self.ledger.lack(game, level):
            raise Problem(501, "LEVEL-1", lack, asked=str(level))

    async def send(self, letter: Letter) -> None:
        """Put a letter on its way. Raises Problem where too many wait, unless its verdict is known."""
        try:
            await self.ledger.submit(letter)
        except Full as full:
            answer = await self.ledger.answer(letter.game, letter.seat, letter.id)
            if answer is None or not answer.number:
                raise Problem(429, "BUSY-1", str(full), retry_after=1, id=letter.id) from None
        log.debug("command sent", **_about(letter, None), type=letter.command.type)

    async def reach(self, letter: Letter, ask: Ask) -> Reached:
        """Send a letter and follow it to a level, or as far as it comes within the time.

        Raises Problem if the level can't be had (then nothing was sent), or no entry was made of it.
        An engine that didn't answer may have the letter or not: then it has no level, and its
        verdict is looked for all the same."""
        await self.require(letter.game, ask.level)
        reached = Reached()
        with self.hub.bell_of(letter.game, every=True) as rung, suppress(TimeoutError):
            async with asyncio.timeout(ask.wait_s):
                with suppress(RedisError, OSError):
                    await self.send(letter)
                    reached.level = ACCEPTED
                await self._follow(letter, ask.level, rung, reached)
        return reached

    async def catch_up(self, letter: Letter, ask: Ask) -> Reached:
        """The same for a letter that was sent."""
        reached = Reached(ACCEPTED)
        with self.hub.bell_of(letter.game, every=True) as rung, suppress(TimeoutError):
            rung.set()  # it may have rung before
            async with asyncio.timeout(ask.wait_s):
                await self._follow(letter, ask.level, rung, reached)
        return reached

    async def _follow(self, letter: Letter, level: Level, rung: asyncio.Event, reached: Reached) -> None:
        while level != ACCEPTED and reached.entry is None:
            await rung.wait()
            rung.clear()
            with suppress(RedisError, OSError):  # nothing is known yet; the next bell, or look, asks again
                await self._look(letter, level, reached)

    async def _look(self, letter: Letter, level: Level, reached: Reached) -> None:
        """Go on as far as the command has come. Raises Problem for an answer without an entry."""
        answer = await self.ledger.answer(letter.game, letter.seat, letter.id)
        if answer is None:
            if reached.number:  # an engine took over that had lost the verdict, and maybe the letter
                reached.level, reached.number = ACCEPTED, 0
                await self.send(letter)
            return
        if not answer.number:
            raise refused(answer.rule, answer.why, id=letter.id, level=TOLD)
        reached.level, reached.number = DECIDED, answer.number
        entry = await self._entry(letter, answer.number, level)
        if entry is not None:
            reached.level, reached.number, reached.entry = level, entry.number, entry
            log.debug("verdict", **_about(letter, entry.number), level=str(level))

    async def _entry(self, letter: Letter, number: int, level: Level) -> ViewEntry | None:
        """The verdict as the speaker sees it, at this level; None where it isn't known to have that."""
        if level.confirmed:
            return await self.ledger.confirm(letter.game, letter.seat, letter.id, level)
        for entry in await self.ledger.seen(letter.game, letter.seat, number - 1, 1):
            return entry
        raise Gap(f"view: entry {number} is missing, which answers a command")


def _about(letter: Letter, number: int | None) -> dict[str, object]:
    return {"game": letter.game, "seat": letter.seat, "command": letter.id, "sequence": number}
