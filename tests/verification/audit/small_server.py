"""A minimal server: it plays sealed games on the pure core, verifies what each viewer gets, and signs.

It can cheat: it alters the events that the rules decide before it logs them, and commits, chains and
signs the altered ones.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace
from random import Random
from typing import Any

from schemas.commands import Command, CommandEnvelope, CreateGame, SeatPlan, StartGame, TakeSeat
from schemas.events import Event
from schemas.field_types import Seat
from schemas.stored.codec import build_view_entry
from schemas.stored.entries import Entry
from schemas.stored.hash_chain import initial_head
from services.archive import GameFile, Signer, decode_game_file, encode_game_file
from services.referee.games import GameState, decide_envelope, fold_events, legal
from services.referee.games.proof.pile_tracker import PileTracker
from services.referee.games.proof.public_verifier import VerificationFailedError
from services.referee.games.proof.sealing import ChainState, SealedEntry, seal_entry
from services.referee.games.proof.view_verifier import ViewVerifier

GAME = "game-one"
SIGNER = Signer("5e" * 32)
Events = tuple[Event, ...]
Shuffle = Callable[[GameState, Sequence[str]], tuple[str, ...]]
Cheat = Callable[["SmallServer", Entry], Events | None]  # None: it doesn't alter this entry


class SmallServer:
    """One game. `detected` has each viewer that failed to verify an entry, and the error."""

    def __init__(
        self, seed: str = "0f" * 32, cheat: Cheat | None = None, shuffle: Shuffle | None = None
    ) -> None:
        self.game, self.seed, self.cheat, self.shuffle = GAME, seed, cheat, shuffle
        self.state, self.piles, self.head = GameState(), PileTracker(), initial_head(GAME)
        self.last_parts: dict[Seat, int] = {}
        self.waited_ms = 0  # besides a second for each entry
        self.log: list[SealedEntry] = []
        self.verifiers: dict[Seat | None, ViewVerifier | SilentVerifier] = {}
        self.detected: list[tuple[Seat | None, VerificationFailedError]] = []

    def process(self, seat: Seat | None, command: Command) -> Events:
        """Decide a command, seal its entry and show it to every viewer. Returns the logged events."""
        number = len(self.log)
        before = self.state.copy() if self.state.game else GameState()
        envelope = CommandEnvelope(f"c{number}", self.game, seat, command)
        honest = decide_envelope(self.state, envelope, 1_000 * number + self.waited_ms, self.seed)
        entry = Entry(self.state.at_ms, envelope.id, seat, command, honest)
        events = self.cheat(self, entry) if self.cheat else None
        if events is not None:
            self.state = before
            fold_events(self.state, entry.at, events)
            entry = Entry(entry.at, envelope.id, seat, command, events)
        sealed = self.seal(entry)
        self.log.append(sealed)
        self.head = sealed.head
        self.last_parts.update((owner, number + 1) for owner, _ in sealed.private_parts)
        self.show(number + 1, sealed)
        return entry.events

    def seal(self, entry: Entry) -> SealedEntry:
        return seal_entry(
            self.state, ChainState(len(self.log), self.head, self.last_parts), self.piles, entry
        )

    def show(self, number: int, sealed: SealedEntry) -> None:
        private_parts = dict(sealed.private_parts)
        for viewer in (None, *range(len(self.state.seats))):
            verifier = self.verifiers.setdefault(viewer, ViewVerifier(self.game, viewer))
            try:
                verifier.verify(
                    build_view_entry(number, sealed.public, private_parts.get(viewer), sealed.head)
                )
            except VerificationFailedError as error:
                self.detected.append((viewer, error))
                self.verifiers[viewer] = SilentVerifier()

    def play(self, seats: int = 3, random_seed: int = 1, **options: Any) -> SmallServer:
        """Play from the creation to the end by random legal commands."""
        rng = Random(random_seed)
        self.process(None, CreateGame((SeatPlan(),) * seats, **options))
        if self.shuffle is not None:
            rules = self.state.ruleset
            self.state.ruleset = replace(rules, randomness=rules.randomness._replace(shuffle=self.shuffle))
        self.seat_players(seats)
        self.process(None, StartGame())
        while not self.state.result:
            seat = min(self.state.pending_choices)
            self.process(seat, rng.choice(list(legal(self.state, seat))))
        return self

    def seat_players(self, seats: int) -> None:
        """All that happens between the creation and the start."""
        for seat in range(seats):
            self.process(None, TakeSeat(f"player {seat}", contribution=f"{seat + 1:064x}"))

    def file(self) -> GameFile:
        """The file that the server would export."""
        entries, heads = [each.entry for each in self.log], [each.head for each in self.log]
        return decode_game_file(encode_game_file(self.game, entries, heads, SIGNER))


class SilentVerifier:
    """A viewer that detected an error checks nothing after it."""

    def verify(self, entry: Any) -> None:
        return
