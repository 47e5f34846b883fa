"""The quota of games: so many games that are not over may one address, and one creator, have created, and so many MiB
of the engine may all games take that they created, those that are over too, until they have left it.

A creator is known by the token that comes with the creation: the holder of a seat, or the host, of the game
that is forked, or the holder of the operator's key. Forks of one's own forks count as one's own. Without a
token the address alone counts.

Each gateway counts the games that it created itself since it started; a creation costs reads of the engine
only if the quota seems full. Until a game is measured it counts as many bytes as games of its kind take.
"""

from __future__ import annotations

import time
from collections.abc import AsyncIterator, Callable, Collection
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from typing import Final, NamedTuple

from schemas.errors import InvalidInputError
from schemas.web.tokens import Holder
from services.gateway.errors import NotYetError, RequestError, ReusedIdError, TooManyError
from services.gateway.games.finished_games import FinishedGames
from services.ledger.async_ledger import AsyncLedger
from services.runtime.forgetful_mapping import Recent

MAX_CREATORS: Final = 100_000
RETRY_AFTER_S: Final = 60
MIB: Final = 1 << 20
BYTES_A_GAME: Final = MIB  # of the engine, for each open game that a creator may have
PLAYED_BYTES: Final = 64 * 1_024  # of a game on a built-in board that is played (docs/explanation/figures.md)
OWN_BOARD_BYTES: Final = 512 * 1_024  # of one on the largest board of a creator's own, and of a fork
MEASURED_AT_ONCE: Final = 100


class Creator(NamedTuple):
    """The creator that a game is counted for: the holder of a token, the operator, or an address."""

    name: str  # as a refusal names it
    identity: object

    @staticmethod
    def at(address: str) -> Creator:
        """Everybody that asks from this address."""
        return Creator("your address has", address)

    @staticmethod
    def holding(holder: Holder) -> Creator:
        """The holder of this seat, or the host."""
        return Creator("you have", holder)


OPERATOR: Final = Creator("the operator's key has", "operator")


@dataclass(slots=True)
class CountedGame:
    """A game that a creator created, as far as it is known."""

    stored_bytes: int
    is_answered: bool = False  # its creation; until then the engine may not have it yet
    is_over: bool = False
    is_measured: bool = False


@dataclass(slots=True)
class CreatedGames:
    """A creator's games, and when their bytes were read last."""

    by_id: dict[str, CountedGame] = field(default_factory=dict)
    measured_at_s: float = 0.0

    def count_open(self) -> int:
        """How many of them aren't over."""
        return sum(not game.is_over for game in self.by_id.values())

    def count_bytes(self) -> int:
        """How many bytes of the engine they take."""
        return sum(game.stored_bytes for game in self.by_id.values())


class OpenGames:
    """Counts games by who created them: `most` may be open, and take as many times BYTES_A_GAME.

    Beyond MAX_CREATORS those that created nothing for longest are forgotten."""

    def __init__(
        self,
        most: int,
        ledger: AsyncLedger,
        finished_games: FinishedGames,
        clock_s: Callable[[], float] = time.monotonic,
    ) -> None:
        self.most, self._ledger, self._finished_games, self._clock_s = most, ledger, finished_games, clock_s
        self._games = Recent[Creator, CreatedGames](MAX_CREATORS)
        self._first_creators = Recent[Creator, Creator](MAX_CREATORS)  # of those who hold their own forks
        self._creators = Recent[str, tuple[Creator, ...]](MAX_CREATORS)  # by game

    def creators_of(self, game: str) -> tuple[Creator, ...]:
        """Who created a game through this gateway, as far as it knows."""
        return self._creators.get(game, ())

    @asynccontextmanager
    async def creating(
        self, creators: Collection[Creator], game: str, bytes_at_most: int = PLAYED_BYTES
    ) -> AsyncIterator[None]:
        """Count a game that these create within the block, unless the creation is refused there.

        Raises TooManyError: one of them has too many that are open, or too many bytes."""
        counted = [self._first_creators.get(creator, creator) for creator in creators]
        newly_counted: list[Creator] = []
        try:
            for creator in counted:
                if await self._count(creator, game, bytes_at_most):
                    newly_counted.append(creator)
        except TooManyError:
            self._record_answer(newly_counted, game, is_refused=True)
            raise
        try:
            yield
        except (InvalidInputError, RequestError) as error:
            may_exist = isinstance(error, NotYetError | ReusedIdError)
            self._record_answer(counted, game, is_refused=not may_exist)
            raise
        self._record_answer(counted, game, is_refused=False)

    def count_as(self, creator: Creator, holders: Collection[Holder]) -> None:
        """Count what these holders of a fork create as its creator's."""
        for holder in holders:
            self._first_creators[Creator.holding(holder)] = self._first_creators.get(creator, creator)

    async def _count(self, creator: Creator, game: str, bytes_at_most: int) -> bool:
        """Count the game; False if it was counted before. Raises TooManyError: there is no room."""
        games = self._games[creator] = self._games.get(creator) or CreatedGames()
        if game in games.by_id:
            return False
        if games.count_open() >= self.most:
            await self._find_finished(games)
        if games.count_bytes() + bytes_at_most > self.most * BYTES_A_GAME:
            await self._find_finished(games)
            await self._measure(games)
        if game not in games.by_id:
            if games.count_open() >= self.most:
                detail = f"{creator.name} {self.most} games that are not over; play or leave some first"
                raise TooManyError("RATE-1", detail, RETRY_AFTER_S)
            if games.count_bytes() + bytes_at_most > self.most * BYTES_A_GAME:
                detail = (
                    f"{creator.name} games that take {self.most * BYTES_A_GAME // MIB} MiB of the engine;"
                    " those that are over leave it once they are archived"
                )
                raise TooManyError("RATE-1", detail, RETRY_AFTER_S)
        games.by_id.setdefault(game, CountedGame(bytes_at_most))
        return True

    async def _find_finished(self, games: CreatedGames) -> None:
        for id_, counted in tuple(games.by_id.items()):
            if counted.is_answered and not counted.is_over:
                counted.is_over = await self._finished_games.is_over(id_)

    async def _measure(self, games: CreatedGames) -> None:
        """Read what the games take, some at a time, and forget those that have left; all again after a while alone."""
        now_s = self._clock_s()
        is_due = now_s - games.measured_at_s >= RETRY_AFTER_S
        due = [
            id_
            for id_, counted in games.by_id.items()
            if counted.is_answered and (is_due or not counted.is_measured)
        ]
        if is_due:
            games.measured_at_s = now_s
        for start in range(0, len(due), MEASURED_AT_ONCE):
            some = due[start : start + MEASURED_AT_ONCE]
            for id_, stored_bytes in zip(some, await self._ledger.read_stored_bytes(some), strict=True):
                if (counted := games.by_id.get(id_)) is None:
                    continue
                counted.is_measured = counted.is_over
                if counted.is_over:
                    counted.stored_bytes = stored_bytes
                    if not stored_bytes:
                        del games.by_id[id_]
                else:  # it will grow
                    counted.stored_bytes = max(stored_bytes, counted.stored_bytes)

    def _record_answer(self, creators: Collection[Creator], game: str, *, is_refused: bool) -> None:
        """Note that the creation was answered: the game exists, or may. One that was refused counts no longer."""
        if not is_refused:
            self._creators[game] = tuple(creators)
        for creator in creators:
            games = self._games.get(creator, CreatedGames()).by_id
            if is_refused:
                games.pop(game, None)
            elif game in games:
                games[game].is_answered = True
