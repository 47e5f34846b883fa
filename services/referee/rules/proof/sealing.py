"""An entry as it is written: what each may see of it, and the commitments to what each may not.

docs/proof.md tells it byte by byte. Everything here follows from the log and the seed in it, so an
audit seals a log again and compares.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import lru_cache
from typing import Final, NamedTuple

from schemas import hash_chain
from schemas.codec import (
    FORMAT,
    UNSEALED,
    Faces,
    Proofs,
    Row,
    pack_entry,
    pack_part,
    pack_public,
    pack_sealed,
)
from schemas.entries import Entry
from schemas.events import Event
from schemas.field_types import Seat
from services.referee.rules.fair_randomness import card_leaf, card_leaves, card_salt
from services.referee.rules.proof.pile_tracker import Moved, Piles
from services.referee.rules.shuffle import luck_of
from services.referee.rules.table import Table
from services.referee.rules.views import faces

vault_of: Final = lru_cache(maxsize=4_096)(hash_chain.vault_of)


class Past(NamedTuple):
    """What the next entry of a log depends on, besides the table."""

    number: int  # of its last entry
    head: bytes  # after that
    parts: Mapping[Seat, int]  # the number of each seat's last own part

    def after(self, sealed: Sealed) -> Past:
        """What the entry after that one depends on."""
        number = self.number + 1
        told = dict.fromkeys((seat for seat, _ in sealed.parts), number)
        return Past(number, sealed.head, {**self.parts, **told})


class Sealed(NamedTuple):
    """One entry in all its forms, and the head after it."""

    entry: bytes
    public: bytes
    parts: Sequence[tuple[Seat, bytes]]
    head: bytes


def seal(table: Table, past: Past, piles: Piles, entry: Entry) -> Sealed:
    """Make an entry's bytes. The table has taken it on already; the piles, the caller's own, do so here."""
    turned = faces(entry.events)
    owned = turned.private
    if entry.seat is not None:  # its command's id is its own
        owned = {**owned, entry.seat: owned.get(entry.seat, {})}
    number = past.number + 1
    if not table.rules.dealing.sealed:
        parts = [(seat, _part(past, entry, seat, rows, b"", UNSEALED)) for seat, rows in owned.items()]
        public = pack_public(entry.at, turned)
        head = hash_chain.next_head(past.head, number, public)
        return Sealed(pack_entry(entry, turned, UNSEALED), public, parts, head)
    assert table.seed is not None, "only the referee seals"
    vault = vault_of(table.seed, table.game)
    leaves, openings = _moved(piles, entry.events, vault)
    parts = [
        (seat, _part(past, entry, seat, rows, openings.get(seat, b""), FORMAT))
        for seat, rows in owned.items()
    ]
    written, secret = pack_sealed(entry, turned)
    kept = _commitments(table, vault, number, secret, turned, parts)
    public = pack_public(entry.at, turned, Proofs(kept, leaves, openings.get(None, b"")))
    return Sealed(written, public, parts, hash_chain.next_head(past.head, number, public))


def _part(past: Past, entry: Entry, seat: Seat, rows: dict[int, Row], openings: bytes, form: int) -> bytes:
    answers = entry.id if seat == entry.seat else None
    return pack_part(past.parts.get(seat, 0), answers, rows, openings, form)


def _commitments(
    table: Table, vault: bytes, number: int, secret: bytes, turned: Faces, parts: Sequence[tuple[Seat, bytes]]
) -> bytes:
    """To the secret, then to every part that has rows: who it is for doesn't show."""
    kept = hash_chain.secret_commitment(hash_chain.salt_of(vault, number, table.game), secret)
    for seat, part in sorted(parts) if len(parts) > 1 else parts:
        if turned.private.get(seat):
            luck = table.places[seat].luck or luck_of(table.seed or "", seat, table.game)
            kept += hash_chain.part_commitment(
                hash_chain.salt_of(bytes.fromhex(luck), number, table.game), part
            )
    return kept


def _moved(piles: Piles, events: Sequence[Event], vault: bytes) -> tuple[bytes, dict[Seat | None, bytes]]:
    """The leaves of cards that went face down, and the salts that everybody or one seat is told."""
    leaves = b""
    told: dict[Seat | None, bytes] = {}
    for event in events:
        moved = piles.follow(event)
        if moved is None:
            continue
        if moved.laid:
            leaves += _leaves(moved, vault)
        if not moved.hidden:
            salts = b"".join(card_salt(vault, *place) for place in (moved.laid or moved.turned))
            told[moved.told] = told.get(moved.told, b"") + salts
    return leaves, told


def _leaves(moved: Moved, vault: bytes) -> bytes:
    """Of cards that were laid down; they lie one under the other, in places that begin at 0."""
    names = tuple(name for name in moved.names if name is not None)
    assert len(names) == len(moved.laid), "only the referee seals"
    if moved.hidden:
        return card_leaves(vault, moved.laid[0][0], names)
    return b"".join(
        card_leaf(card_salt(vault, *place), name) for place, name in zip(moved.laid, names, strict=True)
    )
