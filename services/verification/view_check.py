"""What the engine holds for each viewer of a game, against what follows from its log."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import suppress
from itertools import islice
from typing import Final

from schemas.codec import UNSEALED, Corrupt, unpack
from schemas.entries import ViewEntry
from schemas.field_types import GameId, Seat
from schemas.hash_chain import first_head, next_head
from services.ledger import Gap, Ledger, whole_view
from services.referee.rules import fold, seen_by
from services.verification.findings import Check, Finding
from services.verification.log_check import Step, proven, walk
from services.verification.verdict_check import UNREADABLE

UNSIGNED: Final = Check("signature", undone="A game is signed in its file; the engine holds no signature.")


def views_sent(ledger: Ledger, game: GameId, log: Sequence[bytes]) -> Check:
    """Every viewer's stored entries compared with what its log's come to, one by one."""
    if not log:
        return Check("view", undone="The log is empty, so there is nothing to compare views with.")
    steps: list[Step] = []
    try:
        seats = len(fold(log[:1]).places)
        steps.extend(walk(game, log))
    except UNREADABLE:
        return Check("view", undone="The log can't be read, so there is nothing to compare views with.")
    findings: list[Finding] = []
    for viewer in (None, *range(seats)):
        findings += _compared(ledger, game, viewer, steps, log)
    return Check("view", findings)


def chain_sent(ledger: Ledger, game: GameId, log: Sequence[bytes]) -> list[Check]:
    """What the log proves by itself, its chain held against the heads that the public was sent."""
    heads, known = _heads(ledger, game)
    more = len(heads) - len(log)
    if more > 0 and len(ledger.history(game, len(log))) >= more:  # the game went on since the log was read
        heads = heads[: len(log)]
    checks = proven(game, log, heads).checks()
    if known or not is_old(log):
        return checks
    older = Check("chain", undone="No head was ever sent of this game: it is older than the chain.")
    return [older, *(check for check in checks if check.kind != "chain")]


def _heads(ledger: Ledger, game: GameId) -> tuple[list[bytes], bool]:
    """The head after each entry as the public was sent it, as far as that can be read, and whether any
    was sent. What was sent without one has the head that follows."""
    heads: list[bytes] = []
    head, known = first_head(game), False
    with suppress(Gap, Corrupt):
        for entry in whole_view(ledger, game, None):
            known = known or bool(entry.shown.head)
            head = entry.shown.head or next_head(head, entry.number, entry.shown.public)
            heads.append(head)
    return heads, known


def is_old(log: Sequence[bytes]) -> bool:
    """Whether the game began before there was a chain."""
    try:
        return bool(unpack(log[0])[0] == UNSEALED)
    except UNREADABLE:
        return False


def _compared(
    ledger: Ledger, game: GameId, viewer: Seat | None, steps: Sequence[Step], log: Sequence[bytes]
) -> Iterator[Finding]:
    """What is wrong with one viewer's entries. Ends at the first that can't be read."""
    whose = "the public" if viewer is None else f"seat {viewer}"
    number = 0
    try:
        for shown in islice(whole_view(ledger, game, viewer), len(steps)):
            if why := _amiss(shown, viewer, steps[number], log[number]):
                yield Finding(number + 1, "view", f"What {whose} was sent isn't what it may know: {why}.")
            number += 1
    except (Gap, Corrupt) as error:
        yield Finding(number + 1, "view", f"What {whose} was sent can't be read from here on: {error}.")
    else:
        if number < len(steps):
            yield Finding(number + 1, "view", f"For {whose} there is nothing from this entry on.")


def _amiss(shown: ViewEntry, viewer: Seat | None, step: Step, data: bytes) -> str:
    entry = step.entry
    ought = tuple(seen for event in entry.events if (seen := seen_by(viewer, event)) is not None)
    if tuple(shown.events) != ought:
        return "its events are others"
    if shown.at != entry.at:
        return "its time is another"
    if shown.answers != (entry.id if viewer is not None and viewer == entry.seat else None):
        return "it answers another command"
    if shown.shown.public != step.sealed.public:
        return "what all were sent differs from it in other bytes"
    sealed = unpack(data)[0] != UNSEALED
    if sealed and viewer is not None and shown.shown.part != dict(step.sealed.parts).get(viewer):
        return "its own part differs from it in other bytes"
    return ""
