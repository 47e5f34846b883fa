"""What a seat can be told of a move while the game runs: what follows from its own view, and nothing else.

An audit reads the log, and whatever it says of it (that a verdict is wrong, even only whether one is) may
follow from cards that the seat doesn't know. So this reads no log. It is made of the entries that the
seat was sent, up to the move, and of the command if that was its own, so two games that a seat can't tell
apart give it the same answer, byte for byte (P5). What it says:

- whether what the seat was shown fits what the house committed to (the chain, its own parts, its cards);
- of its own command, whether the rules give this verdict to it on what the seat could see: accepted, or
  refused by that rule. The rules ask for no more than the seat can see to say so;
- of another's command, what the seat saw come of it. Whether that was right may hang on hidden cards.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Any, Final

from schemas.commands import Command, Pass
from schemas.entries import Entry, ViewEntry
from schemas.events import CommandRefused
from schemas.field_types import HIDDEN, Seat
from schemas.refusals import Refused
from services.referee.rules import Table, fold_events, legal
from services.referee.rules.decide import facts
from services.referee.rules.evolve import elapse
from services.referee.rules.fair_randomness import BY_SEED
from services.referee.rules.proof.view_verifier import Betrayed, Witness
from services.text.events import tell
from services.verification.explanation import Explained, Sight, Told, cite
from services.verification.explanation_json import explanation_for

UNTOLD: Final = Pass()  # stands for another's command, which `explanation_for` leaves out
OF_ANOTHER: Final = "What you were shown of this move is in order. All of it is told when the game is over."
AS_RULED: Final = "On what you could see, the rules give just this verdict."


def _face_down(table: Table, row: Sequence[str]) -> tuple[Any, ...]:
    return (HIDDEN,) * len(row)


FACE_DOWN: Final = BY_SEED._replace(order=_face_down)  # how cards are shuffled for who has no seed


def table_of(view: Sequence[ViewEntry]) -> Table:
    """The table as the seat sees it."""
    table = Table()
    for entry in view:
        fold_events(table, entry.at, entry.events)
    return table


def answer_so_far(
    game: str, seat: Seat, view: Sequence[ViewEntry], number: int, command: Command | None
) -> dict[str, Any]:
    """What the seat is told of entry `number`, as a JSON object. `command` is what it said there itself."""
    before, now = table_of(view[: number - 1]), view[number - 1]
    wrong = betrayed(game, seat, view[:number])
    doubt = "" if command is None else doubt_of(before, seat, now, command)
    sight = _sight(before, now)
    move = Explained(
        number,
        Entry(now.at, now.answers or "", seat if command else None, command or UNTOLD, now.events),
        {"referee": sight, seat: sight},  # to this seat both are one
        (),
        tuple(legal(sight.before, seat)) if command else (),
        doubt,
    )
    if command:
        move = move._replace(cited=cite(sight.after.rules.name, move.entry))
    return {
        "scope": "so far",
        "number": number,
        "verdict": wrong or doubt or (AS_RULED if command else OF_ANOTHER),
        "shown_as_committed": not wrong,
        "as_the_rules_say": not doubt if command else None,
        "move": explanation_for(move, seat),
    }


def betrayed(game: str, seat: Seat, view: Sequence[ViewEntry]) -> str:
    """How what the seat was shown doesn't fit what was committed to; empty if it does."""
    witness = Witness(game, seat)
    try:
        for entry in view:
            witness.see(entry)
    except Betrayed as error:
        return f"What you were shown doesn't fit what was committed to, from entry {error.number} on: {error.why}."
    return ""


def doubt_of(before: Table, seat: Seat, now: ViewEntry, command: Command) -> str:
    """How the verdict on a seat's own command differs from what the rules say on the table that it saw;
    empty if it doesn't. It goes by the first thing that came of it: what follows may be hidden."""
    told = now.events[0] if now.events else None
    refused = told if isinstance(told, CommandRefused) else None
    table = before.branch()
    elapse(table, now.at)
    table.rules = replace(table.rules, dealing=FACE_DOWN)
    try:
        first = next(iter(facts(table, seat, command)), None)
    except Refused as no:
        if refused is None or refused.rule != no.rule:
            return f"On what you could see, the rules refuse it: {no.rule}, {no.why}."
        return ""
    if refused is not None:
        return "On what you could see, the rules accept it."
    if type(first) is not type(told):
        return "On what you could see, the rules have something else come of it."
    return ""


def _sight(before: Table, now: ViewEntry) -> Sight:
    """The entry on the seat's table: first its time comes, then what it was told."""
    after, at_the_time = before.branch(), before
    elapse(after, now.at)
    elapse(at_the_time, now.at)
    told = []
    for event in now.events:
        fold_events(after, now.at, (event,))
        told.append(Told(event, tell(after, event) or ""))
    return Sight(at_the_time, tuple(told), after)
