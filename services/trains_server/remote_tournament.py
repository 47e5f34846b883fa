"""A knock-out of remote players: the map that one of them suggests, the rounds, the result.

The games of a round are played side by side, since a table waits for one player at a time. The result doesn't depend
on it.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Sequence
from contextlib import suppress
from typing import Final, NamedTuple

from schemas.errors import LedgerlineError
from schemas.trains.boards.form import BoardForm
from services.tournament.knock_out import MIN_SIZE, GameOutcome, KnockOut, begin_knock_out, finish_round
from services.trains_server.peer_connection import PeerFailedError
from services.trains_server.remote_game import Table, TableOpener, play_remote_game
from services.trains_server.remote_player import RemotePlayer

TOO_FEW_DESTINATIONS: Final = "error: not enough destinations"

MapChooser = Callable[[Sequence[BoardForm], int], BoardForm]  # raises LedgerlineError where none will do


class PlayedGame(NamedTuple):
    """A game of a tournament; players are indices in the order of sign-up."""

    round: int  # from 1
    game: str  # its id; empty where it isn't logged
    players: tuple[int, ...]
    outcome: GameOutcome


class RemoteResult(NamedTuple):
    """How a tournament ended."""

    players: tuple[RemotePlayer, ...]  # in the order of sign-up
    winners: frozenset[str]
    removed: frozenset[str]
    games: tuple[PlayedGame, ...]
    has_map: bool = True  # else nobody suggested one with enough destinations

    def protocol_json(self) -> object:
        """The result in the form of the protocol."""
        return [sorted(self.winners), sorted(self.removed)] if self.has_map else TOO_FEW_DESTINATIONS


class Progress:
    """Hears how a tournament goes on, and does nothing of it: subclasses may."""

    def listen(self, host: str, port: int) -> None:
        """Players can connect now."""

    def sign_up(self, name: str, count: int) -> None:
        """Somebody has signed up, as the last of so many."""

    def begin_round(self, number: int, groups: Sequence[Sequence[RemotePlayer]]) -> None:
        """A round begins, with these games."""

    def open_game(self, number: int, table: Table, players: Sequence[RemotePlayer]) -> None:
        """A game of the round begins."""

    def finish_game(self, played: PlayedGame) -> None:
        """A game is over."""


class RemoteTournament:
    """The tournament of the players that have signed up. `run` plays it."""

    def __init__(
        self, players: Sequence[RemotePlayer], tables: TableOpener, choose_map: MapChooser, progress: Progress
    ) -> None:
        self._signed_up, self._tables, self._choose_map = tuple(players), tables, choose_map
        self._progress = progress
        self._players: tuple[RemotePlayer, ...] = ()  # those that have started
        self._games: list[PlayedGame] = []

    async def run(self) -> RemoteResult:
        """Play the tournament. Raises what opening a table does."""
        suggestions = await asyncio.gather(*(_suggestion(player) for player in self._signed_up))
        self._players = tuple(player for player in self._signed_up if not player.failure)
        forms = [form for form in suggestions if form is not None]
        winners, has_map = await self._play_on_chosen_map(forms)
        await self._end(winners)
        failed = frozenset(player.name for player in self._signed_up if player.failure)
        names = frozenset(player.name for player in winners)
        return RemoteResult(self._signed_up, names - failed, failed, tuple(self._games), has_map)

    async def _play_on_chosen_map(self, forms: Sequence[BoardForm]) -> tuple[list[RemotePlayer], bool]:
        """The winners, and whether there was a map."""
        if len(self._players) < MIN_SIZE:
            return list(self._players), True
        try:
            form = await asyncio.to_thread(self._choose_map, forms, len(self._players))
        except LedgerlineError:
            return [], False
        knock_out = begin_knock_out(len(self._players))
        number = 1
        while knock_out.groups:
            knock_out = finish_round(knock_out, await self._play_round(number, knock_out, form))
            number += 1
        return [self._players[index] for index in knock_out.remaining], True

    async def _play_round(self, number: int, knock_out: KnockOut, form: BoardForm) -> list[GameOutcome]:
        groups = [[self._players[index] for index in group] for group in knock_out.groups]
        self._progress.begin_round(number, groups)
        return await asyncio.gather(*(self._play_game(number, indices, form) for indices in knock_out.groups))

    async def _play_game(self, number: int, indices: Sequence[int], form: BoardForm) -> GameOutcome:
        players = [self._players[index] for index in indices]
        table = await self._tables.open_table(form, [player.name for player in players])
        self._progress.open_game(number, table, players)
        outcome = await play_remote_game(table, players)
        signed_up = tuple(self._signed_up.index(player) for player in players)
        played = PlayedGame(number, table.game, signed_up, outcome)
        self._games.append(played)
        self._progress.finish_game(played)
        return outcome

    async def _end(self, winners: Sequence[RemotePlayer]) -> None:
        """Tell everybody who is left whether it has won the tournament."""

        async def end(player: RemotePlayer) -> None:
            with suppress(PeerFailedError):  # it is removed, which its `failure` says
                await player.end(player in winners)

        await asyncio.gather(*(end(player) for player in self._players if not player.failure))


async def _suggestion(player: RemotePlayer) -> BoardForm | None:
    """The map that the player suggests; None if it fails."""
    try:
        return await player.start()
    except PeerFailedError:
        return None
