"""What a viewer can check while the game goes on, from its own view alone (docs/reference/proof.md).

A verifier recomputes the chain, looks for the commitment to each private part of its viewer, and checks
that every card shown is the one that was committed to in its slot. So every player notices a server that
changes a hidden card; and if it shows two players different games, their chain heads differ.

A seat's private part has to be the one that the entry commits to, to hold all that is hidden from the others only and
nothing else, to agree with what all see, and its cards are those of their slots.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Final, NamedTuple

from schemas.events import Event, SeatTaken
from schemas.field_types import CommandId, Seat
from schemas.stored.codec import PrivatePart, build_view_entry, read_private_part
from schemas.stored.entries import ViewEntry
from schemas.stored.hash_chain import COMMITMENT_BYTES, derive_salt, private_part_commitment
from schemas.stored.rows import row_to_event
from services.referee.games.fair_randomness import LEAF_BYTES
from services.referee.games.proof.pile_tracker import names_of
from services.referee.games.proof.public_verifier import (
    FEWER_HASHES,
    MALFORMED,
    TOO_FEW,
    PublicVerifier,
    VerificationFailedError,
    VerifiedEntry,
    not_of_a_referee,
    require_cards,
    require_used_up,
    split_hashes,
)
from services.referee.games.views import redact_for

SEAT_SECRET_BYTES: Final = 32


class SeatEntry(NamedTuple):
    """An entry as one seat is shown it: the command of its own that it decides, and the events."""

    answers: CommandId | None
    events: tuple[Event, ...]


class PartVerifier:
    """Checks the private parts of one seat of a game, from the first entry on."""

    __slots__ = ("former_secrets", "game", "last_part", "seat", "seat_secret", "unchecked_parts")

    def __init__(self, game: str, seat: Seat) -> None:
        self.game, self.seat = game, seat
        self.last_part = 0  # the sequence number of the seat's last private part
        self.seat_secret = b""
        self.former_secrets: set[bytes] = set()  # of those who sat there before
        # (sequence, private part, commitments of its entry) of parts shown before the seat secret was known
        self.unchecked_parts: list[tuple[int, bytes, bytes]] = []

    def verify(self, entry: VerifiedEntry, private_part: bytes | None) -> SeatEntry:
        """Check the seat's part of the next entry, or that it has none. Raises VerificationFailedError, or
        CorruptDataError if it can't be read. After one of these the verifier is of no more use."""
        if private_part is None and self.seat not in entry.owners.values():
            return SeatEntry(None, entry.events)
        try:
            return self._verify(entry, private_part)
        except MALFORMED as error:
            raise not_of_a_referee(entry.number, error) from None

    def _verify(self, entry: VerifiedEntry, private_part: bytes | None) -> SeatEntry:
        part = read_private_part(private_part)
        own_events = {index: row_to_event(row) for index, row in part.rows.items()}
        self._require_seat_secret(entry, own_events.values())
        self._require_whole_part(entry, part, is_shown=bool(private_part))
        _require_agreement(entry, own_events)
        if own_events and private_part:
            self._require_committed(entry.number, private_part, entry.proofs.commitments)
        self._require_cards(entry, own_events, part.openings)
        return SeatEntry(part.answers, _merge_events(entry, own_events))

    def _require_seat_secret(self, entry: VerifiedEntry, own_events: Iterable[Event]) -> None:
        """Once the seat is taken, all its parts can be checked. Whoever takes it when it was freed has a secret that
        nobody knows who sat there before."""
        if not any(isinstance(event, SeatTaken) and event.seat == self.seat for event in entry.events):
            return
        self.former_secrets.add(self.seat_secret)
        self.seat_secret = b""
        for event in own_events:
            if isinstance(event, SeatTaken) and event.seat == self.seat and event.luck:
                self.seat_secret = bytes.fromhex(event.luck)
        if len(self.seat_secret) != SEAT_SECRET_BYTES:
            raise VerificationFailedError(
                entry.number, "the viewer isn't shown its seat secret, so its private parts can't be checked"
            )
        if self.seat_secret in self.former_secrets:
            raise VerificationFailedError(
                entry.number, "the viewer's seat secret is known to who sat there before"
            )

    def _require_whole_part(self, entry: VerifiedEntry, part: PrivatePart, *, is_shown: bool) -> None:
        """The part has all events that are hidden from the others only, and nothing else: the seat's own that hide
        something, and a refusal of its own command, which isn't public at all."""
        if is_shown:
            if part.previous != self.last_part:
                raise VerificationFailedError(entry.number, "a part of the viewer's own before it is missing")
            self.last_part = entry.number
        expected_indexes = {index for index, owner in entry.owners.items() if owner == self.seat}
        if part.answers is not None:
            expected_indexes |= {index for index, row in enumerate(entry.rows) if row is None}
        if expected_indexes != part.rows.keys():
            raise VerificationFailedError(entry.number, "the viewer's own part is missing, or isn't whole")

    def _require_committed(self, number: int, private_part: bytes, commitments: bytes) -> None:
        """Parts from before the seat was taken are checked once its seat secret is known."""
        self.unchecked_parts.append((number, private_part, commitments))
        while self.seat_secret and self.unchecked_parts:
            sequence, part, committed = self.unchecked_parts.pop(0)
            commitment = private_part_commitment(derive_salt(self.seat_secret, sequence, self.game), part)
            if commitment not in split_hashes(committed, COMMITMENT_BYTES):
                raise VerificationFailedError(
                    sequence, "the viewer's own part isn't the one that was committed to"
                )

    def _require_cards(self, entry: VerifiedEntry, own_events: dict[int, Event], openings: bytes) -> None:
        """Every card that only this seat is shown is the one that was committed to in its slot."""
        salts = iter(split_hashes(openings, LEAF_BYTES))
        try:
            for index, seat, leaves in entry.hidden_moves:
                if seat == self.seat:
                    require_cards(entry.number, names_of(own_events[index]), leaves, salts)
        except TOO_FEW:
            raise VerificationFailedError(entry.number, FEWER_HASHES) from None
        require_used_up(entry.number, salts)


def _require_agreement(entry: VerifiedEntry, own_events: dict[int, Event]) -> None:
    """Require that the seat's own events are those that all are shown, with more of them to be seen. So nothing in
    them can break the order of events either."""
    for index, event in own_events.items():
        public = entry.rows[index]
        if redact_for(None, event) != (public and row_to_event(public)):
            raise VerificationFailedError(
                entry.number, "the viewer's own part and what all see contradict each other"
            )


def _merge_events(entry: VerifiedEntry, own_events: dict[int, Event]) -> tuple[Event, ...]:
    """The seat's events: those that all see, with its own in their places."""
    public_events = iter(entry.events)
    merged: list[Event | None] = [None if row is None else next(public_events) for row in entry.rows]
    for index, event in own_events.items():
        merged[index] = event
    return tuple(event for event in merged if event is not None)


class ViewVerifier:
    """Checks the view of one viewer of one game, from its first entry on."""

    __slots__ = ("game", "head", "part_verifier", "public_verifier", "sequence", "viewer")

    def __init__(self, game: str, viewer: Seat | None) -> None:
        self.game, self.viewer = game, viewer
        self.public_verifier = PublicVerifier(game)
        self.part_verifier = None if viewer is None else PartVerifier(game, viewer)
        self.sequence, self.head = 0, self.public_verifier.head

    def verify(self, entry: ViewEntry) -> None:
        """Check the next entry, as `build_view_entry` read it. Raises VerificationFailedError, or CorruptDataError
        if it can't be read; after one of these no entry counts any more."""
        number, (public, private_part, head) = entry.number, entry.shown
        public_entry = entry if private_part is None else build_view_entry(number, public, None, head)
        verified = self.public_verifier.verify(public_entry)
        if self.part_verifier is not None:
            self.part_verifier.verify(verified, private_part)
        self.sequence, self.head = number, self.public_verifier.head
