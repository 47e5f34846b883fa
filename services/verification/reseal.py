"""Every entry of a log sealed again from its events alone.

What was stored, sent or signed must be what follows from the events, byte for byte (docs/proof.md).
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import NamedTuple

from schemas.codec import unpack_foreign_entry
from schemas.entries import Entry
from schemas.errors import CorruptDataError
from schemas.events import Event
from schemas.hash_chain import initial_head
from schemas.rows import Row, row_to_event, unpack
from services.referee.rules import GameState, split_by_visibility
from services.referee.rules.proof.event_order import EventOrder
from services.referee.rules.proof.pile_tracker import PileTracker
from services.referee.rules.proof.sealing import ChainState, SealedEntry, seal_entry
from services.verification.deal_check import apply_and_check_deal
from services.verification.replay_errors import replaying


class ResealedEntry(NamedTuple):
    """One entry of a log, sealed again."""

    sequence: int
    entry: Entry
    sealed: SealedEntry
    deal_error: str  # what is wrong with its cards or with its place in the game; empty if nothing is
    view_error: str  # what is wrong with its split into public, private and secret; empty if nothing is


class Resealer:
    """Seals the entries of one log again, in order. After an error it is of no more use."""

    def __init__(self, game: str) -> None:
        self.game = game
        self.event_order, self.pile_tracker = EventOrder(), PileTracker()
        self.chain_state = ChainState(sequence=0, head=initial_head(game), last_private_parts={})

    def reseal(self, state: GameState, entry: Entry, data: bytes) -> ResealedEntry:
        """Apply the next entry to the caller's state, which is that before it, and seal the entry again.
        `data` is the entry as stored. Raises what damaged events may cause: one of `REPLAY_ERRORS`."""
        sequence = self.chain_state.sequence + 1
        order_error = self.event_order.check(sequence, entry.events)
        deal_error = apply_and_check_deal(state, entry)
        if state.game != self.game:
            raise CorruptDataError(f"it is of the game {state.game}")
        sealed = seal_entry(state, self.chain_state, self.pile_tracker, entry)
        view_error = _view_error(entry, _read_stored_rows(data)) if sealed.entry != data else ""
        self.chain_state = self.chain_state.after(sealed)
        return ResealedEntry(
            sequence=sequence,
            entry=entry,
            sealed=sealed,
            deal_error=deal_error or order_error,
            view_error=view_error,
        )


def reseal_entries(game: str, entries: Iterable[tuple[Entry, bytes]]) -> Iterator[ResealedEntry]:
    """Every entry of a log sealed again, given decoded and as stored, in order. Raises one of `REPLAY_ERRORS`
    at the first that can't be applied or sealed."""
    state, resealer = GameState(), Resealer(game)
    for entry, data in entries:
        with replaying():
            resealed = resealer.reseal(state, entry, data)
        yield resealed


def reseal_log(game: str, log: Iterable[bytes]) -> Iterator[ResealedEntry]:
    """The same of a log as stored, which also ends at the first entry that can't be decoded."""
    return reseal_entries(game, _decode_entries(log))


def _decode_entries(log: Iterable[bytes]) -> Iterator[tuple[Entry, bytes]]:
    for data in log:
        with replaying():
            entry = unpack_foreign_entry(data)
        yield entry, data


class _StoredRows(NamedTuple):
    """An entry's rows as stored. Some may be of earlier versions of their events."""

    public: tuple[Row | None, ...]
    private: Mapping[int, Mapping[int, Sequence[object]]]
    secret: Mapping[int, Sequence[object]]


def _read_stored_rows(data: bytes) -> _StoredRows:
    return _StoredRows(*unpack(data)[5:])


def _view_error(entry: Entry, stored: _StoredRows) -> str:
    """How what the entry shows each viewer differs from what each may know."""
    split = split_by_visibility(entry.events)
    if _read_events(dict(enumerate(stored.public))) != _read_events(dict(enumerate(split.public))):
        return "What all are shown isn't what all may know."
    stored_parts, expected_parts = (
        {seat: _read_events(private_rows) for seat, private_rows in rows.items()}
        for rows in (stored.private, split.private)
    )
    if stored_parts != expected_parts:
        return "What single seats are shown isn't what they may know."
    if _read_events(stored.secret) != _read_events(split.secret):
        return "What is secret isn't what nobody may know."
    return "It isn't written as a referee writes it."


def _read_events(rows: Mapping[int, Sequence[object] | None]) -> dict[int, Event | None]:
    return {position: row_to_event(row) if row is not None else None for position, row in rows.items()}
