"""What the engine holds for each viewer of a game, against what follows from its log."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import suppress
from itertools import islice
from typing import Final

from schemas.codec import UNSEALED_FORMAT, unpack
from schemas.entries import ViewEntry
from schemas.errors import CorruptDataError
from schemas.field_types import GameId, Seat
from schemas.hash_chain import initial_head, next_head
from services.ledger import GameReader, MissingEntryError, iter_view
from services.referee.rules import fold, redact_for
from services.verification.findings import Check, Finding
from services.verification.log_check import ResealedEntry, check_log, reseal_log
from services.verification.verdict_check import REPLAY_ERRORS

SIGNATURE_NOT_CHECKED: Final = Check(
    "signature", skipped_reason="A game is signed in its file; the engine holds no signature."
)


def check_stored_views(ledger: GameReader, game: GameId, log: Sequence[bytes]) -> Check:
    """Every viewer's stored entries compared with what its log's come to, one by one."""
    if not log:
        return Check("view", skipped_reason="The log is empty, so there is nothing to compare views with.")
    resealed: list[ResealedEntry] = []
    try:
        seats = len(fold(log[:1]).seats)
        resealed.extend(reseal_log(game, log))
    except REPLAY_ERRORS:
        return Check(
            "view", skipped_reason="The log can't be read, so there is nothing to compare views with."
        )
    findings: list[Finding] = []
    for viewer in (None, *range(seats)):
        findings += _compare_view(ledger, game, viewer, resealed, log)
    return Check("view", findings)


def check_stored_chain(ledger: GameReader, game: GameId, log: Sequence[bytes]) -> list[Check]:
    """What the log proves by itself, its chain held against the heads that the public was sent."""
    heads, any_sent = _read_sent_heads(ledger, game)
    extra = len(heads) - len(log)
    # The game went on since the log was read.
    if extra > 0 and len(ledger.read_entries(game, len(log))) >= extra:
        heads = heads[: len(log)]
    checks = check_log(game, log, heads).checks()
    if any_sent or not is_unchained(log):
        return checks
    not_checked = Check(
        "chain", skipped_reason="No head was ever sent of this game: it is older than the chain."
    )
    return [not_checked, *(check for check in checks if check.kind != "chain")]


def _read_sent_heads(ledger: GameReader, game: GameId) -> tuple[list[bytes], bool]:
    """The head after each entry as the public was sent it, as far as that can be read, and whether any
    was sent. What was sent without one has the head that follows."""
    heads: list[bytes] = []
    head, any_sent = initial_head(game), False
    with suppress(MissingEntryError, CorruptDataError):
        for entry in iter_view(ledger, game, None):
            any_sent = any_sent or bool(entry.shown.head)
            head = entry.shown.head or next_head(head, entry.number, entry.shown.public)
            heads.append(head)
    return heads, any_sent


def is_unchained(log: Sequence[bytes]) -> bool:
    """Whether the game began before there was a chain."""
    try:
        return bool(unpack(log[0])[0] == UNSEALED_FORMAT)
    except REPLAY_ERRORS:
        return False


def _compare_view(
    ledger: GameReader,
    game: GameId,
    viewer: Seat | None,
    resealed: Sequence[ResealedEntry],
    log: Sequence[bytes],
) -> Iterator[Finding]:
    """What is wrong with one viewer's entries. Ends at the first that can't be read."""
    viewer_name = "the public" if viewer is None else f"seat {viewer}"
    index = 0
    try:
        for stored_entry in islice(iter_view(ledger, game, viewer), len(resealed)):
            if why := _view_difference(stored_entry, viewer, resealed[index], log[index]):
                yield Finding(
                    index + 1, "view", f"What {viewer_name} was sent isn't what it may know: {why}."
                )
            index += 1
    except (MissingEntryError, CorruptDataError) as error:
        yield Finding(index + 1, "view", f"What {viewer_name} was sent can't be read from here on: {error}.")
    else:
        if index < len(resealed):
            yield Finding(index + 1, "view", f"For {viewer_name} there is nothing from this entry on.")


def _view_difference(
    stored_entry: ViewEntry, viewer: Seat | None, resealed: ResealedEntry, data: bytes
) -> str:
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
    is_sealed = unpack(data)[0] != UNSEALED_FORMAT
    if (
        is_sealed
        and viewer is not None
        and stored_entry.shown.private_part != dict(resealed.sealed.private_parts).get(viewer)
    ):
        return "its own part differs from it in other bytes"
    return ""
