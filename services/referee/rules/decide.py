"""The referee's judgement: a command and a table in, facts or a refusal out.

`decide` is the pure face. `advance` and `judge` do the same on a table that the caller
owns and apply the facts as they come, because copying a table costs as much as deciding.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any, Final

from schemas.commands import CallTime, Command, CommandEnvelope, CreateGame, Leave, StartGame, TakeSeat
from schemas.events import CommandRefused, Event
from schemas.field_types import Seat
from schemas.refusals import GAME_RULES, CommandRefusedError, require
from services.referee.rules.evolve import APPLIERS, advance_clocks
from services.referee.rules.moves.withdrawal import call_time, leave, withdraw_seat
from services.referee.rules.ruleset import EventStream, Ruleset
from services.referee.rules.rulesets import RULESETS
from services.referee.rules.setup.create_game import NewGameContext, create_game, start_game, take_seat
from services.referee.rules.state import ACTION, GameState


class UnloggedRejectionError(CommandRefusedError):
    """A refusal that leaves no entry in the log: a game that there isn't, isn't to be, or is
    over, or one refusal too many in a turn. Else anybody could make logs grow without end."""


def decide(state: GameState, seat: Seat | None, command: Command) -> tuple[Event, ...]:
    """What comes of the command. The table stays as it is. Raises Refused, naming the rule."""
    return tuple(decide_and_apply(state.copy(), seat, command))


def decide_and_apply(state: GameState, seat: Seat | None, command: Command) -> list[Event]:
    """The same on a table that the caller owns: it takes on the facts as they are told.

    A refusal comes before the first fact, and leaves the table as it was."""
    return _apply_all(state, decide_events(state, seat, command))


def decide_envelope(
    state: GameState,
    envelope: CommandEnvelope,
    now_ms: int,
    fresh_seed: str,
    *,
    created_at_ms: int | None = None,
    rulesets: Mapping[str, Ruleset] = RULESETS,
) -> tuple[Event, ...]:
    """The verdict on a letter at the time `now` (milliseconds of the house's own time, which runs
    only while referees do): every command gets one, a refused one too.

    The table, which the caller owns, takes on the verdict, and `table.at` is its time. What a new
    game needs besides: `fresh_seed`, if its creator named none; `created`, the wall clock's time,
    which is only written down; and `rulesets`, which are others than today's where an old log is
    decided again. Raises NotKept for what the log has no place for."""
    require_loggable(state, envelope)
    if isinstance(envelope.command, CreateGame):
        opening = NewGameContext(
            envelope.game, now_ms, now_ms if created_at_ms is None else created_at_ms, fresh_seed
        )
        return tuple(_create_game(state, opening, envelope.command, rulesets))
    strict = state.started and state.rule_options.strict  # there the first refusal removes its seat
    if not strict and state.refusal_counts.get(envelope.seat, 0) >= state.rule_options.refusals_kept:
        _require_accepted(state.copy(), envelope, now_ms)
    advance_clocks(state, now_ms - state.opened_at_ms)
    try:
        return tuple(decide_and_apply(state, envelope.seat, envelope.command))
    except CommandRefusedError as error:
        return tuple(_apply_all(state, refusal_events(state, envelope.seat, error)))


def require_loggable(state: GameState, envelope: CommandEnvelope) -> None:
    """The log has a place for the answer."""
    seat, creates = envelope.seat, isinstance(envelope.command, CreateGame)
    try:
        require(state.game or creates, "GAME-1", f"there is no game {envelope.game}")
        require(not state.result, "GAME-3", "the game is over")
        require(seat is None or seat < len(state.seats), "TOKEN-1", f"the game has no seat {seat}")
    except CommandRefusedError as error:
        raise UnloggedRejectionError(error.rule, error.reason) from None


def _require_accepted(state_copy: GameState, envelope: CommandEnvelope, now_ms: int) -> None:
    """After many refusals in a turn only a command that is accepted gets an entry."""
    advance_clocks(state_copy, now_ms - state_copy.opened_at_ms)
    try:
        decide_and_apply(state_copy, envelope.seat, envelope.command)
    except CommandRefusedError as error:
        reason = f"too many commands were refused in this turn; this one is too: {error.rule}, {error.reason}"
        raise UnloggedRejectionError("RATE-1", reason) from None


def decide_events(state: GameState, seat: Seat | None, command: Command) -> EventStream:
    """The facts that a command makes, one by one; apply each before asking for the next."""
    if decide_system_command := SYSTEM_COMMANDS.get(type(command)):
        require(seat is None, "TOKEN-1", "a seat doesn't speak for the house")
        return decide_system_command(state, seat, command)
    if seat is None:
        raise CommandRefusedError("TURN-1", "the house has no turn")
    require(state.started, "GAME-2", "the game hasn't started")
    if exit_reason := state.seats[seat].exit_reason:
        raise CommandRefusedError(
            "CLOCK-2" if exit_reason == "out of time" else "CONDUCT-3", "you take no further part"
        )
    if isinstance(command, Leave):
        return leave(state, seat, command)
    choice = state.pending_choices.get(seat)
    if choice is None and state.turn is None:
        raise CommandRefusedError(
            "SETUP-2", "starting tickets are still being chosen, and it isn't for you to choose now"
        )
    if choice is None:
        raise CommandRefusedError("TURN-1", "it isn't your turn")
    if state.is_out_of_time(seat):
        raise CommandRefusedError("CLOCK-2", "your time is over")
    move = state.ruleset.find_move(choice, command)
    if move is None:
        require(state.ruleset.has_command(type(command)), "TURN-2", f"these rules have no {command.type}")
        require(choice == ACTION, "TURN-3", f"first answer the open choice: {choice}")
        raise CommandRefusedError("TURN-2", f"there is nothing to {command.type.replace('_', ' ')} now")
    return move.decide(state, seat, command)


def refusal_events(state: GameState, seat: Seat | None, error: CommandRefusedError) -> EventStream:
    """A refusal, and what a strict table does with a seat that earns one (CONDUCT-2)."""
    yield CommandRefused(seat, error.rule, error.reason)
    strict = state.started and state.rule_options.strict and error.rule in GAME_RULES
    if strict and seat is not None and state.seats[seat].exit_reason is None:
        yield from withdraw_seat(state, seat, "removed")


def _create_game(
    state: GameState, opening: NewGameContext, command: CreateGame, rulesets: Mapping[str, Ruleset]
) -> list[Event]:
    """Lay the table. A game that can't be created has no log to hold the refusal."""
    try:
        require(not state.game, "GAME-6", f"there is a game {opening.game} already")
        return _apply_all(state, create_game(rulesets, opening, command))
    except CommandRefusedError as error:
        raise UnloggedRejectionError(error.rule, error.reason) from None


def _apply_all(state: GameState, stream: EventStream) -> list[Event]:
    events = []
    for event in stream:
        APPLIERS[event.__class__](state, event)
        events.append(event)
    return events


SYSTEM_COMMANDS: Final[Mapping[type[Command], Callable[[GameState, Seat | None, Any], EventStream]]] = {
    TakeSeat: take_seat,
    StartGame: start_game,
    CallTime: call_time,
}
