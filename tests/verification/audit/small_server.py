"""A server in small: it plays sealed games on the pure core, shows each viewer what it gets, and signs.

It can be made to cheat: then it alters what the rules decide before it writes it down, and is careful to
commit, chain and sign as if that were the truth.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace
from random import Random
from typing import Any

from schemas.codec import build_view_entry
from schemas.commands import Command, CommandEnvelope, CreateGame, SeatPlan, StartGame, TakeSeat
from schemas.entries import Entry
from schemas.events import Event
from schemas.field_types import Seat
from schemas.hash_chain import initial_head
from services.archive import GameFile, Signer, decode_game_file, encode_game_file
from services.referee.rules import GameState, decide_envelope, fold_events, legal
from services.referee.rules.proof.pile_tracker import PileTracker
from services.referee.rules.proof.sealing import ChainState, SealedEntry, seal_entry
from services.referee.rules.proof.view_verifier import VerificationFailedError, ViewVerifier

GAME = "game-one"
SIGNER = Signer("5e" * 32)
Events = tuple[Event, ...]
Shuffle = Callable[[GameState, Sequence[str]], tuple[str, ...]]
Cheat = Callable[["SmallServer", Entry], Events | None]  # None: it is honest about this entry


class SmallServer:
    """One game. `detected` has what its players noticed while they played."""

    def __init__(
        self, seed: str = "0f" * 32, cheat: Cheat | None = None, shuffle: Shuffle | None = None
    ) -> None:
        self.game, self.seed, self.cheat, self.shuffle = GAME, seed, cheat, shuffle
        self.table, self.piles, self.head = GameState(), PileTracker(), initial_head(GAME)
        self.parts: dict[Seat, int] = {}
        self.log: list[SealedEntry] = []
        self.verifiers: dict[Seat | None, ViewVerifier] = {}
        self.detected: list[tuple[Seat | None, VerificationFailedError]] = []

    def say(self, seat: Seat | None, command: Command) -> Events:
        """A command is decided, sealed and shown."""
        number = len(self.log)
        before = self.table.copy() if self.table.game else GameState()
        envelope = CommandEnvelope(f"c{number}", self.game, seat, command)
        honest = decide_envelope(self.table, envelope, 1_000 * number, self.seed)
        entry = Entry(self.table.at_ms, envelope.id, seat, command, honest)
        events = self.cheat(self, entry) if self.cheat else None
        if events is not None:
            self.table = before
            fold_events(self.table, entry.at, events)
            entry = Entry(entry.at, envelope.id, seat, command, events)
        sealed = self.seal(entry)
        self.log.append(sealed)
        self.head = sealed.head
        self.parts.update((owner, number + 1) for owner, _ in sealed.private_parts)
        self.show(number + 1, sealed)
        return entry.events

    def seal(self, entry: Entry) -> SealedEntry:
        return seal_entry(self.table, ChainState(len(self.log), self.head, self.parts), self.piles, entry)

    def show(self, number: int, sealed: SealedEntry) -> None:
        own = dict(sealed.private_parts)
        for viewer in (None, *range(len(self.table.seats))):
            verifier = self.verifiers.setdefault(viewer, ViewVerifier(self.game, viewer))
            try:
                verifier.verify(build_view_entry(number, sealed.public, own.get(viewer), sealed.head))
            except VerificationFailedError as error:
                self.detected.append((viewer, error))
                self.verifiers[viewer] = SilentVerifier(self.game, viewer)

    def play(self, seats: int = 3, random_seed: int = 1, **options: Any) -> SmallServer:
        """From the creation to the end, by whatever is legal."""
        chance = Random(random_seed)
        self.say(None, CreateGame((SeatPlan(),) * seats, **options))
        if self.shuffle is not None:
            rules = self.table.ruleset
            self.table.ruleset = replace(rules, randomness=rules.randomness._replace(shuffle=self.shuffle))
        for seat in range(seats):
            self.say(None, TakeSeat(f"player {seat}", contribution=f"{seat + 1:064x}"))
        self.say(None, StartGame())
        while not self.table.result:
            seat = min(self.table.pending_choices)
            self.say(seat, chance.choice(list(legal(self.table, seat))))
        return self

    def file(self) -> GameFile:
        """The file that the server would export."""
        entries, heads = [each.entry for each in self.log], [each.head for each in self.log]
        return decode_game_file(encode_game_file(self.game, entries, heads, SIGNER))


class SilentVerifier(ViewVerifier):
    """A viewer that detected an error checks nothing after it."""

    __slots__ = ()

    def verify(self, entry: Any) -> None:
        return
