"""The answer to a seat's dispute while the game runs: what follows from its own view, and nothing else.

The result of an audit (that a verdict is wrong, even whether one is) may follow from cards that the seat
doesn't know. So this doesn't read the log. It reads the entries that the seat was sent, up to the move, and the
command if that was the seat's own; two games with the same view give the same answer, byte for byte (P5). The
answer has:

- whether what the seat was shown fits the commitments (the chain, its private parts, its cards);
- of its own command, whether the rules decide the same on what the seat could see: accepted, or refused by that
  rule. The rules need no more than that for it;
- of another's command, the events that the seat was shown. Whether they are right may depend on hidden cards.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Any, Final

from schemas.commands import Command, Pass
from schemas.contract import Json
from schemas.events import CommandRefused, Event
from schemas.field_types import HIDDEN, Seat
from schemas.refusals import CommandRefusedError
from schemas.stored.entries import Entry, ViewEntry
from services.referee.games import GameState, fold_events, legal
from services.referee.games.decide import decide_events
from services.referee.games.evolve import advance_clocks
from services.referee.games.fair_randomness import no_order_root
from services.referee.games.proof.public_verifier import VerificationFailedError
from services.referee.games.proof.view_verifier import ViewVerifier
from services.referee.games.state import RandomnessPolicy
from services.verification.explanation import Explanation, apply_shown, seat_explanation_json
from services.verification.rule_citations import cite

HIDDEN_COMMAND: Final = Pass()  # stands for another's command, which `seat_explanation_json` leaves out
OTHERS_MOVE_ANSWER: Final = (
    "What you were shown of this move is in order. All of it is shown when the game is over."
)
RULES_AGREE_ANSWER: Final = "On what you could see, the rules give just this verdict."


def _hidden_order(state: GameState, row: Sequence[str]) -> tuple[Any, ...]:  # Any: no names, but HIDDEN
    return (HIDDEN,) * len(row)


HIDDEN_RANDOMNESS: Final = RandomnessPolicy(_hidden_order, no_order_root)  # of a viewer, who has no seed


def fold_view(view: Sequence[ViewEntry]) -> GameState:
    """The state as the seat sees it."""
    state = GameState()
    for entry in view:
        fold_events(state, entry.at, entry.events)
    return state


def seat_visible_answer(
    game: str, seat: Seat, view: Sequence[ViewEntry], sequence: int, command: Command | None
) -> Json:
    """The answer about an entry, as a JSON object. `command` is the entry's if the seat sent it itself."""
    before, shown_entry = fold_view(view[: sequence - 1]), view[sequence - 1]
    proof_error = verify_shown(game, seat, view[:sequence])
    doubt = "" if command is None else own_verdict_doubt(before, seat, shown_entry, command)
    perspective = apply_shown(before, shown_entry.at, shown_entry.events)
    sender, answers = seat if command else None, shown_entry.answers or ""
    entry = Entry(shown_entry.at, answers, sender, command or HIDDEN_COMMAND, shown_entry.events)
    explanation = Explanation(
        sequence,
        entry,
        {"referee": perspective, seat: perspective},  # the seat's own stands for both
        cite(perspective.after.ruleset.name, entry) if command else (),
        tuple(legal(perspective.before, seat)) if command else (),
        doubt,
    )
    return {
        "scope": "so far",
        "number": sequence,
        "verdict": proof_error or doubt or (RULES_AGREE_ANSWER if command else OTHERS_MOVE_ANSWER),
        "shown_as_committed": not proof_error,
        "as_the_rules_say": not doubt if command else None,
        "move": seat_explanation_json(explanation, seat),
    }


def verify_shown(game: str, seat: Seat, view: Sequence[ViewEntry]) -> str:
    """Say from which entry on the view doesn't fit the commitments, and why; empty if it does."""
    view_verifier = ViewVerifier(game, seat)
    try:
        for entry in view:
            view_verifier.verify(entry)
    except VerificationFailedError as error:
        return f"What you were shown doesn't fit what was committed to, from entry {error.sequence} on: {error.reason}."
    return ""


def own_verdict_doubt(before: GameState, seat: Seat, shown_entry: ViewEntry, command: Command) -> str:
    """Say how the verdict on a seat's own command differs from the rules' on the state that it saw; empty if it doesn't.
    Only the first event is compared, since later ones may be hidden."""
    shown_event = shown_entry.events[0] if shown_entry.events else None
    shown_refusal = shown_event if isinstance(shown_event, CommandRefused) else None
    try:
        first_event = decide_on_view(before.copy(), shown_entry.at, seat, command)
    except CommandRefusedError as refusal:
        if shown_refusal is None or shown_refusal.rule != refusal.rule:
            return f"On what you could see, the rules refuse it: {refusal.rule}, {refusal.reason}."
        return ""
    if shown_refusal is not None:
        return "On what you could see, the rules accept it."
    if type(first_event) is not type(shown_event):
        return "On what you could see, the rules have something else come of it."
    return ""


def decide_on_view(state: GameState, at_ms: int, seat: Seat, command: Command) -> Event | None:
    """The first event of a seat's command on a state as a viewer sees it, which becomes the state at that time.
    Raises CommandRefusedError."""
    advance_clocks(state, at_ms)
    state.ruleset = replace(state.ruleset, randomness=HIDDEN_RANDOMNESS)
    return next(iter(decide_events(state, seat, command)), None)
