"""What a game needs next: its wake-up, tasks for its bots, its eviction, the next game of its play-off.

The entry that ends a game with a play-off (TIE-1) sets the game's deadline in the same append. The
game stays due until the next game is created and started, each by a command of the server under a
fixed id. A crash between two steps only means that the next look takes the next step; and if two
referees submit the same command, it has one result (P2).
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Final, Protocol

from schemas.commands import CommandEnvelope, StartGame
from schemas.errors import InvalidInputError
from schemas.events import Event, GameCreated, GameEnded, GameStarted
from schemas.field_types import Seat
from schemas.stored.player_names import shown_names
from services.ledger import (
    BotTask,
    CommandSubmitter,
    EvictAt,
    EvictionChange,
    NameReader,
    QueueFullError,
)
from services.referee.games import GameState
from services.referee.games.play_off import next_game
from services.runtime.logging_setup import get_logger

log = get_logger("referee")
BOT_SILENCE_MS: Final = 30_000  # of a bot, before its task is sent again
# The gateway accepts no ids of clients that begin like these.
PLAY_OFF_CREATE_ID: Final = "play-off:create"
PLAY_OFF_START_ID: Final = "play-off:start"


class PlayOffLedger(CommandSubmitter, NameReader, Protocol):
    """What a play-off needs of the ledger."""


def next_wakeup(state: GameState) -> int | None:
    """When a referee must look at the game again, in milliseconds of the game clock: a seat's clock
    runs out, the next game of a play-off is to follow, or a bot was silent for so long that its task
    may be lost. None where nothing is to be done."""
    if state.next_play_off is not None:
        return state.opened_at_ms + state.at_ms
    deadline = state.next_deadline()
    wakeups_ms = [deadline[0]] if deadline else []
    if state.started and not state.result:
        seat_states = state.seats
        if [seat for seat in state.pending_choices if seat_states[seat].policy]:
            wakeups_ms.append(state.at_ms + BOT_SILENCE_MS)
    return state.opened_at_ms + min(wakeups_ms) if wakeups_ms else None


def bot_tasks(state: GameState, sequence: int, seats: Iterable[Seat] | None = None) -> list[BotTask]:
    """A task for each bot that the game waits for, as of this entry; with `seats`, for those of them."""
    seat_states = state.seats
    return [
        BotTask(state.game, seat, sequence, policy)
        for seat in (state.pending_choices if seats is None else seats)
        if (policy := seat_states[seat].policy)
    ]


def new_bot_tasks(
    state: GameState, sequence: int, sender: Seat | None, previously_pending: set[Seat]
) -> list[BotTask]:
    """Tasks for the bots that must act after this entry: those that had nothing to choose before it,
    and its sender, whose command may have been refused."""
    seats = [seat for seat in state.pending_choices if (seat not in previously_pending or seat == sender)]
    return bot_tasks(state, sequence, seats) if seats else []


def eviction_after(
    events: Sequence[Event], ended_eviction_ms: int, unstarted_eviction_ms: int
) -> EvictAt | EvictionChange:
    """What these events do to the game's eviction time: a game that nobody plays (any more, or yet) may leave the
    engine at one of these times of the wall clock."""
    for event in reversed(events):
        cls = event.__class__  # few of all events do anything to it
        if cls is GameEnded:
            return EvictAt(ended_eviction_ms)
        if cls is GameCreated:
            return EvictAt(unstarted_eviction_ms)
        if cls is GameStarted:
            return EvictionChange.CLEAR
    return EvictionChange.KEEP


def advance_play_off(ledger: PlayOffLedger, state: GameState) -> bool:
    """Submit the next command towards the game that follows this one. True when there is none
    left: that game has started, or it can't be had."""
    shown_state = state.copy()  # the players take their names along
    shown_state.show_names(shown_names(ledger.read_names(state.game)))
    follow_up = next_game(shown_state)
    if follow_up is None:
        return True
    game, create_command = follow_up
    for envelope in (
        CommandEnvelope(PLAY_OFF_CREATE_ID, game, None, create_command),
        CommandEnvelope(PLAY_OFF_START_ID, game, None, StartGame()),
    ):
        result = ledger.read_result(game, None, envelope.id)
        if result is None:
            return not _submit_follow_up(ledger, envelope, state.game)
        if not result.sequence:
            _log_stopped(envelope, state.game, f"{result.rule}, {result.reason}")
            return True
    return True


def _submit_follow_up(commands: CommandSubmitter, envelope: CommandEnvelope, ended_game: str) -> bool:
    try:
        commands.submit(envelope)
    except InvalidInputError as error:  # the board just fitted into the first game's command
        _log_stopped(envelope, ended_game, str(error))
        return False
    except QueueFullError:  # the game stays due, and the next look tries again
        pass
    return True


def _log_stopped(envelope: CommandEnvelope, ended_game: str, reason: str) -> None:
    log.error("play-off stopped", game=envelope.game, of=ended_game, command=envelope.id, why=reason)
