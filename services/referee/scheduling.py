"""What follows from a game that is over: the next game of its play-off (TIE-1).

The entry that ends a game by calling a play-off leaves the game among the due ones, in the
same breath. It stays there until the new game is created and started, each by a letter of
the house under an id that is always the same. So a crash between two steps only means that
the next look takes the next step; and of the letters that two referees, or one that begins
again, put down twice, each has one verdict (P2).
"""

from __future__ import annotations

from typing import Final

from schemas.commands import CommandEnvelope, StartGame
from schemas.errors import InvalidInputError
from services.ledger import BotTask, CommandSubmitter, QueueFullError
from services.referee.rules import GameState
from services.referee.rules.moves.play_off import next_game
from services.runtime.logging_setup import get_logger

log = get_logger("referee")
BOT_SILENCE_MS: Final = 30_000  # of a bot, before it is called again
PLAY_OFF_CREATE_ID: Final = "play-off:create"  # ids that begin so are the house's own: see the gateway's door
PLAY_OFF_START_ID: Final = "play-off:start"


def next_wakeup(state: GameState) -> int | None:
    """When a referee must look at the game again, by the house's time: a clock runs out then,
    another game is to follow, or a bot was silent for so long that what called it may be lost.
    None where nothing is to be done."""
    if state.next_play_off is not None:
        return state.opened_at_ms + state.at_ms
    deadline = state.next_deadline()
    wakeups_ms = [deadline[0]] if deadline else []
    if state.started and not state.result and any(state.seats[seat].policy for seat in state.pending_choices):
        wakeups_ms.append(state.at_ms + BOT_SILENCE_MS)
    return state.opened_at_ms + min(wakeups_ms) if wakeups_ms else None


def bot_tasks(state: GameState, sequence: int) -> list[BotTask]:
    """Notes to the bots that the table waits for, as of this entry."""
    seat_states = state.seats
    return [
        BotTask(state.game, seat, sequence, policy)
        for seat in state.pending_choices
        if (policy := seat_states[seat].policy)
    ]


def advance_play_off(commands: CommandSubmitter, state: GameState) -> bool:
    """Put down the next letter towards the game that follows from this one. True when there
    is none left to put down: that game has started, or it can't be had."""
    follow_up = next_game(state)
    if follow_up is None:
        return True
    game, create_command = follow_up
    for envelope in (
        CommandEnvelope(PLAY_OFF_CREATE_ID, game, None, create_command),
        CommandEnvelope(PLAY_OFF_START_ID, game, None, StartGame()),
    ):
        result = commands.read_result(game, None, envelope.id)
        if result is None:
            return not _submit_follow_up(commands, envelope, state.game)
        if not result.sequence:
            _log_stopped(envelope, state.game, f"{result.rule}, {result.reason}")
            return True
    return True


def _submit_follow_up(commands: CommandSubmitter, envelope: CommandEnvelope, ended_game: str) -> bool:
    try:
        commands.submit(envelope)
    except InvalidInputError as error:  # a board that just fitted into the first game's letter
        _log_stopped(envelope, ended_game, str(error))
        return False
    except QueueFullError:  # the game stays due, and the next look tries again
        pass
    return True


def _log_stopped(envelope: CommandEnvelope, ended_game: str, reason: str) -> None:
    log.error("play-off stopped", game=envelope.game, of=ended_game, command=envelope.id, why=reason)
