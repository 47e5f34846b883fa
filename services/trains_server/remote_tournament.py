"""A knock-out of remote players: the map that one of them suggests, the rounds, the result; each game, each call to a
player.

At a table the player to act is called, with its time limit, and its answer is a command of its seat.
"""

from __future__ import annotations

import asyncio
from collections import Counter
from collections.abc import Callable, Sequence
from contextlib import suppress
from typing import Final, NamedTuple, Protocol, TypeVar

from schemas.commands import Command, Leave
from schemas.errors import InvalidInputError, LedgerlineError
from schemas.events import GameEnded, SeatCleared, SeatGone
from schemas.field_types import Seat
from schemas.trains.boards.form import BoardForm
from schemas.trains.boards.trains import COLORS, write_trains_map
from schemas.trains.commands import ClaimRoute, KeepTickets, RequestCards
from services.bots.trains.trains_strategies import Connection, Destination
from services.referee.games import fold_events
from services.referee.games.trains.scoring import score
from services.referee.games.trains.train_state import TICKETS, TrainGame
from services.tournament.knock_out import (
    MIN_SIZE,
    GameOutcome,
    KnockOut,
    begin_knock_out,
    finish_round,
    game_outcome,
)
from services.trains.player_state import routes_by_connection
from services.trains_server.peer_connection import PeerConnection, PeerFailedError, TimeLimits
from services.trains_server.protocol_calls import (
    MAX_ANSWER_BYTES,
    MAX_MAP_BYTES,
    cards_in_hand,
    offered_destinations,
    player_state_json,
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


async def play_remote_game(table: Table, players: Sequence[RemotePlayer]) -> GameOutcome:
    """Play a game to its end; the players are in turn order. Who fails at `more` in the last turn is removed before the
    count. Who fails at `win` is out of its rank, and nobody moves up."""
    routes: dict[Connection, str] = {}
    removed_late: list[Seat] = []
    while (turn := await table.next_turn()) is not None:
        seat, player = turn.seat, players[turn.seat]
        routes = routes or routes_by_connection(turn.state.own.board)
        before = Counter(cards_in_hand(turn.state, seat))
        command = await choose_command(player, turn, routes)
        state = await table.send(seat, command)
        if state.seats[seat].exit_reason:
            player.remove("sent what the rules refuse")
        elif await _takes_cards(player, Counter(cards_in_hand(state, seat)) - before):
            continue
        elif state.result:
            removed_late.append(seat)
        else:
            await table.send(seat, Leave())
    outcome = game_outcome(_counted_without(await table.final_state(), removed_late))
    failed = await _tell_results(outcome, players)
    ranks = tuple(tuple(seat for seat in rank if seat not in failed) for rank in outcome.ranks)
    return GameOutcome(ranks, (*outcome.removed, *failed))


def _counted_without(state: TrainGame, removed: Sequence[Seat]) -> TrainGame:
    """The game that is over, counted as if these seats had been removed before its end."""
    if not removed:
        return state
    counted = state.copy()
    gone = [event for seat in removed for event in (SeatGone(seat, "removed"), SeatCleared(seat))]
    fold_events(counted, state.at_ms, gone)
    fold_events(counted, state.at_ms, [GameEnded("last turns", score(counted))])
    return counted


async def choose_command(player: RemotePlayer, turn: Turn, routes: dict[Connection, str]) -> Command:
    """The player's answer as a command of its seat; `Leave`, if it fails."""
    seat, state = turn
    try:
        if state.pending_choices[seat] != TICKETS:
            return await player.play(player_state_json(state, seat), routes)
        map_json = write_trains_map(state.own.board.form)
        await player.setup(map_json, state.seats[seat].own.cars, cards_in_hand(state, seat))
        return await player.pick(offered_destinations(state, seat))
    except PeerFailedError:
        return Leave()


async def _takes_cards(player: RemotePlayer, cards: Counter[str]) -> bool:
    """Tell the player which cards it got, if any; False if it fails at that."""
    try:
        if cards:
            await player.more([color for color in COLORS for _ in range(cards[color])])
    except PeerFailedError:
        return False
    return True


async def _tell_results(outcome: GameOutcome, players: Sequence[RemotePlayer]) -> list[Seat]:
    """Tell everybody who is left whether it has won; returns the seats that failed at that."""

    async def fails(seat: Seat) -> bool:
        try:
            await players[seat].win(seat in outcome.ranks[0])
        except PeerFailedError:
            return True
        return False

    seats = sorted(seat for rank in outcome.ranks for seat in rank)
    results = await asyncio.gather(*(fails(seat) for seat in seats))
    return [seat for seat, has_failed in zip(seats, results, strict=True) if has_failed]


class Turn(NamedTuple):
    """The seat that the game waits for, and the game as this seat sees it."""

    seat: Seat
    state: TrainGame


class Table(Protocol):
    """One game; its seats are numbered in turn order."""

    game: str  # its id, where it is logged

    async def next_turn(self) -> Turn | None:
        """The seat to act; None when the game is over."""
        ...

    async def send(self, seat: Seat, command: Command) -> TrainGame:
        """Decide a command of this seat; the game after it, as the seat sees it. A refusal removes the seat (CONDUCT-2)."""
        ...

    async def final_state(self) -> TrainGame:
        """The game that is over, as everybody may see it."""
        ...


class TableOpener(Protocol):
    """Opens tables."""

    async def open_table(self, form: BoardForm, names: Sequence[str]) -> Table:
        """A new game on this map, which has begun; the names are in turn order."""
        ...


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
