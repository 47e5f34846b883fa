"""One game of remote players at a table: the player to act is called, and its answer is a command of its seat.

A player that fails leaves the table, which in these rules removes its seat (CONDUCT-3), and puts cards that it didn't take
back on the deck. One that sends what the rules refuse is removed by the refusal (CONDUCT-2).
"""

from __future__ import annotations

import asyncio
from collections import Counter
from collections.abc import Sequence
from typing import NamedTuple, Protocol

from schemas.commands import Command, Leave
from schemas.events import GameEnded, SeatCleared, SeatGone
from schemas.field_types import Seat
from schemas.trains.boards.form import BoardForm
from schemas.trains.boards.trains import COLORS, write_trains_map
from services.bots.trains.trains_strategies import Connection
from services.referee.games import fold_events
from services.referee.games.trains.pending_choices import TICKETS
from services.referee.games.trains.scoring import score
from services.referee.games.trains.train_state import TrainGame
from services.tournament.knock_out import GameOutcome, game_outcome
from services.trains.player_state import routes_by_connection
from services.trains_server.peer_connection import PeerFailedError
from services.trains_server.protocol_calls import cards_in_hand, offered_destinations, player_state_json
from services.trains_server.remote_player import RemotePlayer


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
