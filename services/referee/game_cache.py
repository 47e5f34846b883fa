"""Games as a referee has folded them: what it needs to decide the next command."""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager, suppress
from typing import Final

from schemas.codec import Corrupt, unpack_facts
from schemas.field_types import Seat
from services.ledger import History, Ledger
from services.referee.rules import Table, fold_events
from services.referee.rules.proof.pile_tracker import Piles
from services.referee.snapshots import Freezer, Frozen
from services.runtime.worker_loop import BUGS

AT_HAND_MOST: Final = 1_024
PASSING_MOST: Final = 16  # so few that they are still in the processor's cache when they are frozen
FROZEN_BYTES_MOST: Final = 768 * 1024 * 1024
SINCE_MOST: Final = 3  # entries that a frozen game has besides: a fourth costs more than freezing it anew
READ_MOST: Final = 256  # logs at once


class Sitting:
    """One game: the table, and where its log stands."""

    __slots__ = ("answered", "frozen", "frozen_length", "head", "length", "parts", "piles", "table", "tail")

    def __init__(self) -> None:
        self.table = Table()
        self.length = 0
        self.tail = b""  # the last entry
        self.head = b""  # after it
        self.piles = Piles()
        self.answered = b""  # the marks of all command ids that have their verdict
        self.parts: dict[Seat, int] = {}  # the number of each seat's last own part
        self.frozen: Frozen | None = None  # as it was when it was thawed
        self.frozen_length = 0  # and the number of its entries then

    @classmethod
    def thawed(cls, frozen: Frozen) -> Sitting:
        """A game as it was when it was frozen."""
        sitting = cls.__new__(cls)
        sitting.table, beside = frozen.thaw()
        sitting.length, sitting.tail, sitting.head, sitting.answered, sitting.parts, piles = beside
        sitting.piles = Piles.of(piles)
        sitting.read(frozen.since)
        sitting.head = frozen.head
        sitting.frozen, sitting.frozen_length = frozen, sitting.length
        return sitting

    @classmethod
    def folded(cls, history: History) -> Sitting:
        """A game as its log has it."""
        sitting = cls()
        sitting.read(history.entries)
        sitting.head = history.head
        return sitting

    def read(self, history: Iterable[bytes]) -> None:
        """Take on entries of the log, as stored; the head isn't known then."""
        data = self.tail
        for data in history:
            at, command_id, speaker, owners, events = unpack_facts(data)
            fold_events(self.table, at, events)
            if self.table.rules.dealing.sealed:  # else nobody asks, nor keeps them up
                for event in events:
                    self.piles.follow(event)
            self.count(speaker, command_id, (*owners, *(() if speaker is None else (speaker,))))
        self.tail = data

    def count(self, speaker: Seat | None, command_id: str, owners: Iterable[Seat]) -> None:
        """One more entry: whose command it answers, and which seats got a part of it."""
        self.length += 1
        self.answered += _mark(speaker, command_id)
        for seat in owners:
            self.parts[seat] = self.length

    def still_frozen(self) -> Frozen | None:
        """What it was thawed from, with its last entry if that is new; None if it has more."""
        frozen, more = self.frozen, self.length - self.frozen_length
        if frozen is None or more > 1 or len(frozen.since) + more > SINCE_MOST:
            return None
        if not more:
            return frozen
        return Frozen(frozen.ground, frozen.seldom, frozen.data, self.head, (*frozen.since, self.tail))

    def has_answered(self, speaker: Seat | None, command_id: str) -> bool:
        """Whether the log has this command's verdict."""
        return _mark(speaker, command_id) in self.answered


class Sittings:
    """The games that a referee remembers. It may forget any at any time.

    As many as there is room for are at hand. One that comes when they are full is only passing,
    and is soon frozen again, unless it is asked for once more before; so a round through more
    games than there is room for leaves those that are at hand where they are."""

    def __init__(
        self,
        ledger: Ledger,
        at_hand_most: int = AT_HAND_MOST,
        frozen_bytes_most: int = FROZEN_BYTES_MOST,
        passing_most: int = PASSING_MOST,
    ) -> None:
        self.ledger, self.at_hand_most, self.passing_most = ledger, at_hand_most, passing_most
        self._at_hand: OrderedDict[str, Sitting] = OrderedDict()
        self._passing: OrderedDict[str, Sitting] = OrderedDict()
        self._freezer = Freezer(frozen_bytes_most)

    def of(self, game: str) -> Sitting:
        """The game as its log has it, folded now or remembered. Raises Gap or Corrupt."""
        sitting = self._remembered(game)
        if sitting is None:
            sitting = Sitting.folded(self.ledger.whole(game))
            self._keep(game, sitting)
        return sitting

    def recall(self, games: Sequence[str]) -> None:
        """Read the logs of those games that aren't remembered, many at once. What can't be read
        or folded is left to who asks for that game."""
        known = (self._at_hand, self._passing, self._freezer)
        unknown = [game for game in games if not any(game in held for held in known)]
        for start in range(0, len(unknown), READ_MOST):
            for game, history in self.ledger.histories(unknown[start : start + READ_MOST]).items():
                with suppress(Corrupt, *BUGS):
                    self._keep(game, Sitting.folded(history))

    @contextmanager
    def spared(self, game: str) -> Iterator[None]:
        """For what may break the game's table: if it does, the table is as it was before."""
        sitting = self.of(game)
        table = sitting.table
        sitting.table = table.branch()
        try:
            yield
        except BaseException:
            sitting.table = table
            raise

    def forget(self, game: str) -> None:
        """It may not be as the log has it."""
        self._at_hand.pop(game, None)
        self._passing.pop(game, None)
        self._freezer.drop(game)

    def in_step(self, game: str) -> bool:
        """Whether the game is remembered as its log has it; forgotten if it isn't."""
        sitting = self._remembered(game)
        if sitting is None:
            return False
        length, head = self.ledger.head(game)  # a log may have lost its end, and grown again
        if length == sitting.length and (not length or head in (sitting.head, b"")):
            return True
        self.forget(game)
        return False

    def _remembered(self, game: str) -> Sitting | None:
        sitting = self._at_hand.get(game)
        if sitting is not None:
            self._at_hand.move_to_end(game)
        elif sitting := self._passing.pop(game, None):
            self._at_hand[game] = sitting
            if len(self._at_hand) > self.at_hand_most:
                self._freeze(*self._at_hand.popitem(last=False))
        elif frozen := self._freezer.take(game):
            sitting = Sitting.thawed(frozen)
            self._keep(game, sitting)
        return sitting

    def _keep(self, game: str, sitting: Sitting) -> None:
        if len(self._at_hand) < self.at_hand_most:
            self._at_hand[game] = sitting
            return
        self._passing[game] = sitting
        if len(self._passing) > self.passing_most:
            self._freeze(*self._passing.popitem(last=False))

    def _freeze(self, game: str, sitting: Sitting) -> None:
        if known := sitting.still_frozen():
            self._freezer.put_back(game, known)
            return
        beside = (
            *(sitting.length, sitting.tail, sitting.head, sitting.answered, sitting.parts),
            sitting.piles.state(),
        )
        with suppress(*BUGS):  # there is no such game, or a bug left it so that it is folded anew
            self._freezer.put(game, sitting.table, sitting.head, beside)


def _mark(speaker: Seat | None, command_id: str) -> bytes:
    """Eight bytes that no two commands of a game share: this process's own keyed hash, so that
    nobody can look for two that do. All ids of a long game would take more room than its table."""
    return hash((speaker, command_id)).to_bytes(8, "little", signed=True)
