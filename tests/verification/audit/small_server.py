"""A house in small: it plays sealed games on the pure core, shows each viewer what it gets, and signs.

It may be told to cheat: then it alters what the rules say before it writes it down, and is careful to
commit, chain and sign as if that were the truth.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace
from random import Random
from typing import Any

from schemas.codec import join_view
from schemas.commands import Command, CreateGame, Letter, SeatPlan, StartGame, TakeSeat
from schemas.entries import Entry
from schemas.events import Event
from schemas.field_types import Seat
from schemas.hash_chain import first_head
from services.archive import GameFile, Signer, read_file, write_file
from services.referee.rules import Table, fold_events, judge, legal
from services.referee.rules.proof.pile_tracker import Piles
from services.referee.rules.proof.sealing import Past, Sealed, seal
from services.referee.rules.proof.view_verifier import Betrayed, Witness

GAME = "game-one"
SIGNER = Signer("5e" * 32)
Events = tuple[Event, ...]
Shuffle = Callable[[Table, Sequence[str]], tuple[str, ...]]
Cheat = Callable[["House", Entry], Events | None]  # None: it is honest about this entry


class House:
    """One game. `betrayed` holds what its players noticed while they played."""

    def __init__(
        self, seed: str = "0f" * 32, cheat: Cheat | None = None, shuffle: Shuffle | None = None
    ) -> None:
        self.game, self.seed, self.cheat, self.shuffle = GAME, seed, cheat, shuffle
        self.table, self.piles, self.head = Table(), Piles(), first_head(GAME)
        self.parts: dict[Seat, int] = {}
        self.log: list[Sealed] = []
        self.witnesses: dict[Seat | None, Witness] = {}
        self.betrayed: list[tuple[Seat | None, Betrayed]] = []

    def say(self, seat: Seat | None, command: Command) -> Events:
        """A command is decided, sealed and shown."""
        number = len(self.log)
        before = self.table.branch() if self.table.game else Table()
        letter = Letter(f"c{number}", self.game, seat, command)
        honest = judge(self.table, letter, 1_000 * number, self.seed)
        entry = Entry(self.table.at, letter.id, seat, command, honest)
        events = self.cheat(self, entry) if self.cheat else None
        if events is not None:
            self.table = before
            fold_events(self.table, entry.at, events)
            entry = Entry(entry.at, letter.id, seat, command, events)
        sealed = self.seal(entry)
        self.log.append(sealed)
        self.head = sealed.head
        self.parts.update((owner, number + 1) for owner, _ in sealed.parts)
        self.show(number + 1, sealed)
        return entry.events

    def seal(self, entry: Entry) -> Sealed:
        return seal(self.table, Past(len(self.log), self.head, self.parts), self.piles, entry)

    def show(self, number: int, sealed: Sealed) -> None:
        own = dict(sealed.parts)
        for viewer in (None, *range(len(self.table.places))):
            witness = self.witnesses.setdefault(viewer, Witness(self.game, viewer))
            try:
                witness.see(join_view(number, sealed.public, own.get(viewer), sealed.head))
            except Betrayed as betrayed:
                self.betrayed.append((viewer, betrayed))
                self.witnesses[viewer] = Deaf(self.game, viewer)

    def play(self, seats: int = 3, dice: int = 1, **wish: Any) -> House:
        """From the creation to the end, by whatever is legal."""
        chance = Random(dice)
        self.say(None, CreateGame((SeatPlan(),) * seats, **wish))
        if self.shuffle is not None:
            rules = self.table.rules
            self.table.rules = replace(rules, dealing=rules.dealing._replace(order=self.shuffle))
        for seat in range(seats):
            self.say(None, TakeSeat(f"player {seat}", contribution=f"{seat + 1:064x}"))
        self.say(None, StartGame())
        while not self.table.over:
            seat = min(self.table.awaits)
            self.say(seat, chance.choice(list(legal(self.table, seat))))
        return self

    def file(self) -> GameFile:
        """The file that the house would give away."""
        entries, heads = [each.entry for each in self.log], [each.head for each in self.log]
        return read_file(write_file(self.game, entries, heads, SIGNER))


class Deaf(Witness):
    """Who was betrayed once looks no more."""

    __slots__ = ()

    def see(self, entry: Any) -> None:
        return
