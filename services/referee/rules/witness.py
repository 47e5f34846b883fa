"""What every player can check while the game goes on, of what it alone is shown (docs/proof.md).

A witness computes the chain, looks for the commitment to each part of its own, and sees that every
card that it is shown is the one that was committed to at that place. So a house that tells two players
two stories, or changes a card that lies face down, is noticed by whoever plays.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Final

from schemas.chain import COMMITMENT_BYTES, first_head, next_head, part_commitment, salt_of
from schemas.codec import Proofs, openings_of, proofs_of
from schemas.events import Event, GameCreated, SeatTaken
from schemas.views import ViewEntry
from schemas.words import Seat
from services.referee.rules.dealing import LEAF_BYTES, card_leaf
from services.referee.rules.piles import Moved, Piles, Place
from services.referee.rules.views import HIDING

NO_PROOFS: Final = Proofs(b"")


class Betrayed(Exception):
    """What the house shows doesn't fit what it committed to."""

    def __init__(self, number: int, why: str) -> None:
        super().__init__(f"entry {number}: {why}")
        self.number, self.why = number, why


class Witness:
    """One viewer of one game, from its first entry on."""

    __slots__ = ("game", "head", "leaves", "luck", "number", "piles", "viewer")

    def __init__(self, game: str, viewer: Seat | None) -> None:
        self.game, self.viewer = game, viewer
        self.number, self.head = 0, first_head(game)
        self.luck = b""  # of the viewer's own seat
        self.piles = Piles()
        self.leaves: dict[Place, bytes] = {}  # of cards that lie face down

    def see(self, entry: ViewEntry) -> None:
        """Check the next entry. Raises Betrayed, or Corrupt if it can't be read."""
        if entry.number != self.number + 1:
            raise Betrayed(entry.number, f"it follows entry {self.number}")
        shown = entry.shown
        head = next_head(self.head, entry.number, shown.public)
        if shown.head and shown.head != head:
            raise Betrayed(entry.number, "its head isn't the one that follows from what was shown")
        self._require_game(entry)
        if (proofs := proofs_of(shown.public)) is not None:
            self._require_part(entry, proofs)
            self._require_cards(entry, proofs)
        self.number, self.head = entry.number, head

    def _require_game(self, entry: ViewEntry) -> None:
        for event in entry.events:
            if isinstance(event, GameCreated) and event.game != self.game:
                raise Betrayed(entry.number, f"it is of the game {event.game}")
            if isinstance(event, SeatTaken) and event.seat == self.viewer and event.luck:
                self.luck = bytes.fromhex(event.luck)

    def _require_part(self, entry: ViewEntry, proofs: Proofs) -> None:
        """The viewer's own part is committed to, and there if anything says that it must be."""
        part = entry.shown.part
        for event in entry.events:
            if getattr(event, "seat", None) == self.viewer is not None and _is_face_down(event):
                raise Betrayed(entry.number, "the viewer's own part is missing")
        if part is None or not openings_of(part)[0]:
            return
        wanted = part_commitment(salt_of(self.luck, entry.number), part)
        if wanted not in _pieces(proofs.commitments, COMMITMENT_BYTES):
            raise Betrayed(entry.number, "the viewer's own part isn't the one that was committed to")

    def _require_cards(self, entry: ViewEntry, proofs: Proofs) -> None:
        """Every card that is shown is the one that was committed to at its place."""
        own = openings_of(entry.shown.part)[1] if entry.shown.part else b""
        leaves = iter(_pieces(proofs.leaves, LEAF_BYTES))
        salts = {
            None: iter(_pieces(proofs.openings, LEAF_BYTES)),
            self.viewer: iter(_pieces(own, LEAF_BYTES)),
        }
        if self.viewer is None:
            salts = {None: iter(_pieces(proofs.openings, LEAF_BYTES))}
        try:
            for event in entry.events:
                if (moved := self.piles.follow(event)) is not None:
                    self.leaves.update((place, next(leaves)) for place in moved.laid)
                    self._require_moved(entry.number, moved, salts.get(moved.told))
        except (StopIteration, LookupError, RuntimeError):
            raise Betrayed(entry.number, "it says too little of the cards that it moves") from None
        if any(next(rest, None) is not None for rest in (leaves, *salts.values())):
            raise Betrayed(entry.number, "it says more of cards than it moves")

    def _require_moved(self, number: int, moved: Moved, salts: Iterator[bytes] | None) -> None:
        for place, name in zip(moved.laid or moved.turned, moved.names, strict=True):
            leaf = self.leaves[place] if moved.laid else self.leaves.pop(place)
            if moved.hidden or salts is None:
                continue
            if name is None or card_leaf(next(salts), name) != leaf:
                raise Betrayed(number, f"{name or 'a card'} isn't what was committed to at its place")


def _is_face_down(event: Event) -> bool:
    """Whether the event hides something that its own seat must know."""
    turn_down = HIDING.get(event.__class__)
    return (
        turn_down is not None
        and not isinstance(event, SeatTaken)
        and turn_down(event) == event
        and _hides(event)
    )


def _hides(event: Event) -> bool:
    """Whether there is anything in it that could be turned face up."""
    rows = [
        getattr(event, name) for name in ("card", "cards", "kept", "tickets", "decks") if hasattr(event, name)
    ]
    return any(row is None or (isinstance(row, tuple) and None in row) for row in rows)


def _pieces(run: bytes, size: int) -> Sequence[bytes]:
    return [run[at : at + size] for at in range(0, len(run), size)]
