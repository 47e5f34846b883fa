"""Every command of a log decided again: what differs from the log is a finding."""

from __future__ import annotations

from collections.abc import Iterator

from schemas.entries import Entry
from schemas.field_types import Seat
from services.verification.findings import Finding
from services.verification.redecide import ReplayedDecision
from services.verification.replay import Replay
from services.verification.verdict_diff import difference


def replay_findings(replay: Replay) -> Iterator[Finding]:
    """Every entry that isn't what the rules decide on its command. Ends at the first that can't be read or
    applied: nothing after it means anything."""
    first_answers: dict[tuple[Seat | None, str], int] = {}
    entries, error = replay.redecided
    for sequence, entry, decision, early_by_ms in entries:
        if early_by_ms:
            yield Finding(
                sequence, "fold", f"Its time is {early_by_ms} ms before that of the entry before it."
            )
        earlier = first_answers.setdefault((entry.seat, entry.id), sequence)
        if earlier != sequence:
            command = "The command" if entry.seat is None else f"Command {entry.id}"
            yield Finding(sequence, "verdict", f"{command} had its verdict in entry {earlier} already.")
        if why := _difference(entry, decision):
            yield Finding(sequence, "verdict", why)
    if error is not None:
        yield Finding(len(entries) + 1, "fold", f"The entry can't be read or folded: {error}.")
    elif not entries:
        yield Finding(None, "fold", "The log is empty.")


def _difference(entry: Entry, decision: ReplayedDecision) -> str:
    """How the entry differs from what the rules decide; empty if it doesn't."""
    if decision.error is not None:
        return f"On the table before it the rules have no answer to its command: {decision.error}."
    if decision.agrees_with(entry.events):
        return ""
    return difference(entry.events, decision.events, decision.rejection)
