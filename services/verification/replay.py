"""A log replayed: what every check of an audit, its explanation and its page read.

Each entry is decoded once. The decoded entries are sealed again from their events alone, and their commands decided
again by the version of the rules that the first entry names, each in a pass of its own that runs when it is first
asked for. (Entry by entry in turn, the two cost a sixth more: the code and the state of one push those of the other
out of the processor's cache.) A pass over a damaged log raises nothing: it ends, and keeps the error.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import AbstractContextManager
from dataclasses import replace
from functools import cached_property
from typing import Final, Generic, NamedTuple, TypeAlias, TypeVar

from schemas.commands import CommandEnvelope
from schemas.errors import CorruptDataError, InvalidInputError, LedgerlineError, MissingGameError
from schemas.events import CommandRefused, Event, GameCreated, SeatTaken, SeedSealed
from schemas.stored.codec import unpack_for_fold, unpack_foreign_entry
from schemas.stored.entries import Entry
from schemas.stored.hash_chain import initial_head
from schemas.stored.rows import row_to_event, unpack
from services.referee.games import (
    GameState,
    UnloggedRejectionError,
    decide_envelope,
    fold_events,
    split_by_visibility,
)
from services.referee.games.found_games import find_version
from services.referee.games.proof.pile_tracker import PileTracker
from services.referee.games.proof.public_verifier import EventOrder
from services.referee.games.proof.sealing import ChainState, SealedEntry, seal_entry
from services.referee.games.state import Ruleset
from services.runtime.worker_loop import PROGRAMMING_ERRORS
from services.verification.deal_check import DealChecker


class ReplayBrokenError(LedgerlineError):
    """The code broke on an entry that can be decoded: no rules wrote it, or the code has a bug."""


REPLAY_ERRORS: Final = (CorruptDataError, InvalidInputError, ReplayBrokenError)


class _Replaying:
    """The context of `replaying`: a class, as it is entered twice for each entry of a log."""

    def __enter__(self) -> None: ...

    def __exit__(self, _: object, error: BaseException | None, __: object) -> None:
        if isinstance(error, PROGRAMMING_ERRORS):
            raise ReplayBrokenError(f"{type(error).__name__}: {error}") from error


_REPLAYING: Final = _Replaying()


def replaying() -> AbstractContextManager[None]:
    """For code that decodes, applies, seals or decides entries, and for no other. Raises ReplayBrokenError
    where it breaks."""
    return _REPLAYING


class ReplayContext(NamedTuple):
    """The settings of a game that its log's first entry has for all commands."""

    game: str
    created_ms: int
    opened_ms: int
    seed: str
    rulesets: Mapping[str, Ruleset]


class ReplayedDecision(NamedTuple):
    """The rules' decision on a command: events; or no entry at all, because of a rejection or an error."""

    events: tuple[Event, ...] = ()
    rejection: UnloggedRejectionError | None = None
    error: Exception | None = None  # the rules can't decide it on this state

    def agrees_with(self, logged_events: tuple[Event, ...]) -> bool:
        """Whether the log has the same decision. A refusal may be worded otherwise, by the same rule."""
        if self.rejection is not None or self.error is not None:
            return False
        return self.events == logged_events or [*map(_without_wording, self.events)] == [
            *map(_without_wording, logged_events)
        ]


class RedecidedEntry(NamedTuple):
    """One entry of a log, its command decided again."""

    sequence: int
    entry: Entry
    decision: ReplayedDecision
    early_by_ms: int  # how much its time lies before that of the entry before it


def redecide_entries(game: str, entries: Iterable[Entry]) -> Iterator[RedecidedEntry]:
    """Decide the command of every entry of a log again, in order, on a state of its own.

    That state takes on what the rules decide, another one what the log has. While the two agree, the log is what an honest
    referee writes; after a difference the first goes on from the second. Raises one of REPLAY_ERRORS at the first entry
    that can't be applied, or that follows a creation which the rules don't decide."""
    context: ReplayContext | None = None
    ruled, logged = GameState(), GameState()
    for sequence, entry in enumerate(entries, 1):
        early_by_ms = 0
        with replaying():
            context = context or read_replay_context(game, entry)
            hash((entry.seat, entry.id))  # a sender and a command id, of whatever type
            early_by_ms = max(0, logged.at_ms - entry.at)
            fold_events(logged, entry.at, entry.events)
        assert context is not None, "the first entry has it"
        decision = decide_again(context, ruled, entry)
        if decision.agrees_with(entry.events):
            decision = ReplayedDecision(entry.events)  # equal, and kept once
        else:
            ruled = logged.copy()
        yield RedecidedEntry(sequence, entry, decision, early_by_ms)
        if sequence == 1:
            require_ruled_creation(decision, entry)


def require_ruled_creation(decision: ReplayedDecision, creation: Entry) -> None:
    """Require that the rules create the logged game, whatever the names: with its board, options and position.

    Otherwise these may be anything, and what the rules search on them has no bound. Raises CorruptDataError."""
    if [*map(_without_names, decision.events)] != [*map(_without_names, creation.events)]:
        raise CorruptDataError(
            "the rules don't create a game with the board, options and position of entry 1"
        )


def _without_names(event: Event) -> Event | None:
    if isinstance(event, SeedSealed):  # its commitment is made with the name
        return None
    if isinstance(event, SeatTaken):
        return replace(event, name="")
    return replace(event, game="") if isinstance(event, GameCreated) else event


def read_replay_context(game: str, first: Entry) -> ReplayContext:
    """The context of all commands, from the first entry. Raises CorruptDataError if no game begins like this."""
    if len(first.events) < 2:
        raise CorruptDataError("a log begins with a game's creation")
    game_created, seed_sealed = first.events[:2]
    if not isinstance(game_created, GameCreated) or not isinstance(seed_sealed, SeedSealed):
        raise CorruptDataError("a log begins with a game's creation")
    ruleset = find_version(game_created.ruleset, game_created.rules)
    return ReplayContext(
        game=game,
        created_ms=game_created.created,
        opened_ms=game_created.opened,
        seed=seed_sealed.seed or "",
        rulesets={game_created.ruleset: ruleset},
    )


def decide_again(context: ReplayContext, state: GameState, entry: Entry) -> ReplayedDecision:
    """Decide an entry's command again. The decision is applied to the state, which is that before the entry."""
    try:
        with replaying():
            events = decide_envelope(
                state,
                CommandEnvelope(entry.id, context.game, entry.seat, entry.command),
                context.opened_ms + entry.at,
                context.seed,
                created_at_ms=context.created_ms,
                rulesets=context.rulesets,
            )
    except UnloggedRejectionError as rejection:
        return ReplayedDecision(rejection=rejection)
    except REPLAY_ERRORS as error:
        return ReplayedDecision(error=error)
    return ReplayedDecision(events)


def _without_wording(event: Event) -> Event:
    return replace(event, why="") if isinstance(event, CommandRefused) else event


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
