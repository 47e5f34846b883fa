"""Sealing: an entry's public and private parts, and the commitments to what each viewer may not see.

docs/reference/proof.md specifies it byte by byte. Everything here follows from the log and the seed in it, so an
audit seals a log again and compares.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import lru_cache
from typing import Final, NamedTuple

from schemas.events import Event
from schemas.field_types import Seat
from schemas.stored import hash_chain
from schemas.stored.codec import (
    Proofs,
    pack_entry,
    pack_private_part,
    pack_public,
)
from schemas.stored.entries import Entry
from schemas.stored.rows import VisibilitySplit
from services.referee.games.fair_randomness import card_leaf, card_leaves, card_salt
from services.referee.games.proof.pile_tracker import PileChange, PileTracker
from services.referee.games.shuffle import derive_seat_secret
from services.referee.games.state import GameState
from services.referee.games.views import split_by_visibility

derive_salt_key: Final = lru_cache(maxsize=4_096)(hash_chain.derive_salt_key)


class ChainState(NamedTuple):
    """The end of a log, on which its next entry depends besides the game state."""

    sequence: int  # of its last entry
    head: bytes  # after that
    last_private_parts: Mapping[Seat, int]  # by seat the sequence number of its last private part

    def after(self, sealed_entry: SealedEntry) -> ChainState:
        """The chain state after that entry."""
        sequence = self.sequence + 1
        new_private_parts = dict.fromkeys((seat for seat, _ in sealed_entry.private_parts), sequence)
        return ChainState(sequence, sealed_entry.head, {**self.last_private_parts, **new_private_parts})


class SealedEntry(NamedTuple):
    """The bytes of one entry: as logged, its public and its private parts, and what only the sender knows yet
    (`secret`); and the chain head after it."""

    entry: bytes
    public: bytes
    private_parts: Sequence[tuple[Seat, bytes]]
    head: bytes
    secret: bytes


def seal_entry(
    state: GameState, chain_state: ChainState, pile_tracker: PileTracker, entry: Entry
) -> SealedEntry:
    """The bytes of an entry. `state` is the state after the entry, with the seed. `pile_tracker`, which the
    caller owns, is before the entry, and its events are applied to it here."""
    split = split_by_visibility(entry.events)
    rows_by_seat = split.private
    if entry.seat is not None:  # the sender's private part has the command's id
        rows_by_seat = {**rows_by_seat, entry.seat: rows_by_seat.get(entry.seat, {})}
    sequence = chain_state.sequence + 1
    assert state.seed is not None, "only the referee seals"
    salt_key = derive_salt_key(state.seed, state.game)
    leaves, openings = _track_piles(pile_tracker, entry.events, salt_key)
    private_parts = [
        (
            seat,
            pack_private_part(
                chain_state.last_private_parts.get(seat, 0),
                entry.id if seat == entry.seat else None,
                rows,
                openings.get(seat, b""),
            ),
        )
        for seat, rows in rows_by_seat.items()
    ]
    entry_bytes, secret = pack_entry(entry, split)
    commitments = _compute_commitments(state, salt_key, sequence, secret, split, private_parts)
    public = pack_public(entry.at, split, Proofs(commitments, leaves, openings.get(None, b"")))
    head = hash_chain.next_head(chain_state.head, sequence, public)
    return SealedEntry(entry_bytes, public, private_parts, head, secret)


def _compute_commitments(
    state: GameState,
    salt_key: bytes,
    sequence: int,
    secret: bytes,
    split: VisibilitySplit,
    private_parts: Sequence[tuple[Seat, bytes]],
) -> bytes:
    """To the secret, then to every private part that has rows, in seat order; whose they are doesn't show."""
    commitments = hash_chain.secret_commitment(hash_chain.derive_salt(salt_key, sequence, state.game), secret)
    for seat, private_part in sorted(private_parts) if len(private_parts) > 1 else private_parts:
        if split.private.get(seat):
            seat_secret = state.seats[seat].seat_secret or derive_seat_secret(
                state.seed or "", seat, state.game, state.seats[seat].times_freed
            )
            commitments += hash_chain.private_part_commitment(
                hash_chain.derive_salt(bytes.fromhex(seat_secret), sequence, state.game), private_part
            )
    return commitments


def _track_piles(
    pile_tracker: PileTracker, events: Sequence[Event], salt_key: bytes
) -> tuple[bytes, dict[Seat | None, bytes]]:
    """The leaves of cards that went into piles, and by recipient (None: everybody) the salts of cards."""
    leaves = b""
    openings: dict[Seat | None, bytes] = {}
    for event in events:
        change = pile_tracker.apply(event)
        if change is None:
            continue
        if change.added:
            leaves += _card_leaves_of(change, salt_key)
        if not change.is_hidden:
            salts = b"".join(card_salt(salt_key, *slot) for slot in (change.added or change.removed))
            openings[change.salt_recipient] = openings.get(change.salt_recipient, b"") + salts
    return leaves, openings


def _card_leaves_of(change: PileChange, salt_key: bytes) -> bytes:
    """The leaves of the cards added to a pile; their slots follow each other, from position 0."""
    names = tuple(name for name in change.names if name is not None)
    assert len(names) == len(change.added), "only the referee seals"
    if change.is_hidden:
        return card_leaves(salt_key, change.added[0][0], names)
    return b"".join(
        card_leaf(card_salt(salt_key, *slot), name) for slot, name in zip(change.added, names, strict=True)
    )
