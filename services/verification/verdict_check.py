"""Every command of a log decided again: what differs from the log is a finding."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from schemas.entries import Entry
from schemas.field_types import Seat
from services.verification.findings import Finding
from services.verification.redecide import ReplayedDecision
from services.verification.replay import ReplayedEntry
from services.verification.verdict_diff import difference


def replay_findings(entries: Iterable[ReplayedEntry]) -> Iterator[Finding]:
    """Every replayed entry that isn't what the rules decide on its command. Ends at the first that can't be
    read or applied: nothing after it means anything."""
    first_answers: dict[tuple[Seat | None, str], int] = {}
    sequence = 0
    for replayed in entries:
        sequence, entry, decision = replayed.sequence, replayed.entry, replayed.redecided
        if replayed.apply_error is not None:
            yield Finding(sequence, "fold", f"The entry can't be read or folded: {replayed.apply_error}.")
        if entry is None or decision is None:
            return
        if replayed.early_by_ms:
            yield Finding(
                sequence,
                "fold",
                f"Its time is {replayed.early_by_ms} ms before that of the entry before it.",
            )
        earlier = first_answers.setdefault((entry.seat, entry.id), sequence)
        if earlier != sequence:
            yield Finding(
                sequence, "verdict", f"Command {entry.id} had its verdict in entry {earlier} already."
            )
        if why := _difference(entry, decision):
            yield Finding(sequence, "verdict", why)
    if not sequence:
        yield Finding(None, "fold", "The log is empty.")


def _difference(entry: Entry, decision: ReplayedDecision) -> str:
    """How the entry differs from what the rules decide; empty if it doesn't."""
    if decision.error is not None:
        return f"On the table before it the rules have no answer to its command: {decision.error}."
    if decision.agrees_with(entry.events):
        return ""
    return difference(entry.events, decision.events, decision.rejection)
