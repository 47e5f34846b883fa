"""The referee's decision: a game state and a command in, events or a refusal out.

`decide` is the pure function. `decide_and_apply` and `decide_envelope` do the same on a state that the
caller owns and apply each event as it comes, because to copy a state costs as much as to decide.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from typing import Final

from schemas.commands import (
    AnswerUndo,
    AskUndo,
    CallTime,
    Command,
    CommandEnvelope,
    CreateGame,
    EndGame,
    ForkGame,
    FreeSeat,
    Leave,
    Pass,
    SeatBot,
    StartGame,
    TakeSeat,
)
from schemas.contract import COMMAND_REGISTRY, wish_of
from schemas.events import CommandRefused, Event
from schemas.field_types import Seat
from schemas.refusals import CommandRefusedError, is_rule_of_play, require
from schemas.registry import OfItsKey
from services.referee.games.appliers import advance_clocks, apply_each
from services.referee.games.create_game import NewGameContext, create_game, start_game
from services.referee.games.found_games import RULESET_VERSIONS, RULESETS
from services.referee.games.seat_changes import (
    call_time,
    end_abandoned,
    free_seat,
    leave,
    require_abandoned,
    seat_bot,
    take_seat,
    withdraw_seat,
)
from services.referee.games.state import ACTION, Choice, EventStream, GameState, Ruleset
from services.referee.games.undo import answer_undo, ask_undo


class UnloggedRejectionError(CommandRefusedError):
    """A refusal that gets no entry in the log: the game doesn't exist, can't be created or is over, or the
    turn had too many refusals already. Otherwise anybody could make logs grow without end."""


def decide(state: GameState, seat: Seat | None, command: Command) -> tuple[Event, ...]:
    """The events that follow from the command; the state is not changed.

    Raises CommandRefusedError, which names the rule."""
    return tuple(decide_and_apply(state.copy(), seat, command))


def decide_and_apply(state: GameState, seat: Seat | None, command: Command) -> list[Event]:
    """Decide on a state that the caller owns: each event is applied to it as it is decided.

    Raises CommandRefusedError, and then leaves the state as it was."""
    return apply_each(state, decide_events(state, seat, command))


def decide_envelope(
    state: GameState,
    envelope: CommandEnvelope,
    now_ms: int,
    fresh_seed: str,
    *,
    created_at_ms: int | None = None,
    rulesets: Mapping[str, Ruleset] = RULESETS,
) -> tuple[Event, ...]:
    """The verdict on a command envelope: its events, or one CommandRefused (CONDUCT-1).

    `now_ms` is game-clock time, which runs only while referees run. The caller owns the state; the
    verdict is applied to it, and `state.at_ms` is then the entry's time. A new game also needs
    `fresh_seed` (64 hex digits, used if its creator named no seed) and `created_at_ms` (wall clock,
    recorded only). `rulesets` differ from today's when an old log is decided again.

    Raises UnloggedRejectionError for a refusal that gets no entry in the log."""
    require_loggable(state, envelope)
    if isinstance(envelope.command, CreateGame):
        opening = NewGameContext(
            envelope.game, now_ms, now_ms if created_at_ms is None else created_at_ms, fresh_seed
        )
        with unlogged():  # there is no game to log it
            require(not state.game, "GAME-6", f"there is a game {opening.game} already")
            return tuple(apply_each(state, create_game(rulesets, opening, envelope.command)))
    if isinstance(envelope.command, EndGame):
        with unlogged():  # an entry would begin the host's wait anew
            require_abandoned(state, now_ms - state.opened_at_ms - state.at_ms)
    strict = state.started and state.rule_options.strict  # the first refusal removes the seat (CONDUCT-2)
    if not strict and state.refusal_counts.get(envelope.seat, 0) >= state.rule_options.refusals_kept:
        _require_accepted(state.copy(), envelope, now_ms)
    advance_clocks(state, now_ms - state.opened_at_ms)
    try:
        return tuple(decide_and_apply(state, envelope.seat, envelope.command))
    except CommandRefusedError as error:
        return tuple(apply_each(state, refusal_events(state, envelope.seat, error)))


@contextmanager
def unlogged() -> Iterator[None]:
    """Have a refusal get no entry. Raises UnloggedRejectionError in its place."""
    try:
        yield
    except CommandRefusedError as error:
        raise UnloggedRejectionError(error.rule, error.reason) from None


def require_loggable(state: GameState, envelope: CommandEnvelope) -> None:
    """Raises UnloggedRejectionError unless the verdict gets an entry in the log."""
    seat, creates = envelope.seat, isinstance(envelope.command, CreateGame)
    if not (state.game or creates):
        raise UnloggedRejectionError("GAME-1", f"there is no game {envelope.game}")
    if state.result:
        raise UnloggedRejectionError("GAME-3", "the game is over")
    if seat is not None and seat >= len(state.seats):
        raise UnloggedRejectionError("TOKEN-1", f"the game has no seat {seat}")
    if seat is not None and not creates and state.seats[seat].times_freed and not state.seats[seat].is_seated:
        raise UnloggedRejectionError("TOKEN-1", f"the host has freed seat {seat}")


def _require_accepted(state_copy: GameState, envelope: CommandEnvelope, now_ms: int) -> None:
    """After too many refusals in a turn, only an accepted command gets an entry (RATE-1).

    Raises UnloggedRejectionError if the command is refused."""
    advance_clocks(state_copy, now_ms - state_copy.opened_at_ms)
    try:
        decide_and_apply(state_copy, envelope.seat, envelope.command)
    except CommandRefusedError as error:
        reason = f"too many commands were refused in this turn; this one is too: {error.rule}, {error.reason}"
        raise UnloggedRejectionError("RATE-1", reason) from None


def decide_events(state: GameState, seat: Seat | None, command: Command) -> EventStream:
    """The events of a command, one by one; apply each before asking for the next.

    Raises CommandRefusedError, here or before the first event; or in the midst of a deal, which is then undone."""
    choice = None if seat is None else state.pending_choices.get(seat)
    if seat is not None and choice is not None and not state.is_out_of_time(seat):
        kind = type(command)
        for move in state.ruleset.moves[choice]:
            if move.command is kind:
                decide_move = move.decide
                return decide_move(state, seat, command)
    return decide_without_move(state, seat, command, choice)


def decide_without_move(
    state: GameState, seat: Seat | None, command: Command, choice: Choice | None
) -> EventStream:
    """Decide a command that isn't the answer to the seat's pending choice: a system command, or a seat that leaves.
    Refuses any other, and says why."""
    if decide_system_command := SYSTEM_COMMANDS.get(type(command)):
        require(seat is None, "TOKEN-1", "a seat sends no command of the server's")
        return decide_system_command(state, seat, command)
    if seat is None:
        raise CommandRefusedError("TURN-1", "the server plays no turn")
    require(state.started, "GAME-2", "the game hasn't started")
    if exit_reason := state.seats[seat].exit_reason:
        raise CommandRefusedError(
            "CLOCK-2" if exit_reason == "out of time" else "CONDUCT-3", "you take no further part"
        )
    if decide_at_any_time := SEAT_COMMANDS.get(type(command)):
        return decide_at_any_time(state, seat, command)
    if choice is None and state.turn is None and ACTION not in state.pending_choices.values():
        raise CommandRefusedError(
            "SETUP-2", "others still choose before the first turn, and it isn't for you to choose now"
        )
    if choice is None:
        reason = "it isn't your turn" if state.turn is not None else "you have chosen, and others haven't yet"
        raise CommandRefusedError("TURN-1", reason)
    if state.is_out_of_time(seat):
        raise CommandRefusedError("CLOCK-2", "your time is over")
    require(state.ruleset.has_command(type(command)), "TURN-2", f"these rules have no {command.type}")
    require(choice == ACTION, "TURN-3", f"first answer the open choice: {choice}")
    raise CommandRefusedError("TURN-2", f"there is nothing to {wish_of(command)} now")


def refusal_events(state: GameState, seat: Seat | None, error: CommandRefusedError) -> EventStream:
    """A refusal; in a strict game also the events that remove the seat (CONDUCT-2)."""
    yield CommandRefused(seat, error.rule, error.reason)
    strict = state.started and state.rule_options.strict and is_rule_of_play(error.rule)
    if strict and seat is not None and state.seats[seat].exit_reason is None:
        yield from withdraw_seat(state, seat, "removed")


SYSTEM_COMMANDS: Final[Mapping[type[Command], Callable[[GameState, Seat | None, OfItsKey], EventStream]]] = {
    TakeSeat: take_seat,
    StartGame: start_game,
    CallTime: call_time,
    EndGame: end_abandoned,
    FreeSeat: free_seat,
    SeatBot: seat_bot,
}

SEAT_COMMANDS: Final[Mapping[type[Command], Callable[[GameState, Seat, OfItsKey], EventStream]]] = {
    Leave: leave,
    AskUndo: ask_undo,
    AnswerUndo: answer_undo,
}


def require_decided() -> None:
    """Every declared command is decided: by a move of a ruleset, or by a function of this module; but a
    fork, which the referee expands into a CreateGame first. Raises TypeError, naming the others."""
    decided = {CreateGame, ForkGame, *SEAT_COMMANDS, *SYSTEM_COMMANDS}
    decided |= {
        move.command
        for ruleset in RULESET_VERSIONS.values()
        for moves in ruleset.moves.values()
        for move in moves
    }
    if undecided := [cls.__name__ for cls in COMMAND_REGISTRY.classes if cls not in decided]:
        raise TypeError(f"nothing decides the command {', '.join(undecided)}")


# -- what it would accept -----------------------------------------------------------------------


def legal(state: GameState, seat: Seat) -> list[Command]:
    """Every command that the referee would accept from this seat now, in a fixed order.

    Leaving is always possible and never listed; a market card is listed by its slot only. The list is the
    same for the referee's state and the seat's own view: nothing hidden from the seat is read."""
    choice = state.pending_choices.get(seat)
    if choice is None or state.is_out_of_time(seat):
        return []
    commands: list[Command] = []
    must_act = choice != ACTION
    for move in state.ruleset.moves[choice]:
        list_offers = move.offers
        if offers := list_offers(state, seat):
            commands += offers
            must_act = must_act or not move.is_optional
    must_act = must_act or not state.ruleset.has_command(Pass)
    return commands if must_act else [Pass(), *commands]  # TURN-4
