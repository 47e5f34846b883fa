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
from schemas.refusals import CommandRefusedError
from services.referee.rules import GameState, fold_events, legal
from services.referee.rules.decide import decide_events
from services.referee.rules.evolve import advance_clocks
from services.referee.rules.fair_randomness import SERVER_SEED
from services.referee.rules.proof.view_verifier import VerificationFailedError, ViewVerifier
from services.text.events import event_sentence
from services.verification.explanation import Explanation, NarratedEvent, ViewerPerspective, cite
from services.verification.explanation_json import seat_explanation_json

HIDDEN_COMMAND: Final = Pass()  # stands for another's command, which `explanation_for` leaves out
OTHERS_MOVE_ANSWER: Final = (
    "What you were shown of this move is in order. All of it is told when the game is over."
)
RULES_AGREE_ANSWER: Final = "On what you could see, the rules give just this verdict."


def _hidden_order(state: GameState, row: Sequence[str]) -> tuple[Any, ...]:
    return (HIDDEN,) * len(row)


HIDDEN_RANDOMNESS: Final = SERVER_SEED._replace(
    shuffle=_hidden_order
)  # how cards are shuffled for who has no seed


def fold_view(view: Sequence[ViewEntry]) -> GameState:
    """The table as the seat sees it."""
    state = GameState()
    for entry in view:
        fold_events(state, entry.at, entry.events)
    return state


def seat_visible_answer(
    game: str, seat: Seat, view: Sequence[ViewEntry], sequence: int, command: Command | None
) -> dict[str, Any]:
    """What the seat is told of entry `number`, as a JSON object. `command` is what it said there itself."""
    before, shown_entry = fold_view(view[: sequence - 1]), view[sequence - 1]
    proof_error = verify_shown(game, seat, view[:sequence])
    doubt = "" if command is None else own_verdict_doubt(before, seat, shown_entry, command)
    perspective = _perspective(before, shown_entry)
    explanation = Explanation(
        sequence,
        Entry(
            shown_entry.at,
            shown_entry.answers or "",
            seat if command else None,
            command or HIDDEN_COMMAND,
            shown_entry.events,
        ),
        {"referee": perspective, seat: perspective},  # to this seat both are one
        (),
        tuple(legal(perspective.before, seat)) if command else (),
        doubt,
    )
    if command:
        explanation = explanation._replace(cited=cite(perspective.after.ruleset.name, explanation.entry))
    return {
        "scope": "so far",
        "number": sequence,
        "verdict": proof_error or doubt or (RULES_AGREE_ANSWER if command else OTHERS_MOVE_ANSWER),
        "shown_as_committed": not proof_error,
        "as_the_rules_say": not doubt if command else None,
        "move": seat_explanation_json(explanation, seat),
    }


def verify_shown(game: str, seat: Seat, view: Sequence[ViewEntry]) -> str:
    """How what the seat was shown doesn't fit what was committed to; empty if it does."""
    view_verifier = ViewVerifier(game, seat)
    try:
        for entry in view:
            view_verifier.verify(entry)
    except VerificationFailedError as error:
        return f"What you were shown doesn't fit what was committed to, from entry {error.sequence} on: {error.reason}."
    return ""


def own_verdict_doubt(before: GameState, seat: Seat, shown_entry: ViewEntry, command: Command) -> str:
    """How the verdict on a seat's own command differs from what the rules say on the table that it saw;
    empty if it doesn't. It goes by the first thing that came of it: what follows may be hidden."""
    shown_event = shown_entry.events[0] if shown_entry.events else None
    shown_refusal = shown_event if isinstance(shown_event, CommandRefused) else None
    state = before.copy()
    advance_clocks(state, shown_entry.at)
    state.ruleset = replace(state.ruleset, randomness=HIDDEN_RANDOMNESS)
    try:
        first_event = next(iter(decide_events(state, seat, command)), None)
    except CommandRefusedError as refusal:
        if shown_refusal is None or shown_refusal.rule != refusal.rule:
            return f"On what you could see, the rules refuse it: {refusal.rule}, {refusal.reason}."
        return ""
    if shown_refusal is not None:
        return "On what you could see, the rules accept it."
    if type(first_event) is not type(shown_event):
        return "On what you could see, the rules have something else come of it."
    return ""


def _perspective(before: GameState, shown_entry: ViewEntry) -> ViewerPerspective:
    """The entry on the seat's table: first its time comes, then what it was told."""
    after, before_at_time = before.copy(), before
    advance_clocks(after, shown_entry.at)
    advance_clocks(before_at_time, shown_entry.at)
    narrated_events = []
    for event in shown_entry.events:
        fold_events(after, shown_entry.at, (event,))
        narrated_events.append(NarratedEvent(event, event_sentence(after, event) or ""))
    return ViewerPerspective(before_at_time, tuple(narrated_events), after)
