"""What every player can check while the game goes on, of what it alone is shown (docs/proof.md).

A witness computes the chain, looks for the commitment to each part of its own, and sees that every
card that it is shown is the one that was committed to at that place. So a house that tells two players
two stories, or changes a card that lies face down, is noticed by whoever plays.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Final

from schemas.codec import Corrupt, Proofs, Row, part_before, part_rows, proofs_of, row_event
from schemas.entries import ViewEntry
from schemas.events import BY_CODE, GameCreated, SeatTaken
from schemas.field_types import Seat
from schemas.hash_chain import COMMITMENT_BYTES, first_head, next_head, part_commitment, salt_of
from services.referee.rules.fair_randomness import LEAF_BYTES, card_leaf, merkle_root
from services.referee.rules.proof.event_order import Course
from services.referee.rules.proof.pile_tracker import Moved, Piles, Place
from services.referee.rules.views import HIDING, seen_by

NOTHING: Mapping[int, Row] = {}
LUCK_BYTES: Final = 32


class Betrayed(Exception):
    """What the house shows doesn't fit what it committed to."""

    def __init__(self, number: int, why: str) -> None:
        super().__init__(f"entry {number}: {why}")
        self.number, self.why = number, why


class Witness:
    """One viewer of one game, from its first entry on."""

    __slots__ = ("course", "game", "head", "leaves", "luck", "number", "part", "piles", "unchecked", "viewer")

    def __init__(self, game: str, viewer: Seat | None) -> None:
        self.game, self.viewer = game, viewer
        self.number, self.head = 0, first_head(game)
        self.part = 0  # the number of the viewer's last own part
        self.luck = b""  # of the viewer's own seat
        self.unchecked: list[tuple[int, bytes, bytes]] = []  # parts, and the commitments of their entries
        self.course = Course()
        self.piles = Piles()
        self.leaves: dict[Place, bytes] = {}  # of cards that lie face down

    def see(self, entry: ViewEntry) -> None:
        """Check the next entry. Raises Betrayed, or Corrupt if it can't be read."""
        try:
            self._check(entry)
        except (TypeError, ValueError, AttributeError, LookupError) as error:
            raise Corrupt(f"entry {entry.number} holds what no referee writes: {error}") from None

    def _check(self, entry: ViewEntry) -> None:
        if entry.number != self.number + 1:
            raise Betrayed(entry.number, f"it follows entry {self.number}")
        shown = entry.shown
        head = next_head(self.head, entry.number, shown.public)
        if shown.head and shown.head != head:
            raise Betrayed(entry.number, "its head isn't the one that follows from what was shown")
        self._require_game(entry)
        self._require_course(entry)
        if (told := proofs_of(shown.public)) is not None:
            rows, proofs = told
            own, openings = part_rows(shown.part) if shown.part else (NOTHING, b"")
            self._require_part(entry, rows, own)
            self._require_one_each(entry.number, rows, proofs)
            self._require_committed(entry, proofs, own)
            self._require_cards(entry, proofs, openings)
        self.number, self.head = entry.number, head

    def _require_game(self, entry: ViewEntry) -> None:
        for event in entry.events:
            if isinstance(event, GameCreated) and event.game != self.game:
                raise Betrayed(entry.number, f"it is of the game {event.game}")
            if isinstance(event, SeatTaken) and event.seat == self.viewer and event.luck:
                self.luck = bytes.fromhex(event.luck)

    def _require_course(self, entry: ViewEntry) -> None:
        """Its facts come when they may, and prove something where the game's rules have them do so."""
        if why := self.course.follow(entry.number, entry.events):
            raise Betrayed(entry.number, why)
        if self.course.sealed and proofs_of(entry.shown.public) is None:
            raise Betrayed(entry.number, "it proves nothing, as entries of this game have to")
        seated = any(isinstance(event, SeatTaken) and event.seat == self.viewer for event in entry.events)
        if self.course.sealed and seated and len(self.luck) != LUCK_BYTES:
            raise Betrayed(
                entry.number, "the viewer isn't told its luck, so nothing of its own can be checked"
            )

    def _require_part(self, entry: ViewEntry, rows: Sequence[Row | None], own: Mapping[int, Row]) -> None:
        """The viewer's own part tells all that is face down for others only, and nothing else."""
        if entry.shown.part:
            if part_before(entry.shown.part) != self.part:
                raise Betrayed(entry.number, "a part of the viewer's own before it is missing")
            self.part = entry.number
        owed = {place for place, row in enumerate(rows) if self._is_owed(row, entry.answers is not None)}
        if owed != own.keys():
            raise Betrayed(entry.number, "the viewer's own part is missing, or isn't whole")
        for place, row in own.items():
            public = rows[place]
            if seen_by(None, row_event(row)) != (public and row_event(public)):
                raise Betrayed(entry.number, "the viewer's own part and what all see contradict each other")

    def _is_owed(self, row: Row | None, speaks: bool) -> bool:
        """Whether the viewer must be told more than this row: its own events that hide something, and
        a refusal of what it said, of which the others aren't told at all."""
        if row is None:
            return speaks
        if self.viewer is None or BY_CODE.get(row[0]) not in HIDING:
            return False
        return getattr(row_event(row), "seat", None) == self.viewer

    def _require_one_each(self, number: int, rows: Sequence[Row | None], proofs: Proofs) -> None:
        """One commitment for the secret and for each seat that has rows; who was refused, nobody else knows.
        With one more the house could show one part, and log another."""
        hiding = [row_event(row) for row in rows if row is not None and BY_CODE.get(row[0]) in HIDING]
        seats = {seat for event in hiding if (seat := getattr(event, "seat", None)) is not None}
        least = 1 + len(seats)
        most = least + any(row is None for row in rows)
        if len(proofs.commitments) not in (least * COMMITMENT_BYTES, most * COMMITMENT_BYTES):
            raise Betrayed(number, "it has more or fewer commitments than it hides parts")

    def _require_committed(self, entry: ViewEntry, proofs: Proofs, own: Mapping[int, Row]) -> None:
        """Parts that a seat got before somebody sat there are checked when its luck is told."""
        if own and entry.shown.part:
            self.unchecked.append((entry.number, entry.shown.part, proofs.commitments))
        while self.luck and self.unchecked:
            number, part, commitments = self.unchecked.pop(0)
            wanted = part_commitment(salt_of(self.luck, number, self.game), part)
            if wanted not in _pieces(commitments, COMMITMENT_BYTES):
                raise Betrayed(number, "the viewer's own part isn't the one that was committed to")

    def _require_cards(self, entry: ViewEntry, proofs: Proofs, openings: bytes) -> None:
        """Every card that is shown is the one that was committed to at its place."""
        leaves = iter(_pieces(proofs.leaves, LEAF_BYTES))
        everybodys = iter(_pieces(proofs.openings, LEAF_BYTES))
        own = iter(_pieces(openings, LEAF_BYTES))
        try:
            for event in entry.events:
                if (moved := self.piles.follow(event)) is not None:
                    laid = [next(leaves) for _ in moved.laid]
                    self.leaves.update(zip(moved.laid, laid, strict=True))
                    if (root := getattr(event, "root", None)) and root != merkle_root(b"".join(laid)).hex():
                        raise Betrayed(entry.number, "the root over a pile isn't that of its leaves")
                    self._require_moved(entry.number, moved, everybodys if moved.told is None else own)
        except (StopIteration, LookupError, RuntimeError):
            raise Betrayed(entry.number, "it says too little of the cards that it moves") from None
        if any(next(rest, None) is not None for rest in (leaves, everybodys, own)):
            raise Betrayed(entry.number, "it says more of cards than it moves")

    def _require_moved(self, number: int, moved: Moved, salts: Iterator[bytes]) -> None:
        """Its cards have the leaves of their places, if the viewer is told what they are."""
        told = not moved.hidden and moved.told in (None, self.viewer)
        for place, name in zip(moved.laid or moved.turned, moved.names, strict=True):
            leaf = self.leaves[place] if moved.laid else self.leaves.pop(place)
            if told and (name is None or card_leaf(next(salts), name) != leaf):
                raise Betrayed(number, f"{name or 'a card'} isn't what was committed to at its place")


def _pieces(run: bytes, size: int) -> Sequence[bytes]:
    return [run[at : at + size] for at in range(0, len(run), size)]
