"""A log replayed: what every check of an audit, its explanation and its page read.

Each entry is decoded once. The decoded entries are sealed again (`reseal`) and their commands decided again
(`redecide`), each in a pass of its own that runs when it is first asked for. (Entry by entry in turn, the two
cost a sixth more: the code and the state of one push those of the other out of the processor's cache.) A pass
over a damaged log raises nothing: it ends, and keeps the error.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from functools import cached_property
from typing import Generic, NamedTuple, TypeAlias, TypeVar

from schemas.errors import CorruptDataError, MissingGameError
from schemas.events import Event, GameCreated
from schemas.stored.codec import unpack_for_fold, unpack_foreign_entry
from schemas.stored.entries import Entry
from services.referee.games import GameState, fold_events
from services.referee.games.found_games import find_version
from services.verification.redecide import RedecidedEntry, redecide_entries, require_ruled_creation
from services.verification.replay_errors import REPLAY_ERRORS, replaying
from services.verification.reseal import ResealedEntry, reseal_entries

TimedEvents: TypeAlias = tuple[int, Sequence[Event]]  # an entry's time, in milliseconds of the game clock
T = TypeVar("T")


class Pass(NamedTuple, Generic[T]):
    """The result of a pass over a log, entry by entry from the first."""

    entries: tuple[T, ...]
    error: Exception | None  # why it ended at the entry after these, one of REPLAY_ERRORS; None if it didn't


class Replay:
    """A log, and what the passes over it found. `names` are its players', by commitment, for states that people
    are shown; without them seats have numbers alone. Each pass raises MissingGameError where the rules aren't installed
    here: nothing can be said of the game."""

    def __init__(self, game: str, log: Sequence[bytes], names: Mapping[str, str] | None = None) -> None:
        self.game, self.log, self.names = game, log, names

    @cached_property
    def decoded(self) -> Pass[Entry]:
        """Every entry decoded."""
        decoded = _run(map(_decode, self.log))
        _require_installed(decoded)
        return decoded

    @cached_property
    def resealed(self) -> Pass[ResealedEntry]:
        """Every entry sealed again. It ends at the first that can't be decoded, applied or sealed."""
        sealed = _run(reseal_entries(self.game, zip(self.decoded.entries, self.log, strict=False)))
        return sealed if sealed.error else sealed._replace(error=self.decoded.error)

    @cached_property
    def redecided(self) -> Pass[RedecidedEntry]:
        """Every command decided again. It ends at the first entry that can't be decoded or applied."""
        decided = _run(redecide_entries(self.game, self.decoded.entries))
        return decided if decided.error else decided._replace(error=self.decoded.error)

    def entry(self, sequence: int) -> Entry:
        """The entry of this number. Raises CorruptDataError: it can't be decoded."""
        decoded = self.decoded.entries
        return (
            decoded[sequence - 1]
            if sequence <= len(decoded)
            else unpack_foreign_entry(self.log[sequence - 1])
        )

    def timed_events(self, length: int) -> Iterator[TimedEvents]:
        """Time and events of the first entries, also of those after one that can't be decoded whole.

        Raises CorruptDataError, naming the entry whose events can't be decoded, or that follows a creation which the rules
        don't decide."""
        if length > 1 and (first := self.redecided.entries[:1]):
            try:
                require_ruled_creation(first[0].decision, first[0].entry)
            except CorruptDataError as error:
                raise unreadable_entry(2, error) from None
        return _timed_events(self.log, length, self.decoded.entries)

    def state_after(self, length: int) -> GameState:
        """The referee's state after so many entries. Raises CorruptDataError, naming the entry."""
        return _fold(self.timed_events(length), GameState(self.names))


def _require_installed(decoded: Pass[Entry]) -> None:
    """Require the rules of the creation that a log begins with. Raises MissingGameError."""
    if not decoded.entries and isinstance(decoded.error, MissingGameError):
        raise decoded.error
    for entry in decoded.entries[:1]:
        for event in entry.events[:1]:
            if isinstance(event, GameCreated):
                find_version(event.ruleset, event.rules)


def _run(found: Iterator[T]) -> Pass[T]:
    """The pass to its end."""
    entries: list[T] = []
    try:
        entries.extend(found)
    except REPLAY_ERRORS as error:
        return Pass(tuple(entries), error)
    return Pass(tuple(entries), None)


def _decode(data: bytes) -> Entry:
    with replaying():
        return unpack_foreign_entry(data)


def fold_until(log: Sequence[bytes], length: int) -> GameState:
    """The referee's state after so many entries of a log. Raises CorruptDataError, naming the entry."""
    return _fold(_timed_events(log, length), GameState())


def _timed_events(log: Sequence[bytes], length: int, decoded: Sequence[Entry] = ()) -> Iterator[TimedEvents]:
    """Time and events of a log's first entries; those that aren't decoded already are decoded here."""
    for sequence, data in enumerate(log[:length], 1):
        if sequence <= len(decoded):
            yield decoded[sequence - 1].at, decoded[sequence - 1].events
            continue
        try:
            with replaying():
                at_ms, _, _, _, events = unpack_for_fold(data)
        except REPLAY_ERRORS as error:
            raise unreadable_entry(sequence, error) from None
        yield at_ms, events


def _fold(timed_events: Iterable[TimedEvents], state: GameState) -> GameState:
    for sequence, (at_ms, events) in enumerate(timed_events, 1):
        try:
            with replaying():
                fold_events(state, at_ms, events)
        except REPLAY_ERRORS as error:
            raise unreadable_entry(sequence, error) from None
    return state


def unreadable_entry(sequence: int, error: Exception) -> CorruptDataError:
    """The error for an entry that can't be decoded or applied."""
    return CorruptDataError(f"entry {sequence} can't be read or folded: {error}")
