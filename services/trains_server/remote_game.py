"""One game of remote players at a table: the player to act is called, and its answer is a command of its seat.

A player that fails leaves the table, which in these rules removes its seat (CONDUCT-3). One that sends what the rules
refuse is removed by the refusal (CONDUCT-2).
"""

from __future__ import annotations

import asyncio
from collections import Counter
from collections.abc import Sequence
from typing import NamedTuple, Protocol

from schemas.boards.form import BoardForm
from schemas.boards.trains import COLORS, write_trains_map
from schemas.commands import Leave, PlayerCommand
from schemas.field_types import Seat
from services.bots.policies.trains_strategies import Connection
from services.referee.rules import GameState
from services.referee.rules.state import TICKETS
from services.tournament.knock_out import GameOutcome, game_outcome
from services.trains.player_state import routes_by_connection
from services.trains_server.peer_connection import PeerFailedError
from services.trains_server.protocol_calls import cards_in_hand, offered_destinations, player_state_json
from services.trains_server.remote_player import RemotePlayer


async def play_remote_game(table: Table, players: Sequence[RemotePlayer]) -> GameOutcome:
    """Play a game to its end; the players are in turn order. A player that fails after its last turn is out of its rank, and
    nobody moves up."""
    routes: dict[Connection, str] = {}
    failed_late: set[Seat] = set()
    while (turn := await table.next_turn()) is not None:
        seat, player = turn.seat, players[turn.seat]
        routes = routes or routes_by_connection(turn.state.board)
        before = Counter(cards_in_hand(turn.state, seat))
        command = await choose_command(player, turn, routes)
        state = await table.send(seat, command)
        if state.seats[seat].exit_reason:
            player.remove("sent what the rules refuse")
        elif await _takes_cards(player, Counter(cards_in_hand(state, seat)) - before):
            continue
        elif state.result:
            failed_late.add(seat)
        else:
            await table.send(seat, Leave())
    outcome = game_outcome(await table.final_state())
    failed_late |= await _tell_results(outcome, players, failed_late)
    ranks = tuple(tuple(seat for seat in rank if seat not in failed_late) for rank in outcome.ranks)
    return GameOutcome(ranks, (*outcome.removed, *sorted(failed_late)))


async def choose_command(player: RemotePlayer, turn: Turn, routes: dict[Connection, str]) -> PlayerCommand:
    """The player's answer as a command of its seat; `Leave`, if it fails."""
    seat, state = turn
    try:
        if state.pending_choices[seat] != TICKETS:
            return await player.play(player_state_json(state, seat), routes)
        map_json = write_trains_map(state.board.form)
        await player.setup(map_json, state.seats[seat].cars, cards_in_hand(state, seat))
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


async def _tell_results(
    outcome: GameOutcome, players: Sequence[RemotePlayer], failed: set[Seat]
) -> set[Seat]:
    """Tell everybody who is left whether it has won; returns the seats that failed at that."""

    async def fails(seat: Seat) -> bool:
        try:
            await players[seat].win(seat in outcome.ranks[0])
        except PeerFailedError:
            return True
        return False

    seats = [seat for rank in outcome.ranks for seat in rank if seat not in failed]
    results = await asyncio.gather(*(fails(seat) for seat in seats))
    return {seat for seat, has_failed in zip(seats, results, strict=True) if has_failed}


class Turn(NamedTuple):
    """The seat that the game waits for, and the game as this seat sees it."""

    seat: Seat
    state: GameState


class Table(Protocol):
    """One game; its seats are numbered in turn order."""

    game: str  # its id, where it is logged

    async def next_turn(self) -> Turn | None:
        """The seat to act; None when the game is over."""
        ...

    async def send(self, seat: Seat, command: PlayerCommand) -> GameState:
        """Decide a command of this seat; the game after it, as the seat sees it. A refusal removes the seat (CONDUCT-2)."""
        ...

    async def final_state(self) -> GameState:
        """The game that is over, as everybody may see it."""
        ...


class TableOpener(Protocol):
    """Opens tables."""

    async def open_table(self, form: BoardForm, names: Sequence[str]) -> Table:
        """A new game on this map, which has begun; the names are in turn order."""
        ...
