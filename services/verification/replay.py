"""One pass over a log, which every check of an audit reads.

Each entry is decoded once, applied, sealed again (`reseal`), and its command decided again (`redecide`).
Nothing is raised for a damaged log: the pass records where sealing ended, and where applying and deciding
did, since each may go on without the other.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from functools import cached_property
from typing import NamedTuple, TypeAlias

from schemas.codec import unpack_entry, unpack_for_fold
from schemas.entries import Entry
from schemas.errors import CorruptDataError
from schemas.events import Event
from services.referee.rules import GameState, fold_events
from services.verification.redecide import Redecider, ReplayedDecision
from services.verification.replay_errors import REPLAY_ERRORS, replaying
from services.verification.reseal import ResealedEntry, Resealer

TimedEvents: TypeAlias = tuple[int, Sequence[Event]]  # an entry's time, in milliseconds of the game clock


class ReplayedEntry(NamedTuple):
    """One entry of a log, as far as it could be replayed."""

    sequence: int
    entry: Entry | None = None  # None: it can't be decoded, and the pass ends here
    resealed: ResealedEntry | None = None  # None from the first entry on that can't be sealed again
    redecided: ReplayedDecision | None = None  # None from the first entry on that can't be applied
    early_by_ms: int = 0  # how much its time lies before that of the entry before it
    reseal_error: Exception | None = None  # why sealing ended at this entry
    apply_error: Exception | None = None  # why applying and deciding ended at this entry


class Replay:
    """A log and what one pass over it found. The pass runs when its entries are first asked for."""

    def __init__(self, game: str, log: Sequence[bytes]) -> None:
        self.game, self.log = game, log

    @cached_property
    def entries(self) -> Sequence[ReplayedEntry]:
        """The entries of the log, up to the first that nothing can be done with."""
        return tuple(replay(self.game, self.log))

    def resealed(self) -> Iterator[ResealedEntry]:
        """As `reseal_log`: every entry sealed again. Raises one of REPLAY_ERRORS where that ended."""
        for replayed in self.entries:
            if replayed.reseal_error is not None:
                raise replayed.reseal_error
            if replayed.resealed is None:
                return
            yield replayed.resealed

    def entry(self, sequence: int) -> Entry:
        """The entry of this number. Raises CorruptDataError: it can't be decoded."""
        decoded = self.entries[sequence - 1].entry if sequence <= len(self.entries) else None
        return unpack_entry(self.log[sequence - 1]) if decoded is None else decoded

    def timed_events(self, length: int) -> Iterator[TimedEvents]:
        """Time and events of the first entries, also of those after the end of the pass. Raises
        CorruptDataError, naming the entry that can't be decoded."""
        return _timed_events(self.log, length, self.entries)

    def state_after(self, length: int) -> GameState:
        """The referee's state after so many entries. Raises CorruptDataError, naming the entry."""
        return _fold(self.timed_events(length))


def replay(game: str, log: Sequence[bytes]) -> Iterator[ReplayedEntry]:
    """The entries of a log, up to the first that can be neither sealed again nor applied."""
    replay_pass = _Pass(game)
    for sequence, data in enumerate(log, 1):
        yield replay_pass.replay(sequence, data)
        if replay_pass.is_over:
            return


class _Pass:
    """The pass in progress. Sealing ends, and applying ends, at the first entry that doesn't allow it."""

    def __init__(self, game: str) -> None:
        self.state = GameState()
        self.resealer: Resealer | None = Resealer(game)
        self.redecider: Redecider | None = Redecider(game)
        self.replayed: list[Entry] = []

    @property
    def is_over(self) -> bool:
        return self.resealer is None and self.redecider is None

    def replay(self, sequence: int, data: bytes) -> ReplayedEntry:
        """Replay the next entry."""
        try:
            with replaying():
                entry = unpack_entry(data)
        except REPLAY_ERRORS as error:
            return self._end(sequence, error)
        early_by_ms, apply_error = self._prepare(entry)
        resealed, reseal_error = self._reseal(entry, data)
        if resealed is None and apply_error is None:
            apply_error = self._apply(entry)
        if apply_error is not None:
            self.redecider = None
        redecided = self.redecider.decide(entry, self.state) if self.redecider else None
        self.replayed.append(entry)
        return ReplayedEntry(
            sequence=sequence,
            entry=entry,
            resealed=resealed,
            redecided=redecided,
            early_by_ms=early_by_ms,
            reseal_error=reseal_error,
            apply_error=apply_error,
        )

    def _end(self, sequence: int, error: Exception) -> ReplayedEntry:
        """The last entry of the pass, which can't be decoded."""
        ended = ReplayedEntry(
            sequence,
            reseal_error=None if self.resealer is None else error,
            apply_error=None if self.redecider is None else error,
        )
        self.resealer = self.redecider = None
        return ended

    def _prepare(self, entry: Entry) -> tuple[int, Exception | None]:
        """How early the entry's time is, and why it can't be applied."""
        if self.redecider is None:
            return 0, None
        try:
            with replaying():
                self.redecider.require_context(entry)
                hash((entry.seat, entry.id))  # a sender and a command id, of whatever type
                return max(0, self.state.at_ms - entry.at), None
        except REPLAY_ERRORS as error:
            return 0, error

    def _reseal(self, entry: Entry, data: bytes) -> tuple[ResealedEntry | None, Exception | None]:
        """Apply the entry, and seal it again."""
        if self.resealer is None:
            return None, None
        try:
            with replaying():
                return self.resealer.reseal(self.state, entry, data), None
        except REPLAY_ERRORS as error:
            self.resealer = None
            self.state = _fold((earlier.at, earlier.events) for earlier in self.replayed)
            return None, error

    def _apply(self, entry: Entry) -> Exception | None:
        """Apply the entry where it isn't sealed again."""
        try:
            with replaying():
                fold_events(self.state, entry.at, entry.events)
        except REPLAY_ERRORS as error:
            return error
        return None


def fold_until(log: Sequence[bytes], length: int) -> GameState:
    """The referee's state after so many entries of a log. Raises CorruptDataError, naming the entry."""
    return _fold(_timed_events(log, length))


def _timed_events(
    log: Sequence[bytes], length: int, decoded: Sequence[ReplayedEntry] = ()
) -> Iterator[TimedEvents]:
    """Time and events of a log's first entries; those that aren't decoded already are decoded here."""
    for sequence, data in enumerate(log[:length], 1):
        entry = decoded[sequence - 1].entry if sequence <= len(decoded) else None
        if entry is not None:
            yield entry.at, entry.events
            continue
        try:
            with replaying():
                at_ms, _, _, _, events = unpack_for_fold(data)
        except REPLAY_ERRORS as error:
            raise unreadable_entry(sequence, error) from None
        yield at_ms, events


def _fold(timed_events: Iterable[TimedEvents]) -> GameState:
    state = GameState()
    for sequence, (at_ms, events) in enumerate(timed_events, 1):
        try:
            with replaying():
                fold_events(state, at_ms, events)
        except REPLAY_ERRORS as error:
            raise unreadable_entry(sequence, error) from None
    return state


def unreadable_entry(sequence: int, error: Exception) -> CorruptDataError:
    """What is raised for an entry that can't be decoded or applied."""
    return CorruptDataError(f"entry {sequence} can't be read or folded: {error}")
