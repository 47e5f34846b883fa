"""What a viewer can check while the game goes on, from its own view alone (docs/proof.md).

A verifier recomputes the chain, looks for the commitment to each private part of its viewer, and checks
that every card shown is the one that was committed to in its slot. So every player notices a server that
changes a hidden card; and if it shows two players different games, their chain heads differ.
"""

from __future__ import annotations

from schemas.field_types import Seat
from schemas.stored.codec import build_view_entry
from schemas.stored.entries import ViewEntry
from services.referee.games.proof.part_verifier import PartVerifier
from services.referee.games.proof.public_verifier import PublicVerifier


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
