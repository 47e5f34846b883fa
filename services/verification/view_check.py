"""The views that the engine stores of a game, compared with what follows from its log."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import suppress
from itertools import islice
from typing import Final

from schemas.errors import CorruptDataError
from schemas.field_types import GameId, Seat
from schemas.stored.entries import ViewEntry
from schemas.stored.hash_chain import initial_head, next_head
from services.ledger import GameReader, MissingEntryError, ViewReader, iter_view
from services.referee.games import redact_for
from services.verification.findings import Check, Finding
from services.verification.log_check import check_log
from services.verification.replay import Replay, ResealedEntry

SIGNATURE_NOT_CHECKED: Final = Check(
    "signature", skipped_reason="A game is signed in its file; the engine holds no signature."
)


def check_stored_views(ledger: ViewReader, replay: Replay) -> Check:
    """Every viewer's stored entries compared with what the log's entries come to, one by one."""
    if not replay.log:
        return Check("view", skipped_reason="The log is empty, so there is nothing to compare views with.")
    resealed, error = replay.resealed
    if error is not None:
        return Check(
            "view", skipped_reason="The log can't be read, so there is nothing to compare views with."
        )
    findings: list[Finding] = []
    for viewer in (None, *range(len(replay.state_after(1).seats))):
        findings += _compare_view(ledger, replay.game, viewer, resealed)
    return Check("view", findings)


def check_stored_chain(ledger: GameReader, replay: Replay) -> list[Check]:
    """Check what the log proves by itself, its chain against the heads that the public was sent."""
    game, log = replay.game, replay.log
    heads = _read_sent_heads(ledger, game)
    extra = len(heads) - len(log)
    # The game went on since the log was read.
    if extra > 0 and len(ledger.read_entries(game, len(log))) >= extra:
        heads = heads[: len(log)]
    return check_log(game, len(log), replay.resealed, heads).checks()


def _read_sent_heads(ledger: GameReader, game: GameId) -> list[bytes]:
    """The head after each entry as the public was sent it, as far as that can be read. An entry that was sent without
    a head has the one that follows."""
    heads: list[bytes] = []
    head = initial_head(game)
    with suppress(MissingEntryError, CorruptDataError):
        for entry in iter_view(ledger, game, None):
            head = entry.shown.head or next_head(head, entry.number, entry.shown.public)
            heads.append(head)
    return heads


def _compare_view(
    ledger: ViewReader, game: GameId, viewer: Seat | None, resealed: Sequence[ResealedEntry]
) -> Iterator[Finding]:
    """The findings of one viewer's stored entries. Ends at the first that can't be read."""
    viewer_name = "the public" if viewer is None else f"seat {viewer}"
    index = 0
    try:
        for stored_entry in islice(iter_view(ledger, game, viewer), len(resealed)):
            if why := _view_difference(stored_entry, viewer, resealed[index]):
                yield Finding(
                    index + 1, "view", f"What {viewer_name} was sent isn't what it may know: {why}."
                )
            index += 1
    except (MissingEntryError, CorruptDataError) as error:
        yield Finding(index + 1, "view", f"What {viewer_name} was sent can't be read from here on: {error}.")
    else:
        if index < len(resealed):
            yield Finding(index + 1, "view", f"For {viewer_name} there is nothing from this entry on.")


def _view_difference(stored_entry: ViewEntry, viewer: Seat | None, resealed: ResealedEntry) -> str:
    entry = resealed.entry
    expected_events = tuple(
        visible for event in entry.events if (visible := redact_for(viewer, event)) is not None
    )
    if tuple(stored_entry.events) != expected_events:
        return "its events are others"
    if stored_entry.at != entry.at:
        return "its time is another"
    if stored_entry.answers != (entry.id if viewer is not None and viewer == entry.seat else None):
        return "it answers another command"
    if stored_entry.shown.public != resealed.sealed.public:
        return "what all were sent differs from it in other bytes"
    if viewer is not None and stored_entry.shown.private_part != dict(resealed.sealed.private_parts).get(
        viewer
    ):
        return "its own part differs from it in other bytes"
    return ""
