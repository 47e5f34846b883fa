"""Random games sealed as the referee seals them: every entry in all its forms, and who is shown what."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field
from random import Random

from hypothesis import strategies as st

from schemas.field_types import Seat
from schemas.stored.codec import build_view_entry, unpack_entry
from schemas.stored.entries import Entry, ViewEntry
from schemas.stored.hash_chain import initial_head
from services.referee.games import RULESETS, GameState, fold_events
from services.referee.games.proof.pile_tracker import PileTracker
from services.referee.games.proof.sealing import ChainState, SealedEntry, seal_entry
from services.referee.games.proof.view_verifier import ViewVerifier
from tests.rules.random_games import RandomGame, draw_game, random_board, random_position

GAME = "random"  # the id that RandomGame gives its game


@dataclass
class SealedGame:
    entries: list[Entry]
    sealed: list[SealedEntry] = field(default_factory=list)
    state: GameState = field(default_factory=GameState)

    def __post_init__(self) -> None:
        chain_state, piles = ChainState(0, initial_head(GAME), {}), PileTracker()
        for entry in self.entries:
            fold_events(self.state, entry.at, entry.events)
            self.sealed.append(seal_entry(self.state, chain_state, piles, entry))
            chain_state = chain_state.after(self.sealed[-1])

    def viewers(self) -> tuple[Seat | None, ...]:
        return (None, *range(len(self.state.seats)))

    def view_entries(self, viewer: Seat | None) -> list[ViewEntry]:
        """The entries of a viewer's view."""
        return [
            build_view_entry(number, one.public, private_part_of(one, viewer), one.head)
            for number, one in enumerate(self.sealed, 1)
        ]


def private_part_of(sealed: SealedEntry, viewer: Seat | None) -> bytes | None:
    return next((part for seat, part in sealed.private_parts if seat == viewer), None)


def verify_all(viewer: Seat | None, entries: list[ViewEntry]) -> ViewVerifier:
    """A verifier that has checked them all. Raises VerificationFailedError."""
    verifier = ViewVerifier(GAME, viewer)
    for entry in entries:
        verifier.verify(entry)
    return verifier


def play_and_seal(play: RandomGame, steps_most: int = 3000) -> SealedGame:
    """The game, played to its end or for so many steps, and sealed."""
    for number in play.steps():
        if number >= steps_most:
            break
    return SealedGame([unpack_entry(data) for data in play.log])


def fixed_games(rules: str, steps_most: int = 60) -> Iterator[SealedGame]:
    """A few games that are always the same: a plain one, one from a position if the game has any, a strict one with illegal commands."""
    for kind in range(3):
        rng = Random(f"{rules} {kind}")
        board, seats, create_fields = random_board(rng, rules)
        if kind == 1 and board:
            create_fields["position"] = random_position(rng, board, seats)
        options = {"strict": kind == 2}
        illegal_share, leave_share = (0.05, 0.01) if kind == 2 else (0.02, 0)
        yield play_and_seal(
            RandomGame(rng, board, seats, "anything", illegal_share, leave_share, options, create_fields),
            steps_most,
        )


SEALED_GAMES = {
    rules: st.composite(draw_game)(rules).map(play_and_seal) for rules in RULESETS
}  # whole games: from positions, in play-offs, strict or not
