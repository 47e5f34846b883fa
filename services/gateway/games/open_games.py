"""The quota of open games: so many games that are not over may one address, and one creator, have created.

A creator is known by the token that comes with the creation: the holder of a seat, or the host, of the game
that is forked, or the holder of the operator's key. Forks of one's own forks count as one's own. Without a
token the address alone counts.

Each gateway counts the games that it created itself since it started; a creation costs reads of the engine
only if the quota seems full.
"""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import AsyncIterator, Collection
from contextlib import asynccontextmanager
from typing import Final, NamedTuple

from schemas.errors import InvalidInputError
from schemas.web.tokens import Holder
from services.gateway.errors import NotYetError, RequestError, ReusedIdError, TooManyError
from services.gateway.games.finished_games import FinishedGames

MAX_CREATORS: Final = 100_000
RETRY_AFTER_S: Final = 60


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


class OpenGames:
    """Counts open games by who created them.

    Beyond MAX_CREATORS those that created nothing for longest are forgotten."""

    def __init__(self, most: int, finished_games: FinishedGames) -> None:
        self.most, self._finished_games = most, finished_games
        # by game: whether its creation was answered; until then the engine may not have it yet
        self._games: OrderedDict[Creator, dict[str, bool]] = OrderedDict()
        self._first_creators: OrderedDict[Creator, Creator] = (
            OrderedDict()
        )  # of those who hold their own forks
        self._creators: OrderedDict[str, tuple[Creator, ...]] = OrderedDict()  # by game

    def creators_of(self, game: str) -> tuple[Creator, ...]:
        """Who created a game through this gateway, as far as it knows."""
        return self._creators.get(game, ())

    @asynccontextmanager
    async def creating(self, creators: Collection[Creator], game: str) -> AsyncIterator[None]:
        """Count a game that these create within the block, unless the creation is refused there.

        Raises TooManyError: one of them has too many that are open."""
        counted = [self._first_creators.get(creator, creator) for creator in creators]
        newly_counted: list[Creator] = []
        try:
            for creator in counted:
                if await self._count(creator, game):
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
            while len(self._first_creators) > MAX_CREATORS:
                self._first_creators.popitem(last=False)

    async def _count(self, creator: Creator, game: str) -> bool:
        """Count the game; False if it was counted before. Raises TooManyError: there is no room."""
        games = self._games.setdefault(creator, {})
        self._games.move_to_end(creator)
        if len(self._games) > MAX_CREATORS:
            self._games.popitem(last=False)
        if game in games:
            return False
        if len(games) >= self.most:
            for other, is_answered in tuple(games.items()):
                if is_answered and await self._finished_games.is_over(other):
                    games.pop(other, None)
        if len(games) >= self.most and game not in games:
            detail = f"{creator.name} {self.most} games that are not over; play or leave some first"
            raise TooManyError("RATE-1", detail, RETRY_AFTER_S)
        games.setdefault(game, False)
        return True

    def _record_answer(self, creators: Collection[Creator], game: str, *, is_refused: bool) -> None:
        """Note that the creation was answered: the game exists, or may. One that was refused counts no longer."""
        if not is_refused:
            self._creators[game] = tuple(creators)
            if len(self._creators) > MAX_CREATORS:
                self._creators.popitem(last=False)
        for creator in creators:
            games = self._games.get(creator, {})
            if is_refused:
                games.pop(game, None)
            elif game in games:
                games[game] = True
