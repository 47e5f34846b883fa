"""The sign-up: who connects and sends a name in time plays, in the order of the names."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass
from typing import Final

from schemas.errors import InvalidInputError
from services.runtime.logging_setup import get_logger
from services.trains_server.call_answers import MAX_ANSWER_BYTES, read_name
from services.trains_server.peer_connection import PeerConnection, PeerFailedError
from services.trains_server.remote_player import RemotePlayer
from services.trains_server.time_limits import TimeLimits

log = get_logger("trains-server")
MAX_UNNAMED: Final = 200  # connections that have sent no name yet


@dataclass(frozen=True, slots=True)
class SignUpRules:
    """How long the sign-up waits, and for how many."""

    wait_s: float = 20.0  # once, or twice
    min_first: int = 5  # players with which the first wait is enough
    min_players: int = 2  # else there is no tournament
    max_players: int = 50  # end the wait at once
    name_s: float = 3.0  # from connecting to the whole name
    answer_s: float = 2.0  # to answer a call


class SignUp:
    """Takes in those who connect, until `wait` returns."""

    def __init__(
        self,
        rules: SignUpRules,
        time_limits: TimeLimits,
        on_name: Callable[[str, int], object] = lambda name, count: None,
    ) -> None:
        """`on_name` gets each name that has signed up, and how many have."""
        self.rules, self._time_limits, self._on_name = rules, time_limits, on_name
        self.players: list[RemotePlayer] = []
        self._is_open = True
        self._full = asyncio.Event()
        self._unnamed: dict[PeerConnection, asyncio.Task[object] | None] = {}  # with who welcomes them

    async def wait(self) -> list[RemotePlayer]:
        """Everybody who signed up, once there are enough or the time is over; none where there are too few."""
        for least in (self.rules.min_first, self.rules.min_players):
            with suppress(TimeoutError):
                await self._time_limits.within(self.rules.wait_s, "sign-up", self._full.wait())
            if len(self.players) >= least or self._full.is_set():
                break
        self._is_open = False
        await self._cut_unnamed()
        if len(self.players) >= self.rules.min_players:
            return self.players
        for player in self.players:
            player.remove("too few signed up")
        return []

    async def _cut_unnamed(self) -> None:
        tasks = [task for task in self._unnamed.values() if task is not None]
        for connection in self._unnamed:
            connection.cut()
        if tasks:
            await asyncio.wait(tasks)

    async def welcome(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        """Take in somebody who has connected: asyncio calls it for every connection."""
        connection = PeerConnection(reader, writer)
        if not self._is_open or len(self._unnamed) >= MAX_UNNAMED:
            connection.cut()
            return
        self._unnamed[connection] = asyncio.current_task()
        try:
            name = await self._read_name(connection)
            self._add(name, connection)
        except (TimeoutError, PeerFailedError, InvalidInputError) as error:
            log.debug("not signed up", why=str(error) or "sent no name in time")
            connection.cut()
        finally:
            del self._unnamed[connection]

    async def _read_name(self, connection: PeerConnection) -> str:
        received = connection.receive(MAX_ANSWER_BYTES)
        return read_name(await self._time_limits.within(self.rules.name_s, "somebody", received))

    def _add(self, name: str, connection: PeerConnection) -> None:
        if not self._is_open or len(self.players) >= self.rules.max_players:
            raise PeerFailedError("came too late")
        if any(player.name == name for player in self.players):
            raise InvalidInputError("name", f"{name} has signed up already")
        self.players.append(RemotePlayer(name, connection, self._time_limits, self.rules.answer_s))
        self._on_name(name, len(self.players))
        if len(self.players) == self.rules.max_players:
            self._full.set()
