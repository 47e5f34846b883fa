"""Folded games, cached: what a referee needs to decide the next command of each."""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager, suppress
from typing import Final

from schemas.codec import unpack_for_fold
from schemas.errors import CorruptDataError
from schemas.field_types import Seat
from services.ledger import EventReader, GameLog
from services.referee.answered_ids import AnsweredIds
from services.referee.hot_games import HotGames, folded_bytes
from services.referee.rules import GameState, fold_events
from services.referee.rules.proof.pile_tracker import PileTracker
from services.referee.shared_setup import SharedSetup
from services.referee.snapshots import Snapshot, SnapshotCache
from services.runtime.worker_loop import PROGRAMMING_ERRORS

MAX_BYTES: Final = 2_048 * 1024 * 1024
MIN_HOT_SHARE: Final = 8  # packed games leave an eighth to hot ones
MAX_PROBATION_GAMES: Final = 16  # so few that they are still in the CPU's cache when they are packed
MAX_LOGS_PER_READ: Final = 256


class CachedGame:
    """One game: its state, and where its log stands."""

    __slots__ = (
        "answered_ids",
        "head",
        "is_filed",
        "last_private_sequences",
        "length",
        "pile_tracker",
        "shared_setup",
        "state",
    )

    def __init__(self) -> None:
        self.state = GameState()
        self.is_filed = False  # it is over, and has no streams any more: the state is that of no game
        self.length = 0
        self.head = b""  # after the last entry
        self.pile_tracker = PileTracker()
        self.answered_ids = AnsweredIds()
        self.last_private_sequences: dict[Seat, int] = {}  # the last entry with a private part for each seat
        self.shared_setup: SharedSetup | None = None  # what it shares with others, if it was restored

    @classmethod
    def from_snapshot(cls, snapshot: Snapshot) -> CachedGame:
        """The game that was packed."""
        cached_game = cls.__new__(cls)
        cached_game.is_filed = False
        cached_game.shared_setup = snapshot.shared_setup
        cached_game.state, extra = snapshot.restore()
        (
            cached_game.length,
            cached_game.head,
            packed_ids,
            cached_game.last_private_sequences,
            pile_state,
        ) = extra
        cached_game.answered_ids = AnsweredIds(packed_ids)
        cached_game.pile_tracker = PileTracker.from_state(pile_state)
        return cached_game

    @classmethod
    def from_log(cls, game_log: GameLog) -> CachedGame:
        """The game folded from its whole log."""
        cached_game = cls()
        cached_game.apply_entries(game_log.entries)
        cached_game.head, cached_game.is_filed = game_log.head, game_log.is_filed
        return cached_game

    def apply_entries(self, entries: Iterable[bytes]) -> None:
        """Fold further entries of the log, as stored. The caller sets the head."""
        for entry in entries:
            at_ms, command_id, sender, owners, events = unpack_for_fold(entry)
            fold_events(self.state, at_ms, events)
            if self.state.ruleset.randomness.sealed:  # other games have no committed piles
                for event in events:
                    self.pile_tracker.apply(event)
            self.record_entry(sender, command_id, (*owners, *(() if sender is None else (sender,))))

    def record_entry(self, sender: Seat | None, command_id: str, owners: Iterable[Seat]) -> None:
        """Count one more entry: of this sender's command, with private parts for these seats."""
        self.length += 1
        self.answered_ids.add(sender, command_id)
        for seat in owners:
            self.last_private_sequences[seat] = self.length

    def plain_values(self) -> tuple[object, ...]:
        """All of it but the state, in plain values, for a snapshot."""
        return (
            self.length,
            self.head,
            self.answered_ids.packed(),
            self.last_private_sequences,
            self.pile_tracker.to_state(),
        )

    def has_answered(self, sender: Seat | None, command_id: str) -> bool:
        """Whether the log has an entry for this command."""
        return self.answered_ids.has(sender, command_id)


class GameCache:
    """The folded games of a referee: a two-queue cache, of which any game may be dropped at any time.

    As many games are hot as `max_bytes` has room for. A game that comes when it is full is on probation: it is
    soon packed again, unless it is asked for once more. So a scan over more games than there is room for
    leaves the hot ones where they are. Packed games, of which eight take the room of one hot game, take it from
    the hot ones that were asked for the longest ago, until those have but their share. The few games on probation
    come on top."""

    def __init__(
        self,
        ledger: EventReader,
        max_bytes: int = MAX_BYTES,
        max_probation_games: int = MAX_PROBATION_GAMES,
    ) -> None:
        self.ledger, self.max_bytes, self.max_probation_games = ledger, max_bytes, max_probation_games
        self._hot, self._packed = HotGames(), SnapshotCache()
        self._probation: OrderedDict[str, CachedGame] = OrderedDict()

    def get(self, game: str) -> CachedGame:
        """The game, cached or folded now; the cached one may be older than the log.

        Raises MissingEntryError or CorruptDataError: the log can't be read."""
        cached_game = self._find(game)
        if cached_game is None:
            cached_game = self._fold(self.ledger.read_log(game))
            self._insert(game, cached_game)
        return cached_game

    def prefetch(self, games: Sequence[str]) -> None:
        """Read and fold the logs of those games that aren't cached, many in one round trip. A log
        that can't be read or folded is left out: `get` raises the error."""
        hot, probation, packed = self._hot, self._probation, self._packed
        missing = [game for game in games if not (game in hot or game in probation or game in packed)]
        for start in range(0, len(missing), MAX_LOGS_PER_READ):
            for game, game_log in self.ledger.read_logs(missing[start : start + MAX_LOGS_PER_READ]).items():
                try:
                    self._insert(game, self._fold(game_log))
                except CorruptDataError:
                    continue  # `get` raises it again
                except PROGRAMMING_ERRORS:
                    continue  # so it does a bug's error, where a command can be named with it

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
        self._hot.pop(game)
        self._probation.pop(game, None)
        self._packed.discard(game)

    def is_current(self, game: str) -> bool:
        """Whether the cached game is at the head of its log; dropped if it isn't."""
        cached_game = self._find(game)
        if cached_game is None:
            return False
        length, head = self.ledger.head(game)  # a log may have lost its end, and grown again
        if length == cached_game.length and (not length or head in (cached_game.head, b"")):
            return True
        self.invalidate(game)
        return False

    def _find(self, game: str) -> CachedGame | None:
        cached_game = self._hot.get(game)
        if cached_game is not None:
            self._make_room()  # it may have grown
        elif cached_game := self._probation.pop(game, None):
            self._hot.add(game, cached_game)
            self._make_room()
        elif snapshot := self._packed.pop(game):
            cached_game = CachedGame.from_snapshot(snapshot)
            self._insert(game, cached_game)
        return cached_game

    def _fold(self, game_log: GameLog) -> CachedGame:
        """The game folded from its log, packed and restored once: so it shares with other games what is equal in
        them, its parts lie beside each other, and it takes half of the memory."""
        cached_game = CachedGame.from_log(game_log)
        with suppress(*PROGRAMMING_ERRORS):  # see `_pack`
            return CachedGame.from_snapshot(self._snapshot(cached_game))
        return cached_game

    def _snapshot(self, cached_game: CachedGame) -> Snapshot:
        return self._packed.pack(cached_game.state, cached_game.plain_values())

    def _insert(self, game: str, cached_game: CachedGame) -> None:
        size = folded_bytes(cached_game.state, cached_game.length)
        if self._hot.total_bytes + self._packed.total_bytes + size <= self.max_bytes:
            self._hot.add(game, cached_game)
            self._make_room()  # for its board
            return
        self._probation[game] = cached_game
        if len(self._probation) > self.max_probation_games:
            self._pack(*self._probation.popitem(last=False))
            self._make_room()

    def _make_room(self) -> None:
        """Pack hot games, and drop packed ones, until all fit."""
        while (
            self._is_full() and len(self._hot) > 1 and self._hot.total_bytes * MIN_HOT_SHARE > self.max_bytes
        ):
            self._pack(*self._hot.pop_oldest())
        while self._is_full() and len(self._packed):
            self._packed.drop_one()

    def _is_full(self) -> bool:
        return self._hot.total_bytes + self._packed.total_bytes > self.max_bytes

    def _pack(self, game: str, cached_game: CachedGame) -> None:
        # A game that was never created can't be packed; nor one that a bug left odd, which is folded anew.
        with suppress(*PROGRAMMING_ERRORS):
            self._packed.put(game, self._snapshot(cached_game))
