"""Folded games, cached: what a referee needs to decide the next command of each."""

from __future__ import annotations

import pickle
from array import array
from bisect import bisect_left
from collections import Counter, OrderedDict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from functools import lru_cache
from operator import attrgetter
from typing import Final, Generic, NamedTuple, TypeVar

from schemas.errors import CorruptDataError
from schemas.field_types import Seat
from schemas.stored.codec import unpack_for_fold
from services.ledger import EventReader, GameLog
from services.metrics import declared as metrics
from services.referee.games import GameState, fold_events
from services.referee.games.proof.pile_tracker import PileTracker
from services.referee.games.state import SEAT_FIELDS, STATE_FIELDS, Ruleset, SeatState, Undo
from services.runtime.logging_setup import get_logger
from services.runtime.worker_loop import PROGRAMMING_ERRORS

log = get_logger("referee")
MAX_BYTES: Final = 2_048 * 1024 * 1024
MIN_UNPACKED_SHARE: Final = 8  # packed games leave an eighth of the room to unpacked ones
MAX_LOGS_PER_READ: Final = 256
MAX_REMEMBERED_FAILURES: Final = 64
PACKING_ERRORS: Final = (*PROGRAMMING_ERRORS, pickle.PickleError)

# Bytes, measured on the golden games at three moments of each: within a third of what unpacked ones take.
GAME_BYTES: Final = 4 * 1_024
NEW_GAME_BYTES: Final = 16 * 1_024  # of a game that is still to be created
SEAT_BYTES: Final = 2 * 1_024
ENTRY_BYTES: Final = 12  # the id of its command
PACKED_OVERHEAD_BYTES: Final = 350  # of a packed game besides its bytes: its key, its tuple
MEASURED_EVERY: Final = 64  # entries of a game that is played; before it starts, each changes what it takes

PACKED_FIELDS: Final = tuple(
    name for name in STATE_FIELDS if name not in ("ruleset", "rule_options", "own", "seats", "undo")
)
PACKED_SEAT_FIELDS: Final = tuple(name for name in SEAT_FIELDS if name != "own")
PackedValues = tuple[tuple[object, ...], list[tuple[object, ...]], object]  # fields, seats, the game's own
_packed_fields_of = attrgetter(*PACKED_FIELDS)
_seat_fields_of = attrgetter(*PACKED_SEAT_FIELDS)


class CachedGame:
    """One game: its state, and where its log stands."""

    __slots__ = (
        "answered_ids",
        "head",
        "is_stored",
        "last_private_sequences",
        "length",
        "measured_until",
        "pile_tracker",
        "state",
    )

    def __init__(self) -> None:
        self.state = GameState()
        self.is_stored = False  # it is over, and has no streams any more: the state is that of no game
        self.length = 0
        self.measured_until = 0  # with so many entries its size is measured again
        self.head = b""  # after the last entry
        self.pile_tracker = PileTracker()
        # The ids of commands that have an entry, sorted, in eight bytes each: by the process's own keyed hash, so that
        # nobody can search for a collision. The ids themselves would take more room than the state.
        self.answered_ids = array("q")
        self.last_private_sequences: dict[Seat, int] = {}  # the last entry with a private part for each seat

    @classmethod
    def from_log(cls, game_log: GameLog) -> CachedGame:
        """The game folded from its whole log."""
        cached_game = cls()
        cached_game.apply_entries(game_log.entries)
        cached_game.head, cached_game.is_stored = game_log.head, game_log.is_stored
        return cached_game

    def apply_entries(self, entries: Iterable[bytes]) -> None:
        """Fold further entries of the log, as stored. The caller sets the head."""
        for entry in entries:
            at_ms, command_id, sender, owners, events = unpack_for_fold(entry)
            fold_events(self.state, at_ms, events)
            for event in events:
                self.pile_tracker.apply(event)
            self.record_entry(sender, command_id, (*owners, *(() if sender is None else (sender,))))

    def record_entry(self, sender: Seat | None, command_id: str, owners: Iterable[Seat]) -> None:
        """Count one more entry: of this sender's command, with private parts for these seats."""
        self.length += 1
        digest = hash((sender, command_id))
        self.answered_ids.insert(bisect_left(self.answered_ids, digest), digest)
        for seat in owners:
            self.last_private_sequences[seat] = self.length

    def has_answered(self, sender: Seat | None, command_id: str) -> bool:
        """Whether this sender's command has an entry."""
        digest, ids = hash((sender, command_id)), self.answered_ids
        index = bisect_left(ids, digest)
        return index < len(ids) and ids[index] == digest

    def measure(self) -> Size:
        """About how much memory it takes."""
        state = self.state
        if not state.game:
            return Size(NEW_GAME_BYTES)
        packing = state.ruleset.packing
        own_bytes = packing.size_bytes(state) * (1 if state.undo is None else 2)
        own_bytes += GAME_BYTES + SEAT_BYTES * len(state.seats) + ENTRY_BYTES * self.length
        shared = packing.shared_of(state)
        return Size(own_bytes, shared, packing.shared_bytes(shared))

    def pack(self) -> PackedGame:
        """The game as bytes, and what it shares with others. Raises one of PACKING_ERRORS: a bug left a value in
        it that can't be packed."""
        state = self.state
        extra = (
            self.length,
            self.head,
            self.answered_ids.tobytes(),
            self.last_private_sequences,
            self.pile_tracker.to_state(),
        )
        undo = state.undo and (state.undo.seat, _values_of(state.undo.before), state.undo.waiting)
        return PackedGame(
            state.ruleset,
            state.ruleset.packing.shared_of(state),
            state.rule_options,
            pickle.dumps((_values_of(state), undo, extra), 5),
        )


class PackedGame(NamedTuple):
    """A game as bytes, a third of the size, which never leave the process; and the values that many games share."""

    ruleset: Ruleset
    shared_part: object
    rule_options: object
    data: bytes

    def measure(self) -> Size:
        """About how much memory it takes."""
        shared_bytes = self.ruleset.packing.shared_bytes(self.shared_part)
        return Size(len(self.data) + PACKED_OVERHEAD_BYTES, self.shared_part, shared_bytes)

    def unpack(self) -> CachedGame:
        """The game, folded as it was."""
        values, undo, extra = pickle.loads(self.data)  # noqa: S301 - our own
        game = CachedGame()
        self._restore(game.state, values)
        if undo is not None:
            seat, values_before, waiting = undo
            game.state.undo = Undo(seat, GameState(), waiting)
            self._restore(game.state.undo.before, values_before)
        game.length, game.head, packed_ids, game.last_private_sequences, pile_state = extra
        game.answered_ids, game.pile_tracker = array("q", packed_ids), PileTracker.from_state(pile_state)
        return game

    def _restore(self, state: GameState, values: PackedValues) -> None:
        fields, seats, own = values
        state.ruleset, state.rule_options = self.ruleset, self.rule_options
        _set_fields(state, PACKED_FIELDS, fields)
        for seat_values in seats:
            seat_state: SeatState = SeatState.__new__(SeatState)
            _set_fields(seat_state, PACKED_SEAT_FIELDS, seat_values)
            state.seats.append(seat_state)
        self.ruleset.packing.restore(state, self.shared_part, own)


class Size(NamedTuple):
    """About how much memory a game takes, and what it shares with other games."""

    own_bytes: int
    shared: object = None
    shared_bytes: int = 0


def _values_of(state: GameState) -> PackedValues:
    """All of a state that no other game shares, but for what its last move can be taken back to."""
    seats = [_seat_fields_of(seat_state) for seat_state in state.seats]
    return _packed_fields_of(state), seats, state.ruleset.packing.values_of(state)


def _set_fields(target: object, names: Sequence[str], values: Sequence[object]) -> None:
    for name, value in zip(names, values, strict=True):
        setattr(target, name, value)


@lru_cache(maxsize=256)
def _rule_options_of(packed: bytes) -> object:
    """Rule options: one value for all games that have equal ones."""
    options: object = pickle.loads(packed)  # noqa: S301 - our own
    return options


T = TypeVar("T", CachedGame, PackedGame)


class SizedGames(Generic[T]):
    """Games by id, the least recently used first, and how much memory they take; what many share
    counts once for all of them."""

    def __init__(self) -> None:
        self.total_bytes = 0
        self.games: OrderedDict[str, T] = OrderedDict()
        self._sizes: dict[str, Size] = {}
        self._uses: Counter[int] = Counter()  # by identity of what games share

    def put(self, game: str, value: T) -> None:
        """Keep a game, measured now, as the most recently used one."""
        if game in self.games:
            self.pop(game)
        self.games[game] = value
        own_bytes, shared, shared_bytes = self._sizes[game] = value.measure()
        self._uses[id(shared)] += 1
        self.total_bytes += own_bytes + (shared_bytes if self._uses[id(shared)] == 1 else 0)

    def pop(self, game: str) -> T | None:
        """Take a game out; None if it isn't here."""
        found = self.games.pop(game, None)
        if found is not None:
            own_bytes, shared, shared_bytes = self._sizes.pop(game)
            self._uses[id(shared)] -= 1
            self.total_bytes -= own_bytes + (0 if self._uses[id(shared)] else shared_bytes)
            if not self._uses[id(shared)]:
                del self._uses[id(shared)]
        return found

    def pop_oldest(self) -> tuple[str, T]:
        """Take out the least recently used game. Raises StopIteration: there is none."""
        game = next(iter(self.games))
        found = self.pop(game)
        assert found is not None
        return game, found


class GameCache:
    """The folded games of a referee, of which any may be dropped at any time.

    Recently used games stay unpacked. When memory runs out, the least recently used are packed to a third of the
    size, then dropped."""

    def __init__(self, ledger: EventReader, max_bytes: int = MAX_BYTES) -> None:
        self.ledger, self.max_bytes = ledger, max_bytes
        self._unpacked, self._packed = SizedGames[CachedGame](), SizedGames[PackedGame]()
        self.failures = FailureLog()

    def count(self) -> Mapping[tuple[str, ...], int]:
        """How many games there are in each form."""
        return {("folded",): len(self._unpacked.games), ("packed",): len(self._packed.games)}

    def total_bytes(self) -> int:
        """About how much memory they take."""
        return self._unpacked.total_bytes + self._packed.total_bytes

    def get(self, game: str) -> CachedGame:
        """The game, cached or folded now; the cached one may be older than the log.

        Raises MissingEntryError or CorruptDataError: the log can't be read."""
        cached_game = self._unpacked.games.get(game)
        if cached_game is not None and cached_game.length < cached_game.measured_until:
            self._unpacked.games.move_to_end(game)
            return cached_game
        if cached_game is None:
            if packed := self._packed.pop(game):
                cached_game = packed.unpack()
                metrics.CACHE_LOOKUPS.add("restored")
            else:
                cached_game = self._fold(game, self.ledger.read_log(game))
        self._insert(game, cached_game)
        return cached_game

    def prefetch(self, games: Sequence[str]) -> None:
        """Read and fold the logs of those games that aren't cached, many in one round trip. A log
        that can't be read or folded is left out: `get` raises the error."""
        unpacked, packed = self._unpacked.games, self._packed.games
        missing = [game for game in games if game not in unpacked and game not in packed]
        metrics.CACHE_LOOKUPS.add("hit", count=len(games) - len(missing))
        metrics.CACHE_LOOKUPS.add("read", count=len(missing))
        for start in range(0, len(missing), MAX_LOGS_PER_READ):
            for game, game_log in self.ledger.read_logs(missing[start : start + MAX_LOGS_PER_READ]).items():
                try:
                    self._insert(game, self._fold(game, game_log))
                except CorruptDataError:
                    continue  # `get` raises it again
                except PROGRAMMING_ERRORS as error:  # so it does this
                    self._log_bug("game can't be folded", game, error)

    @contextmanager
    def rollback_on_error(self, game: str) -> Iterator[None]:
        """Restore the game's state if the block raises."""
        cached_game = self.get(game)
        state = cached_game.state
        cached_game.state = state.copy()
        try:
            yield
        except BaseException:
            cached_game.state = state
            raise

    def invalidate(self, game: str) -> None:
        """Drop a game that may differ from its log."""
        self._unpacked.pop(game)
        self._packed.pop(game)

    def is_current(self, game: str) -> bool:
        """Whether the cached game is at the head of its log; dropped if it isn't."""
        return self._is_at(game, self.ledger.head(game))

    def are_current(self, games: Sequence[str]) -> dict[str, bool]:
        """Whether each cached game is at the head of its log, by one round trip; dropped if it isn't. A game on a node
        that is away is left out."""
        return {game: self._is_at(game, head) for game, head in self.ledger.heads(games).items()}

    def _is_at(self, game: str, log_head: tuple[int, bytes]) -> bool:
        if game not in self._unpacked.games and game not in self._packed.games:
            return False
        cached_game, (length, head) = self.get(game), log_head
        # a log may have lost its end, and grown again
        if length == cached_game.length and (not length or head in (cached_game.head, b"")):
            return True
        self.invalidate(game)
        return False

    def _fold(self, game: str, game_log: GameLog) -> CachedGame:
        cached_game = CachedGame.from_log(game_log)
        if not cached_game.state.game:
            return cached_game
        try:
            # Packed and unpacked, it shares with other games what is equal in them, and takes less memory.
            options = _rule_options_of(pickle.dumps(cached_game.state.rule_options, 5))
            return cached_game.pack()._replace(rule_options=options).unpack()
        except PACKING_ERRORS as error:
            self._log_bug("game can't be packed", game, error)
            return cached_game

    def _insert(self, game: str, cached_game: CachedGame) -> None:
        """Keep a game unpacked; pack others, and drop packed ones, until all fit."""
        cached_game.measured_until = cached_game.length + (MEASURED_EVERY if cached_game.state.started else 1)
        self._unpacked.put(game, cached_game)
        unpacked, packed = self._unpacked, self._packed
        while (
            unpacked.total_bytes + packed.total_bytes > self.max_bytes
            and len(unpacked.games) > 1
            and unpacked.total_bytes * MIN_UNPACKED_SHARE > self.max_bytes
        ):
            self._pack(*unpacked.pop_oldest())
        while unpacked.total_bytes + packed.total_bytes > self.max_bytes and packed.games:
            packed.pop_oldest()

    def _pack(self, game: str, cached_game: CachedGame) -> None:
        """Keep a game packed; one that doesn't exist, has no streams any more or can't be packed is only dropped."""
        if not cached_game.state.game:
            return
        try:
            self._packed.put(game, cached_game.pack())
        except PACKING_ERRORS as error:
            self._log_bug("game can't be packed", game, error)

    def _log_bug(self, what: str, game: str, error: Exception) -> None:
        """Log a bug of ours once, with the game that showed it, which goes on the slow way: folded anew each time."""
        if self.failures.is_new(error):
            log.error(what, game=game, exc_info=error)


class FailureLog:
    """Remembers which failures were logged with their traceback: a thousand commands that fail in one
    line are one traceback. It starts anew when it is full."""

    def __init__(self) -> None:
        self._failures: set[object] = set()

    def is_new(self, error: Exception) -> bool:
        """Whether no error of this type was raised in this line of code lately."""
        traceback = error.__traceback__
        while traceback is not None and traceback.tb_next is not None:
            traceback = traceback.tb_next
        failure = type(error), traceback and (traceback.tb_frame.f_code, traceback.tb_lineno)
        if failure in self._failures:
            return False
        if len(self._failures) >= MAX_REMEMBERED_FAILURES:
            self._failures.clear()
        self._failures.add(failure)
        return True
