"""A game as a referee has folded it: what it needs to decide the next command."""

from __future__ import annotations

from collections.abc import Iterable

from schemas.codec import unpack_facts
from schemas.words import Seat
from services.referee.rules import Table, fold_events


class Sitting:
    """A game as this referee has folded it: the table, and where its log stands."""

    __slots__ = ("answered", "length", "parts", "table")

    def __init__(self) -> None:
        self.table = Table()
        self.length = 0
        self.answered: dict[tuple[Seat | None, str], int] = {}  # every command id's verdict
        self.parts: dict[Seat, int] = {}  # the number of each seat's last own part

    def read(self, history: Iterable[bytes]) -> None:
        """Take on entries of the log, as stored."""
        for data in history:
            at, command_id, speaker, owners, events = unpack_facts(data)
            fold_events(self.table, at, events)
            self.count(speaker, command_id, (*owners, *(() if speaker is None else (speaker,))))

    def count(self, speaker: Seat | None, command_id: str, owners: Iterable[Seat]) -> None:
        """One more entry: whose command it answers, and which seats got a part of it."""
        self.length += 1
        self.answered[speaker, command_id] = self.length
        for seat in owners:
            self.parts[seat] = self.length
