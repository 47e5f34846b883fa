"""What all viewers of a game can check of its entries: the part that is the same for each of them.

A verifier recomputes the chain, keeps the order of events, counts the commitments, and checks every card that
all see. What it found is enough to check a seat's private parts beside it (`view_verifier`), so whoever follows
several seats of one game does all this once.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from contextlib import suppress
from typing import Final, NamedTuple

from schemas.errors import CorruptDataError, LedgerlineError
from schemas.events import (
    AccessSet,
    CommandRefused,
    Event,
    GameCreated,
    GameEnded,
    GameForked,
    GameStarted,
    Row,
    SeatFreed,
    SeatTaken,
    SeedRevealed,
    SeedSealed,
)
from schemas.field_types import Seat
from schemas.stored.codec import Proofs, read_public_rows
from schemas.stored.entries import ViewEntry
from schemas.stored.hash_chain import COMMITMENT_BYTES, initial_head, next_head
from services.referee.games.fair_randomness import LEAF_BYTES, card_leaf, merkle_root
from services.referee.games.proof.pile_tracker import CardSlot, PileChange, PileTracker
from services.referee.games.shuffle import commit_to_seed
from services.referee.games.views import owner_of


class VerificationFailedError(LedgerlineError):
    """The server showed something else than it committed to."""

    def __init__(self, sequence: int, reason: str) -> None:
        super().__init__(f"entry {sequence}: {reason}")
        self.sequence, self.reason = sequence, reason


class CardMove(NamedTuple):
    """Cards that an event moves, and only one seat sees: its row, the seat, the leaves of the cards' places."""

    row: int
    seat: Seat
    leaves: Sequence[bytes]


class VerifiedEntry(NamedTuple):
    """An entry as all see it, which fits the chain and the entries before it."""

    number: int
    at_ms: int
    events: tuple[Event, ...]
    rows: Sequence[Row | None]  # null: an event that only its seat may know of
    proofs: Proofs
    owners: Mapping[int, Seat]  # the seat that knows what a row hides, by the row's index
    hidden_moves: Sequence[CardMove]


class PublicVerifier:
    """Checks what all are shown of one game, from its first entry on."""

    __slots__ = ("event_order", "game", "head", "leaves", "pile_tracker", "sequence")

    def __init__(self, game: str) -> None:
        self.game = game
        self.sequence, self.head = 0, initial_head(game)
        self.event_order = EventOrder()
        self.pile_tracker = PileTracker()
        self.leaves: dict[CardSlot, bytes] = {}  # of the cards in hidden piles

    def verify(self, entry: ViewEntry) -> VerifiedEntry:
        """Check the next entry of the public view. Raises VerificationFailedError, or CorruptDataError if it can't
        be read. After one of these the verifier is of no more use."""
        try:
            return self._verify(entry)
        except MALFORMED as error:
            raise not_of_a_referee(entry.number, error) from None

    def _verify(self, entry: ViewEntry) -> VerifiedEntry:
        number, shown = entry.number, entry.shown
        if number != self.sequence + 1:
            raise VerificationFailedError(number, f"it follows entry {self.sequence}")
        head = next_head(self.head, number, shown.public)
        if shown.head and shown.head != head:
            raise VerificationFailedError(number, "its head isn't the one that follows from what was shown")
        if number == 1:
            self._require_game(entry)
        rows, proofs = read_public_rows(shown.public)
        if violation := self.event_order.check(number, entry.events):
            raise VerificationFailedError(number, violation)
        indexes = [index for index, row in enumerate(rows) if row is not None]
        indexed_events = list(zip(indexes, entry.events, strict=True))  # those that all see
        owners = {index: owner for index, event in indexed_events if (owner := owner_of(event)) is not None}
        _require_commitment_count(number, rows, proofs, owners)
        hidden_moves = self._follow_cards(number, indexed_events, proofs)
        self.sequence, self.head = number, head
        return VerifiedEntry(number, entry.at, entry.events, rows, proofs, owners, hidden_moves)

    def _require_game(self, entry: ViewEntry) -> None:
        """Only a first entry creates a game; the order of events keeps that."""
        for event in entry.events:
            if isinstance(event, GameCreated) and event.game != self.game:
                raise VerificationFailedError(entry.number, f"it is of the game {event.game}")

    def _follow_cards(
        self, number: int, indexed_events: Sequence[tuple[int, Event]], proofs: Proofs
    ) -> list[CardMove]:
        """Every card that all see is the one that was committed to in its slot. Returns the moves of which
        only one seat sees the cards."""
        leaves = iter(split_hashes(proofs.leaves, LEAF_BYTES))
        salts = iter(split_hashes(proofs.openings, LEAF_BYTES))
        hidden_moves = list[CardMove]()
        try:
            for index, event in indexed_events:
                if (change := self.pile_tracker.apply(event)) is not None:
                    moved_leaves = self._move_leaves(number, event, change, leaves)
                    if change.salt_recipient is not None:
                        hidden_moves.append(CardMove(index, change.salt_recipient, moved_leaves))
                    elif not change.is_hidden:
                        require_cards(number, change.names, moved_leaves, salts)
        except TOO_FEW:
            raise VerificationFailedError(number, FEWER_HASHES) from None
        require_used_up(number, leaves, salts)
        return hidden_moves

    def _move_leaves(
        self, number: int, event: Event, change: PileChange, leaves: Iterator[bytes]
    ) -> Sequence[bytes]:
        """The leaves of the places that the moved cards have or had."""
        if not change.added:
            return [self.leaves.pop(slot) for slot in change.removed]
        added_leaves = [next(leaves) for _ in change.added]
        self.leaves.update(zip(change.added, added_leaves, strict=True))
        if (root := getattr(event, "root", None)) and root != merkle_root(b"".join(added_leaves)).hex():
            raise VerificationFailedError(number, "the root over a pile isn't that of its leaves")
        return added_leaves


def require_cards(
    number: int, names: Sequence[str | None], leaves: Sequence[bytes], salts: Iterator[bytes]
) -> None:
    """Raises VerificationFailedError where a card isn't the one that its leaf commits to, and StopIteration
    where there are too few salts."""
    for name, leaf in zip(names, leaves, strict=True):
        if name is None or card_leaf(next(salts), name) != leaf:
            raise VerificationFailedError(
                number, f"{name or 'a card'} isn't what was committed to at its place"
            )


# What is raised where there are fewer salts or leaves than are asked for.
TOO_FEW: Final = (StopIteration, LookupError)
FEWER_HASHES: Final = "it has too few salts or leaves for the cards that it moves"


def require_used_up(number: int, *hashes: Iterator[bytes]) -> None:
    """Raises VerificationFailedError where more salts or leaves are left."""
    for left in hashes:
        for _ in left:
            raise VerificationFailedError(number, "it has more salts or leaves than cards that it moves")


# What an entry raises that holds something else than referees write.
MALFORMED: Final = (TypeError, ValueError, AttributeError, LookupError)


def not_of_a_referee(number: int, error: Exception) -> CorruptDataError:
    """The error in place of one of `MALFORMED`."""
    return CorruptDataError(f"entry {number} holds what no referee writes: {error}")


def split_hashes(data: bytes, size: int) -> Sequence[bytes]:
    """The hashes of so many bytes each that stand in a row."""
    return [data[offset : offset + size] for offset in range(0, len(data), size)]


def _require_commitment_count(
    number: int, rows: Sequence[Row | None], proofs: Proofs, owners: Mapping[int, Seat]
) -> None:
    """There is one commitment for the secret and one for each seat that has rows; a refusal may add one,
    as nobody else knows its seat. With one more the server could show one part and log another."""
    min_count = 1 + len(set(owners.values()))
    max_count = min_count + (None in rows)
    if len(proofs.commitments) not in (min_count * COMMITMENT_BYTES, max_count * COMMITMENT_BYTES):
        raise VerificationFailedError(number, "it has more or fewer commitments than it hides parts")


# -- the legal order of events: which come once, before the first card, at the end. The rules themselves keep it; a viewer, or
# an audit, checks with it that nothing that determines the randomness was repeated once the contributions were known. --------


# What comes once, before the start, or at the end.
ORDERED: Final = frozenset(
    {GameCreated, SeedSealed, SeatTaken, SeatFreed, GameStarted, SeedRevealed, GameEnded, AccessSet, GameForked}
)  # fmt: skip


class EventOrder:
    """The progress of one game through its legal order. Violations are returned as sentences, never raised."""

    __slots__ = ("free_seats", "game_ended", "seed_commitment", "seed_revealed", "started")

    def __init__(self) -> None:
        self.seed_commitment: str | None = None  # to the seed
        self.free_seats: set[Seat] = set()
        self.started = self.game_ended = self.seed_revealed = False

    def check(self, sequence: int, events: Sequence[Event]) -> str:
        """Apply the events of an entry, numbered from 1. Returns what is out of order there; "" if nothing is."""
        if self.game_ended:
            return "It comes after the game's end."
        if sequence == 1 and [type(event) for event in events[:2]] != [GameCreated, SeedSealed]:
            return "It doesn't begin with the game's creation and its seed."
        for index, event in enumerate(events):
            if self.started and event.__class__ not in ORDERED and not event.lays:
                continue
            if violation := self._find_violation(sequence, index, event):
                return violation
        if self.game_ended != self.seed_revealed:
            return "The game ends without revealing its seed, or reveals it before it ends."
        return ""

    def _find_violation(self, sequence: int, index: int, event: Event) -> str:
        name = event.type.replace("_", " ")
        match event:
            case GameCreated() | SeedSealed() if sequence != 1 or index > 1:
                return f"It has the event {name} again."
            case GameCreated(seats=seats):
                self.free_seats = set(range(len(seats)))
            case SeedSealed(commitment=commitment):
                self.seed_commitment = commitment
            case SeatTaken(seat=seat):
                if self.started or seat not in self.free_seats:
                    return f"It takes seat {seat}, which isn't free any more."
                self.free_seats.remove(seat)
            case SeatFreed(seat=seat):
                if self.started or seat in self.free_seats:
                    return f"It frees seat {seat}, which is free already, or whose cards are dealt."
                self.free_seats.add(seat)
            case GameStarted():
                if self.started or self.free_seats:
                    return "The game starts again, or before every seat is taken."
                self.started = True
            case SeedRevealed(seed=seed):
                self.seed_revealed = True
                if not self._is_committed(seed):
                    return "The seed that is revealed isn't the one that was committed to."
            case _:
                return self._find_violation_in_play(sequence, name, event)
        return ""

    def _find_violation_in_play(self, sequence: int, name: str, event: Event) -> str:
        """All other events come after the start, but for those of the first entry, and refusals."""
        self.game_ended = self.game_ended or isinstance(event, GameEnded)
        if event.lays or isinstance(event, AccessSet | GameForked):
            return "" if sequence == 1 else f"It has the event {name}, which only a game's first entry has."
        if self.started or isinstance(event, CommandRefused):
            return ""
        return f"It has the event {name} before the game has started."

    def _is_committed(self, seed: str) -> bool:
        with suppress(ValueError, TypeError):
            return commit_to_seed(seed) == self.seed_commitment
        return False
