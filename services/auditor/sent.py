"""What the engine holds for each viewer of a game, against what its log says that viewer may know."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from schemas.codec import Corrupt, unpack_entry
from schemas.views import Entry, ViewEntry
from schemas.words import GameId, Seat
from services.auditor.deciding import UNREADABLE
from services.auditor.findings import Check, Finding
from services.ledger import Gap, Ledger
from services.referee.rules import fold, seen_by


def views_sent(ledger: Ledger, game: GameId, log: Sequence[bytes]) -> Check:
    """Every viewer's stored entries compared with its log's, one by one."""
    if not log:
        return Check("view", undone="The log is empty, so there is nothing to compare views with.")
    try:
        entries = [unpack_entry(data) for data in log]
        seats = len(fold(log[:1]).places)
    except UNREADABLE:
        return Check("view", undone="The log can't be read, so there is nothing to compare views with.")
    findings: list[Finding] = []
    for viewer in (None, *range(seats)):
        findings += _compared(ledger, game, viewer, entries)
    return Check("view", findings)


def _compared(
    ledger: Ledger, game: GameId, viewer: Seat | None, entries: Sequence[Entry]
) -> Iterator[Finding]:
    """What is wrong with one viewer's entries. Ends at the first that can't be read."""
    whose = "the public" if viewer is None else f"seat {viewer}"
    number = 0
    while number < len(entries):
        try:
            page = ledger.seen(game, viewer, number)
        except (Gap, Corrupt) as error:
            yield Finding(number + 1, "view", f"What {whose} was sent can't be read from here on: {error}.")
            return
        if not page:
            yield Finding(number + 1, "view", f"For {whose} there is nothing from this entry on.")
            return
        for shown in page[: len(entries) - number]:
            number += 1
            if why := _amiss(shown, viewer, entries[number - 1]):
                yield Finding(number, "view", f"What {whose} was sent isn't what it may know: {why}.")


def _amiss(shown: ViewEntry, viewer: Seat | None, entry: Entry) -> str:
    ought = tuple(seen for event in entry.events if (seen := seen_by(viewer, event)) is not None)
    if tuple(shown.events) != ought:
        return "its events are others"
    if shown.at != entry.at:
        return "its time is another"
    answers = entry.id if viewer is not None and viewer == entry.seat else None
    return "" if shown.answers == answers else "it answers another command"
