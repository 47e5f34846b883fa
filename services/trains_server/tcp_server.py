"""The server: it listens while players sign up, then plays one tournament, and is done."""

from __future__ import annotations

import asyncio
from collections import Counter
from contextlib import suppress
from dataclasses import dataclass
from typing import Final

from schemas.errors import InvalidInputError
from services.runtime.logging_setup import get_logger
from services.trains_server.peer_connection import PeerConnection, PeerFailedError, TimeLimits
from services.trains_server.protocol_calls import MAX_ANSWER_BYTES, read_name
from services.trains_server.remote_tournament import (
    MapChooser,
    Progress,
    RemotePlayer,
    RemoteResult,
    RemoteTournament,
    TableOpener,
)

log = get_logger("trains-server")
MAX_UNNAMED: Final = 200  # connections that have sent no name yet
MAX_OF_ONE_ADDRESS: Final = 8  # players that keep their places when others come: as many as a table seats


@dataclass(frozen=True, slots=True)
class SignUpRules:
    """The times and the numbers of players of a sign-up."""

    wait_s: float = 20.0  # once, or twice
    min_first: int = 5  # players with which the first wait is enough
    min_players: int = 2  # else there is no tournament
    max_players: int = 50  # end the wait at once, unless too many are of one address
    name_s: float = 3.0  # from connecting to the whole name
    answer_s: float = 2.0  # to answer a call
    of_one_address: int = MAX_OF_ONE_ADDRESS  # more give way to players from elsewhere


class SignUp:
    """Takes in players, in the order of their names, until `wait` returns. Who is gone keeps no place, and no address keeps
    others out."""

    def __init__(self, rules: SignUpRules, time_limits: TimeLimits, progress: Progress) -> None:
        self.rules, self._time_limits, self.progress = rules, time_limits, progress
        self.players: list[RemotePlayer] = []
        self._is_open = True
        self._full = asyncio.Event()
        self._unnamed: dict[PeerConnection, asyncio.Task[object] | None] = {}  # with who welcomes them

    async def wait(self) -> list[RemotePlayer]:
        """The players, once there are enough or the time is over; none if they are too few."""
        for least in (self.rules.min_first, self.rules.min_players):
            with suppress(TimeoutError):
                await self._time_limits.within(self.rules.wait_s, "sign-up", self._full.wait())
            self._drop_gone()
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
        if not self._is_open or not self._make_room_for(connection):
            connection.cut()
            return
        connection.notice_loss()
        self._unnamed[connection] = asyncio.current_task()
        try:
            name = await self._read_name(connection)
            self._add(name, connection)
        except (TimeoutError, PeerFailedError, InvalidInputError) as error:
            log.debug("not signed up", why=str(error) or "sent no name in time")
            connection.cut()
        finally:
            self._unnamed.pop(connection, None)

    async def _read_name(self, connection: PeerConnection) -> str:
        received = connection.receive(MAX_ANSWER_BYTES)
        return read_name(await self._time_limits.within(self.rules.name_s, "somebody", received))

    def _make_room_for(self, newcomer: PeerConnection) -> bool:
        """Whether one more may send a name; where too many are there, the first of the address with the most gives way."""
        if len(self._unnamed) < MAX_UNNAMED:
            return True
        counts = Counter(connection.address for connection in self._unnamed)
        crowd, count = counts.most_common(1)[0]
        if counts[newcomer.address] + 1 >= count:
            return False
        first = next(connection for connection in self._unnamed if connection.address == crowd)
        del self._unnamed[first]
        first.cut()
        return True

    def _add(self, name: str, connection: PeerConnection) -> None:
        self._drop_gone()
        if any(player.name == name for player in self.players):
            raise InvalidInputError("name", f"{name} has signed up already")
        if not self._is_open or not self._make_place_for(connection):
            raise PeerFailedError("came too late")
        self.players.append(RemotePlayer(name, connection, self._time_limits, self.rules.answer_s))
        self.progress.sign_up(name, len(self.players))
        if len(self.players) == self.rules.max_players and not self._crowd():
            self._full.set()

    def _drop_gone(self) -> None:
        for player in [player for player in self.players if player.connection.is_gone]:
            self._drop(player, "left before the start")

    def _make_place_for(self, newcomer: PeerConnection) -> bool:
        """Whether one more may play; where no place is free, the last of an address that has too many gives way."""
        if len(self.players) < self.rules.max_players:
            return True
        crowd = self._crowd()
        of_newcomers = [player for player in self.players if player.connection.address == newcomer.address]
        if not crowd or len(of_newcomers) >= self.rules.of_one_address:
            return False
        self._drop(crowd[-1], "gave way to a player of another address")
        return True

    def _crowd(self) -> list[RemotePlayer]:
        """The players of the address with the most, if these are too many."""
        counts = Counter(player.connection.address for player in self.players)
        address, count = counts.most_common(1)[0]
        is_crowd = count > self.rules.of_one_address
        return [player for player in self.players if is_crowd and player.connection.address == address]

    def _drop(self, player: RemotePlayer, why: str) -> None:
        self.players.remove(player)
        player.remove(why)
        log.info("signed off", name=player.name, why=why)


async def run_tcp_tournament(
    sign_up: SignUp, tables: TableOpener, choose_map: MapChooser, address: tuple[str, int]
) -> RemoteResult:
    """Sign players up at this address (host and port), and play. Raises InvalidInputError if nobody can listen there."""
    host, port = address
    try:
        server = await asyncio.start_server(sign_up.welcome, host, port)
    except OSError as error:
        reason = f"nobody can listen at {host}:{port}: {error.strerror or error}"
        raise InvalidInputError("port", reason) from None
    try:
        sign_up.progress.listen(host, server.sockets[0].getsockname()[1])
        players = await sign_up.wait()
        server.close()
        return await RemoteTournament(players, tables, choose_map, sign_up.progress).run()
    finally:
        server.close()
        for player in sign_up.players:
            player.connection.cut()
