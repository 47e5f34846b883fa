"""The referee's judgement: a command and a table in, facts or a refusal out.

`decide` is the pure face. `advance` and `judge` do the same on a table that the caller
owns and apply the facts as they come, because copying a table costs as much as deciding.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any, Final

from schemas.commands import CallTime, Command, CreateGame, Leave, Letter, StartGame, TakeSeat
from schemas.events import CommandRefused, Event
from schemas.field_types import Seat
from schemas.refusals import RULES, Refused, require
from services.referee.rules.evolve import MEANING, elapse
from services.referee.rules.moves.withdrawal import call_time, go_out, leave
from services.referee.rules.ruleset import Facts, Ruleset
from services.referee.rules.rulesets import RULESETS
from services.referee.rules.setup.create_game import Opening, create_game, start_game, take_seat
from services.referee.rules.table import ACTION, Table


class NotKept(Refused):
    """A refusal that leaves no entry in the log: a game that there isn't, isn't to be, or is
    over, or one refusal too many in a turn. Else anybody could make logs grow without end."""


def decide(table: Table, seat: Seat | None, command: Command) -> tuple[Event, ...]:
    """What comes of the command. The table stays as it is. Raises Refused, naming the rule."""
    return tuple(advance(table.branch(), seat, command))


def advance(table: Table, seat: Seat | None, command: Command) -> list[Event]:
    """The same on a table that the caller owns: it takes on the facts as they are told.

    A refusal comes before the first fact, and leaves the table as it was."""
    return _apply(table, facts(table, seat, command))


def judge(
    table: Table,
    letter: Letter,
    now: int,
    fresh_seed: str,
    *,
    created: int | None = None,
    rulesets: Mapping[str, Ruleset] = RULESETS,
) -> tuple[Event, ...]:
    """The verdict on a letter at the time `now` (milliseconds of the house's own time, which runs
    only while referees do): every command gets one, a refused one too.

    The table, which the caller owns, takes on the verdict, and `table.at` is its time. What a new
    game needs besides: `fresh_seed`, if its creator named none; `created`, the wall clock's time,
    which is only written down; and `rulesets`, which are others than today's where an old log is
    decided again. Raises NotKept for what the log has no place for."""
    require_place(table, letter)
    if isinstance(letter.command, CreateGame):
        opening = Opening(letter.game, now, now if created is None else created, fresh_seed)
        return tuple(_create(table, opening, letter.command, rulesets))
    strict = table.started and table.figures.strict  # there the first refusal removes its seat
    if not strict and table.refusals.get(letter.seat, 0) >= table.figures.refusals_kept:
        _require_accepted(table.branch(), letter, now)
    elapse(table, now - table.opened)
    try:
        return tuple(advance(table, letter.seat, letter.command))
    except Refused as no:
        return tuple(_apply(table, refusal(table, letter.seat, no)))


def require_place(table: Table, letter: Letter) -> None:
    """The log has a place for the answer."""
    seat, creates = letter.seat, isinstance(letter.command, CreateGame)
    try:
        require(table.game or creates, "GAME-1", f"there is no game {letter.game}")
        require(not table.over, "GAME-3", "the game is over")
        require(seat is None or seat < len(table.places), "TOKEN-1", f"the game has no seat {seat}")
    except Refused as no:
        raise NotKept(no.rule, no.why) from None


def _require_accepted(branch: Table, letter: Letter, now: int) -> None:
    """After many refusals in a turn only a command that is accepted gets an entry."""
    elapse(branch, now - branch.opened)
    try:
        advance(branch, letter.seat, letter.command)
    except Refused as no:
        why = f"too many commands were refused in this turn; this one is too: {no.rule}, {no.why}"
        raise NotKept("RATE-1", why) from None


def facts(table: Table, seat: Seat | None, command: Command) -> Facts:
    """The facts that a command makes, one by one; apply each before asking for the next."""
    if house := HOUSE.get(type(command)):
        require(seat is None, "TOKEN-1", "a seat doesn't speak for the house")
        return house(table, seat, command)
    if seat is None:
        raise Refused("TURN-1", "the house has no turn")
    require(table.started, "GAME-2", "the game hasn't started")
    if gone := table.places[seat].gone:
        raise Refused("CLOCK-2" if gone == "out of time" else "CONDUCT-3", "you take no further part")
    if isinstance(command, Leave):
        return leave(table, seat, command)
    choice = table.awaits.get(seat)
    if choice is None and table.turn is None:
        raise Refused(
            "SETUP-2", "starting tickets are still being chosen, and it isn't for you to choose now"
        )
    if choice is None:
        raise Refused("TURN-1", "it isn't your turn")
    if table.out_of_time(seat):
        raise Refused("CLOCK-2", "your time is over")
    move = table.rules.move(choice, command)
    if move is None:
        require(table.rules.has(type(command)), "TURN-2", f"these rules have no {command.type}")
        require(choice == ACTION, "TURN-3", f"first answer the open choice: {choice}")
        raise Refused("TURN-2", f"there is nothing to {command.type.replace('_', ' ')} now")
    return move.decide(table, seat, command)


def refusal(table: Table, seat: Seat | None, no: Refused) -> Facts:
    """A refusal, and what a strict table does with a seat that earns one (CONDUCT-2)."""
    yield CommandRefused(seat, no.rule, no.why)
    strict = table.started and table.figures.strict and no.rule in RULES
    if strict and seat is not None and table.places[seat].gone is None:
        yield from go_out(table, seat, "removed")


def _create(
    table: Table, opening: Opening, command: CreateGame, rulesets: Mapping[str, Ruleset]
) -> list[Event]:
    """Lay the table. A game that can't be created has no log to hold the refusal."""
    try:
        require(not table.game, "GAME-6", f"there is a game {opening.game} already")
        return _apply(table, create_game(rulesets, opening, command))
    except Refused as no:
        raise NotKept(no.rule, no.why) from None


def _apply(table: Table, told: Facts) -> list[Event]:
    events = []
    for event in told:
        MEANING[event.__class__](table, event)
        events.append(event)
    return events


HOUSE: Final[Mapping[type[Command], Callable[[Table, Seat | None, Any], Facts]]] = {
    TakeSeat: take_seat,
    StartGame: start_game,
    CallTime: call_time,
}
