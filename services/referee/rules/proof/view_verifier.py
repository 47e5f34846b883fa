"""What a viewer can check while the game goes on, from its own view alone (docs/proof.md).

A verifier recomputes the chain, looks for the commitment to each private part of its viewer, and checks
that every card shown is the one that was committed to in its slot. So every player notices a server that
changes a hidden card; and if it shows two players different games, their chain heads differ.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Final

from schemas.codec import Proofs, read_previous_part, read_private_rows, read_proofs
from schemas.entries import ViewEntry
from schemas.errors import CorruptDataError, LedgerlineError
from schemas.events import GameCreated, SeatTaken
from schemas.events.upcasting import event_class
from schemas.field_types import Seat
from schemas.hash_chain import COMMITMENT_BYTES, derive_salt, initial_head, next_head, private_part_commitment
from schemas.rows import Row, row_to_event
from services.referee.rules.fair_randomness import LEAF_BYTES, card_leaf, merkle_root
from services.referee.rules.proof.event_order import EventOrder
from services.referee.rules.proof.pile_tracker import CardSlot, PileChange, PileTracker
from services.referee.rules.views import REDACTORS, owner_of, redact_for

NO_ROWS: Mapping[int, Row] = {}
SEAT_SECRET_BYTES: Final = 32


class VerificationFailedError(LedgerlineError):
    """What the server shows contradicts what it committed to."""

    def __init__(self, sequence: int, reason: str) -> None:
        super().__init__(f"entry {sequence}: {reason}")
        self.sequence, self.reason = sequence, reason


class ViewVerifier:
    """Checks the view of one viewer of one game, from its first entry on."""

    __slots__ = (
        "event_order",
        "game",
        "head",
        "last_private_part",
        "leaves",
        "pile_tracker",
        "seat_secret",
        "sequence",
        "unchecked_parts",
        "viewer",
    )

    def __init__(self, game: str, viewer: Seat | None) -> None:
        self.game, self.viewer = game, viewer
        self.sequence, self.head = 0, initial_head(game)
        self.last_private_part = 0  # the sequence number of the viewer's last private part
        self.seat_secret = b""  # of the viewer's own seat
        # (sequence, private part, commitments of its entry) of parts shown before the seat secret was known
        self.unchecked_parts: list[tuple[int, bytes, bytes]] = []
        self.event_order = EventOrder()
        self.pile_tracker = PileTracker()
        self.leaves: dict[CardSlot, bytes] = {}  # of the cards in hidden piles

    def verify(self, entry: ViewEntry) -> None:
        """Check the next entry. Raises Betrayed, or Corrupt if it can't be read."""
        try:
            self._check(entry)
        except (TypeError, ValueError, AttributeError, LookupError) as error:
            raise CorruptDataError(f"entry {entry.number} holds what no referee writes: {error}") from None

    def _check(self, entry: ViewEntry) -> None:
        if entry.number != self.sequence + 1:
            raise VerificationFailedError(entry.number, f"it follows entry {self.sequence}")
        shown = entry.shown
        head = next_head(self.head, entry.number, shown.public)
        if shown.head and shown.head != head:
            raise VerificationFailedError(
                entry.number, "its head isn't the one that follows from what was shown"
            )
        self._require_game(entry)
        self._require_event_order(entry)
        if (parsed_proofs := read_proofs(shown.public)) is not None:
            rows, proofs = parsed_proofs
            own_rows, openings = (
                read_private_rows(shown.private_part) if shown.private_part else (NO_ROWS, b"")
            )
            self._require_private_part(entry, rows, own_rows)
            self._require_commitment_count(entry.number, rows, proofs)
            self._require_committed(entry, proofs, own_rows)
            self._require_cards(entry, proofs, openings)
        self.sequence, self.head = entry.number, head

    def _require_game(self, entry: ViewEntry) -> None:
        for event in entry.events:
            if isinstance(event, GameCreated) and event.game != self.game:
                raise VerificationFailedError(entry.number, f"it is of the game {event.game}")
            if isinstance(event, SeatTaken) and event.seat == self.viewer and event.luck:
                self.seat_secret = bytes.fromhex(event.luck)

    def _require_event_order(self, entry: ViewEntry) -> None:
        """Its events are in legal order, and it has proofs if the game's ruleset version has them."""
        if violation := self.event_order.check(entry.number, entry.events):
            raise VerificationFailedError(entry.number, violation)
        if self.event_order.sealed and read_proofs(entry.shown.public) is None:
            raise VerificationFailedError(entry.number, "it proves nothing, as entries of this game have to")
        seated = any(isinstance(event, SeatTaken) and event.seat == self.viewer for event in entry.events)
        if self.event_order.sealed and seated and len(self.seat_secret) != SEAT_SECRET_BYTES:
            raise VerificationFailedError(
                entry.number, "the viewer isn't shown its seat secret, so its private parts can't be checked"
            )

    def _require_private_part(
        self, entry: ViewEntry, rows: Sequence[Row | None], own_rows: Mapping[int, Row]
    ) -> None:
        """The viewer's private part has all events that are hidden from the others only, and nothing else."""
        if entry.shown.private_part:
            if read_previous_part(entry.shown.private_part) != self.last_private_part:
                raise VerificationFailedError(entry.number, "a part of the viewer's own before it is missing")
            self.last_private_part = entry.number
        expected_indexes = {
            index for index, row in enumerate(rows) if self._must_be_shown(row, entry.answers is not None)
        }
        if expected_indexes != own_rows.keys():
            raise VerificationFailedError(entry.number, "the viewer's own part is missing, or isn't whole")
        for index, row in own_rows.items():
            public = rows[index]
            if redact_for(None, row_to_event(row)) != (public and row_to_event(public)):
                raise VerificationFailedError(
                    entry.number, "the viewer's own part and what all see contradict each other"
                )

    def _must_be_shown(self, row: Row | None, is_sender: bool) -> bool:
        """Whether the viewer's private part must have more than this public row: it must for its own events
        that hide something, and for a refusal of its own command, which isn't public at all."""
        if row is None:
            return is_sender
        if self.viewer is None or event_class(row[0]) not in REDACTORS:
            return False
        return owner_of(row_to_event(row)) == self.viewer

    def _require_commitment_count(self, sequence: int, rows: Sequence[Row | None], proofs: Proofs) -> None:
        """There is one commitment for the secret and one for each seat that has rows; a refusal may add one,
        as nobody else knows its seat. With one more the server could show one part and log another."""
        redacted_events = [
            row_to_event(row) for row in rows if row is not None and event_class(row[0]) in REDACTORS
        ]
        seats = {seat for event in redacted_events if (seat := owner_of(event)) is not None}
        min_count = 1 + len(seats)
        max_count = min_count + any(row is None for row in rows)
        if len(proofs.commitments) not in (min_count * COMMITMENT_BYTES, max_count * COMMITMENT_BYTES):
            raise VerificationFailedError(sequence, "it has more or fewer commitments than it hides parts")

    def _require_committed(self, entry: ViewEntry, proofs: Proofs, own_rows: Mapping[int, Row]) -> None:
        """Parts from before the seat was taken are checked once its seat secret is known."""
        if own_rows and entry.shown.private_part:
            self.unchecked_parts.append((entry.number, entry.shown.private_part, proofs.commitments))
        while self.seat_secret and self.unchecked_parts:
            sequence, private_part, commitments = self.unchecked_parts.pop(0)
            commitment = private_part_commitment(
                derive_salt(self.seat_secret, sequence, self.game), private_part
            )
            if commitment not in _split_hashes(commitments, COMMITMENT_BYTES):
                raise VerificationFailedError(
                    sequence, "the viewer's own part isn't the one that was committed to"
                )

    def _require_cards(self, entry: ViewEntry, proofs: Proofs, openings: bytes) -> None:
        """Every card that is shown is the one that was committed to in its slot."""
        leaves = iter(_split_hashes(proofs.leaves, LEAF_BYTES))
        public_salts = iter(_split_hashes(proofs.openings, LEAF_BYTES))
        own_salts = iter(_split_hashes(openings, LEAF_BYTES))
        try:
            for event in entry.events:
                if (change := self.pile_tracker.apply(event)) is not None:
                    added_leaves = [next(leaves) for _ in change.added]
                    self.leaves.update(zip(change.added, added_leaves, strict=True))
                    if (root := getattr(event, "root", None)) and root != merkle_root(
                        b"".join(added_leaves)
                    ).hex():
                        raise VerificationFailedError(
                            entry.number, "the root over a pile isn't that of its leaves"
                        )
                    self._require_card_leaves(
                        entry.number, change, public_salts if change.salt_recipient is None else own_salts
                    )
        except (StopIteration, LookupError, RuntimeError):
            raise VerificationFailedError(
                entry.number, "it has too few salts or leaves for the cards that it moves"
            ) from None
        if any(next(iterator, None) is not None for iterator in (leaves, public_salts, own_salts)):
            raise VerificationFailedError(
                entry.number, "it has more salts or leaves than cards that it moves"
            )

    def _require_card_leaves(self, sequence: int, change: PileChange, salts: Iterator[bytes]) -> None:
        """The moved cards have the leaves of their slots, as far as the viewer sees the cards."""
        is_shown = not change.is_hidden and change.salt_recipient in (None, self.viewer)
        for slot, name in zip(change.added or change.removed, change.names, strict=True):
            leaf = self.leaves[slot] if change.added else self.leaves.pop(slot)
            if is_shown and (name is None or card_leaf(next(salts), name) != leaf):
                raise VerificationFailedError(
                    sequence, f"{name or 'a card'} isn't what was committed to at its place"
                )


def _split_hashes(data: bytes, size: int) -> Sequence[bytes]:
    return [data[offset : offset + size] for offset in range(0, len(data), size)]
