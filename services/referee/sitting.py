"""Games as a referee has folded them: what it needs to decide the next command."""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Iterable
from typing import Final

from schemas.codec import unpack_facts
from schemas.words import Seat
from services.ledger import Gap, Ledger
from services.referee.rules import Table, fold_events

SITTINGS_MOST: Final = 4_096


class Sitting:
    """One game: the table, and where its log stands."""

    __slots__ = ("answered", "length", "parts", "table", "tail")

    def __init__(self) -> None:
        self.table = Table()
        self.length = 0
        self.tail = b""  # the last entry
        self.answered: dict[tuple[Seat | None, str], int] = {}  # every command id's verdict
        self.parts: dict[Seat, int] = {}  # the number of each seat's last own part

    def read(self, history: Iterable[bytes]) -> None:
        """Take on entries of the log, as stored."""
        data = self.tail
        for data in history:
            at, command_id, speaker, owners, events = unpack_facts(data)
            fold_events(self.table, at, events)
            self.count(speaker, command_id, (*owners, *(() if speaker is None else (speaker,))))
        self.tail = data

    def count(self, speaker: Seat | None, command_id: str, owners: Iterable[Seat]) -> None:
        """One more entry: whose command it answers, and which seats got a part of it."""
        self.length += 1
        self.answered[speaker, command_id] = self.length
        for seat in owners:
            self.parts[seat] = self.length


class Sittings:
    """The games that a referee remembers, the latest used. It may forget any at any time."""

    def __init__(self, ledger: Ledger, most: int = SITTINGS_MOST) -> None:
        self.ledger, self.most = ledger, most
        self._sittings: OrderedDict[str, Sitting] = OrderedDict()

    def of(self, game: str) -> Sitting:
        """The game as its log has it, folded now or remembered. Raises Gap or Corrupt."""
        sitting = self._sittings.get(game)
        if sitting is None:
            sitting = Sitting()
            sitting.read(self.ledger.history(game))
            self._sittings[game] = sitting
            if len(self._sittings) > self.most:
                self._sittings.popitem(last=False)
        else:
            self._sittings.move_to_end(game)
        return sitting

    def forget(self, game: str) -> None:
        """It may not be as the log has it."""
        self._sittings.pop(game, None)

    def in_step(self, game: str) -> bool:
        """Whether the game is remembered as its log has it; forgotten if it isn't."""
        sitting = self._sittings.get(game)
        if sitting is None:
            return False
        after = max(0, sitting.length - 1)  # its last entry too: a log may have lost its end
        try:
            rest = self.ledger.history(game, after)
            if len(rest) == sitting.length - after and (not rest or rest[-1] == sitting.tail):
                return True
        except Gap:
            pass
        self.forget(game)
        return False
