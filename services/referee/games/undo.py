"""A seat takes its last move back, where the table allows it (UNDO-1, UNDO-2).

The state keeps itself as it was before the last move, as long as that move can be taken back: it showed its seat
nothing hidden, and nobody else has acted since. The move stays in the log; `MoveUndone` after it says that the game
goes on from before it. So whoever folds the events, of any view, comes to the same.
"""

from __future__ import annotations

from typing import Final

from schemas.commands import AnswerUndo, AskUndo
from schemas.events import MoveUndone, UndoAnswered, UndoAsked
from schemas.field_types import Seat
from schemas.refusals import require
from services.referee.games.appliers import applies
from services.referee.games.state import EventStream, GameState

MOST_UNDONE: Final = 50  # moves of a game: each leaves two entries, and no time passes for its mover


def ask_undo(state: GameState, seat: Seat, command: AskUndo) -> EventStream:
    """The seat takes its last move back, or asks those who have to agree."""
    undo = state.undo
    require(state.access.undo != "never", "UNDO-1", "this table takes no move back")
    require(
        undo is not None and undo.seat == seat,
        "UNDO-1",
        "your last move can't be taken back, or isn't the last",
    )
    require(
        state.undone_count < MOST_UNDONE,
        "UNDO-1",
        f"{MOST_UNDONE} moves were taken back here, and no more are",
    )
    require(undo is None or undo.waiting is None, "UNDO-1", "you have asked, and have no answer yet")
    others = [] if state.access.undo == "free" else _others(state, seat)
    yield UndoAsked(seat)
    if not others:
        yield MoveUndone(seat)


def answer_undo(state: GameState, seat: Seat, command: AnswerUndo) -> EventStream:
    """The seat agrees, or doesn't; the last one who agrees takes the move back."""
    undo = state.undo
    waiting = () if undo is None else undo.waiting or ()
    require(seat in waiting, "UNDO-2", "nobody waits for your answer")
    yield UndoAnswered(seat, command.agrees)
    if undo is not None and command.agrees and waiting == (seat,):
        yield MoveUndone(undo.seat)


def _others(state: GameState, seat: Seat) -> tuple[Seat, ...]:
    """The people who still take part, but for this seat."""
    return tuple(other for other in state.active_seats if other != seat and state.seats[other].policy is None)


@applies(UndoAsked)
def undo_asked(state: GameState, event: UndoAsked) -> None:
    assert state.undo is not None, "only a move that can be taken back is asked for"
    state.undo = state.undo._replace(waiting=_others(state, event.seat))


@applies(UndoAnswered)
def undo_answered(state: GameState, event: UndoAnswered) -> None:
    undo = state.undo
    assert undo is not None and undo.waiting is not None, "only what was asked is answered"
    waiting = tuple(seat for seat in undo.waiting if seat != event.seat)
    state.undo = undo._replace(waiting=waiting) if event.agrees else None


@applies(MoveUndone)
def move_undone(state: GameState, event: MoveUndone) -> None:
    """All is as before the move; the time since then counts for nobody."""
    assert state.undo is not None, "only a move that can be taken back is taken back"
    names, at_ms, undone_count = state.names, state.at_ms, state.undone_count + 1
    before = state.undo.before.copy()
    since_ms = at_ms - before.at_ms
    state.go_back_to(before)
    state.at_ms, state.undone_count = at_ms, undone_count
    for seat in state.pending_choices:
        deadline_ms = state.seats[seat].deadline_ms
        state.seats[seat].deadline_ms = None if deadline_ms is None else deadline_ms + since_ms
    if names is not None:
        state.show_names(names)
