"""Every entry of a log sealed again from its events alone.

What was stored, sent or signed must be what follows from the events, byte for byte (docs/proof.md).
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import NamedTuple

from schemas.codec import UNSEALED_FORMAT, pack_public, unpack_foreign_entry
from schemas.entries import Entry
from schemas.errors import CorruptDataError
from schemas.events import Event
from schemas.hash_chain import initial_head, next_head
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
    is_sealed: bool  # its stored form proves something: it isn't of rules from before the chain
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
        is_sealed, view_error = state.ruleset.randomness.sealed, ""
        if sealed.entry != data:
            stored_form = _read_stored_form(data)
            is_sealed = stored_form.is_sealed
            if not is_sealed:
                sealed = _chained_as_stored(sealed, stored_form, self.chain_state)
            view_error = _view_error(state, entry, stored_form)
        self.chain_state = self.chain_state.after(sealed)
        return ResealedEntry(
            sequence=sequence,
            entry=entry,
            sealed=sealed,
            is_sealed=is_sealed,
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


class _StoredForm(NamedTuple):
    """An entry's rows as stored. Those of an old game may be of earlier versions of their events."""

    is_sealed: bool
    at_ms: int
    public: tuple[Row | None, ...]
    private: Mapping[int, Mapping[int, Sequence[object]]]
    secret: Mapping[int, Sequence[object]]


def _read_stored_form(data: bytes) -> _StoredForm:
    entry_format, at_ms, _, _, _, public, private, secret = unpack(data)
    return _StoredForm(entry_format != UNSEALED_FORMAT, at_ms, public, private, secret)


def _chained_as_stored(sealed: SealedEntry, stored_form: _StoredForm, chain_state: ChainState) -> SealedEntry:
    """The entry of an old game, which is chained by its rows as stored."""
    split = split_by_visibility(())._replace(public=stored_form.public)
    public = pack_public(stored_form.at_ms, split)
    head = next_head(chain_state.head, chain_state.sequence + 1, public)
    return sealed._replace(public=public, head=head)


def _view_error(state: GameState, entry: Entry, stored_form: _StoredForm) -> str:
    """How what the entry shows each viewer differs from what each may know; empty if it doesn't."""
    if state.ruleset.randomness.sealed != stored_form.is_sealed:
        return "It isn't in the form that entries of this game have."
    split = split_by_visibility(entry.events)
    if _read_events(dict(enumerate(stored_form.public))) != _read_events(dict(enumerate(split.public))):
        return "What all are shown isn't what all may know."
    stored, expected = (
        {seat: _read_events(private_rows) for seat, private_rows in rows.items()}
        for rows in (stored_form.private, split.private)
    )
    if stored != expected:
        return "What single seats are shown isn't what they may know."
    if _read_events(stored_form.secret) != _read_events(split.secret):
        return "What is secret isn't what nobody may know."
    return "It isn't written as a referee writes it." if stored_form.is_sealed else ""


def _read_events(rows: Mapping[int, Sequence[object] | None]) -> dict[int, Event | None]:
    return {position: row_to_event(row) if row is not None else None for position, row in rows.items()}
