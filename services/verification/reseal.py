"""Every entry of a log sealed again from its events alone.

What was stored, sent or signed must be what follows from the events, byte for byte (docs/proof.md).
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import NamedTuple

from schemas.errors import CorruptDataError
from schemas.events import Event
from schemas.stored.codec import unpack_foreign_entry
from schemas.stored.entries import Entry
from schemas.stored.hash_chain import initial_head
from schemas.stored.rows import row_to_event, unpack
from services.referee.games import split_by_visibility
from services.referee.games.proof.event_order import EventOrder
from services.referee.games.proof.pile_tracker import PileTracker
from services.referee.games.proof.sealing import ChainState, SealedEntry, seal_entry
from services.verification.deal_check import DealChecker
from services.verification.replay_errors import replaying


class ResealedEntry(NamedTuple):
    """One entry of a log, sealed again."""

    sequence: int
    entry: Entry
    sealed: SealedEntry
    deal_error: str  # what is wrong with its cards or with its place in the game; empty if nothing is
    view_error: str  # what is wrong with its split into public, private and secret; empty if nothing is


def reseal_entries(game: str, entries: Iterable[tuple[Entry, bytes]]) -> Iterator[ResealedEntry]:
    """Seal every entry of a log again, given decoded and as stored, in order.

    Raises one of `REPLAY_ERRORS` at the first that can't be applied or sealed."""
    deal_checker, event_order, pile_tracker = DealChecker(), EventOrder(), PileTracker()
    state = deal_checker.state
    chain_state = ChainState(sequence=0, head=initial_head(game), last_private_parts={})
    for sequence, (entry, data) in enumerate(entries, 1):
        with replaying():
            order_error = event_order.check(sequence, entry.events)
            deal_error = deal_checker.apply(entry)
            if state.game != game:
                raise CorruptDataError(f"it is of the game {state.game}")
            sealed = seal_entry(state, chain_state, pile_tracker, entry)
            view_error = _view_error(entry, data) if sealed.entry != data else ""
            chain_state = chain_state.after(sealed)
            resealed = ResealedEntry(sequence, entry, sealed, deal_error or order_error, view_error)
        yield resealed


def reseal_log(game: str, log: Iterable[bytes]) -> Iterator[ResealedEntry]:
    """Seal every entry of a log again, as stored. Raises also at the first that can't be decoded."""
    return reseal_entries(game, _decode_entries(log))


def _decode_entries(log: Iterable[bytes]) -> Iterator[tuple[Entry, bytes]]:
    for data in log:
        with replaying():
            entry = unpack_foreign_entry(data)
        yield entry, data


def _view_error(entry: Entry, data: bytes) -> str:
    """Say how the stored entry shows another split into public, private and secret than the visibility of its events."""
    public, private, secret = unpack(data)[5:]  # some rows may be of earlier versions of their events
    split = split_by_visibility(entry.events)
    if _read_events(dict(enumerate(public))) != _read_events(dict(enumerate(split.public))):
        return "What all are shown isn't what all may know."
    stored_parts, expected_parts = (
        {seat: _read_events(rows) for seat, rows in parts.items()} for parts in (private, split.private)
    )
    if stored_parts != expected_parts:
        return "What single seats are shown isn't what they may know."
    if _read_events(secret) != _read_events(split.secret):
        return "What is secret isn't what nobody may know."
    return "It isn't written as a referee writes it."


def _read_events(rows: Mapping[int, Sequence[object] | None]) -> dict[int, Event | None]:
    return {position: row_to_event(row) if row is not None else None for position, row in rows.items()}
