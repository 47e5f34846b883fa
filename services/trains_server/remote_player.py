"""A player at the other end of a connection: each call with its time limit, and with its answer read."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Sequence
from typing import Final, TypeVar

from schemas.errors import InvalidInputError
from schemas.trains.boards.form import BoardForm
from schemas.trains.commands import ClaimRoute, KeepTickets, RequestCards
from services.bots.trains.trains_strategies import Connection, Destination
from services.trains_server.peer_connection import PeerConnection, PeerFailedError, TimeLimits
from services.trains_server.protocol_calls import (
    MAX_ANSWER_BYTES,
    MAX_MAP_BYTES,
    read_action,
    read_choice,
    read_map,
    require_void,
)

WRONG: Final = "answered wrongly"
T = TypeVar("T")


class RemotePlayer:
    """A player that has signed up. A call at which it fails closes its connection and raises PeerFailedError."""

    def __init__(
        self, name: str, connection: PeerConnection, time_limits: TimeLimits, answer_s: float
    ) -> None:
        self.name, self.connection = name, connection
        self.failure = ""
        self._time_limits, self._answer_s = time_limits, answer_s

    async def start(self) -> BoardForm | None:
        """Begin the tournament; the suggested map, None if it is too large. A thread reads it: a slow map makes nobody late."""
        suggested = await self._call("start", True, read=lambda answer: answer, max_bytes=MAX_MAP_BYTES)
        try:
            return await asyncio.to_thread(read_map, suggested)
        except InvalidInputError as error:
            raise self._failed("start", f"{WRONG}: {error}") from None

    async def setup(self, map_json: object, rails: int, cards: Sequence[str]) -> None:
        """A game begins."""
        await self._call("setup", map_json, rails, list(cards), read=require_void)

    async def pick(self, offered: Sequence[Destination]) -> KeepTickets:
        """Choose among destinations."""
        names = [list(each) for each in offered]
        return await self._call("pick", names, read=lambda answer: read_choice(answer, offered))

    async def play(self, player_state: object, routes: dict[Connection, str]) -> RequestCards | ClaimRoute:
        """Take a turn."""
        return await self._call("play", player_state, read=lambda answer: read_action(answer, routes))

    async def more(self, cards: Sequence[str]) -> None:
        """The cards that it asked for."""
        await self._call("more", list(cards), read=require_void)

    async def win(self, has_won: bool) -> None:
        """The game is over."""
        await self._call("win", has_won, read=require_void)

    async def end(self, has_won: bool) -> None:
        """The tournament is over, and with it the connection."""
        await self._call("end", has_won, read=require_void)
        await self.connection.close()

    def remove(self, failure: str) -> None:
        """Close the connection of a player that is out; the first reason stays."""
        self.failure = self.failure or failure
        self.connection.cut()

    async def _call(
        self, call: str, *arguments: object, read: Callable[[object], T], max_bytes: int = MAX_ANSWER_BYTES
    ) -> T:
        """Call the player, and read its answer. Raises PeerFailedError: it failed."""
        try:
            answer = await self._time_limits.within(
                self._answer_s, self.name, self._exchange([call, list(arguments)], max_bytes)
            )
            return read(answer)
        except TimeoutError:
            failure = f"didn't answer within {self._answer_s:g} s"
        except PeerFailedError as error:
            failure = str(error)
        except InvalidInputError as error:
            failure = f"{WRONG}: {error}"
        raise self._failed(call, failure)

    def _failed(self, call: str, failure: str) -> PeerFailedError:
        self.remove(f"{call}: {failure}")
        return PeerFailedError(self.failure)

    async def _exchange(self, value: object, max_bytes: int) -> object:
        await self.connection.send(value)
        return await self.connection.receive(max_bytes)
