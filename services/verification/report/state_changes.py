"""What the disputed move changed, as a table of the arbiter's page."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

from services.referee.rules import GameState
from services.referee.rules.seat_state import SeatState
from services.text.commands import sender_name
from services.verification.explanation import Explanation


class SeatChange(NamedTuple):
    """A seat's counts before and after."""

    name: str
    counts: Sequence[tuple[int, int]]


class Changes(NamedTuple):
    """What the entry changed; no rows where that is nothing, or the whole state is new."""

    rows: Sequence[SeatChange]
    text: str


def state_changes(explanation: Explanation) -> Changes:
    """What each seat has before and after the entry, and for whom the game waits."""
    before, after = explanation.before, explanation.after
    if not before.game:
        return Changes((), "It laid the table.")
    if explanation.entry.refusal and before.pending_choices == after.pending_choices:
        return Changes((), f"Nothing but the time. {_pending_text(before, after)}")
    rows = [
        SeatChange(sender_name(after, seat), [*zip(_seat_counts(was), _seat_counts(now), strict=True)])
        for seat, (was, now) in enumerate(zip(before.seats, after.seats, strict=True))
    ]
    return Changes(rows, _pending_text(before, after))


def _seat_counts(seat_state: SeatState) -> tuple[int, ...]:
    lists = (seat_state.tickets, seat_state.offer, seat_state.routes)
    return (seat_state.running_score, seat_state.cars, seat_state.cards, *(len(values) for values in lists))


def _pending_text(before: GameState, after: GameState) -> str:
    def pending_seats(state: GameState) -> str:
        return (
            ", ".join(f"{sender_name(state, s)} ({choice})" for s, choice in state.pending_choices.items())
            or "nobody"
        )

    was, now = pending_seats(before), pending_seats(after)
    if was == now:
        return f"The table waits for {now}, as before."
    return f"The table waited for {was}; now it waits for {now}."
