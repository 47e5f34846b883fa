"""Somebody who sees what one viewer sees, knows this code by heart, and wants the next card.

Any 32 bytes that were published are tried in the place of whatever is secret: as the seed, the key, the vault, a
seat's luck, a salt. That it is the right way to ask shows when the secret itself is among them.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from functools import reduce
from hashlib import sha256
from typing import Final, NamedTuple

import msgpack

from schemas.codec import pack_private_part
from schemas.events import CardDrawn, Event, SeatTaken
from schemas.field_types import CARDS, Seat
from schemas.hash_chain import (
    COMMITMENT_BYTES,
    derive_salt,
    derive_salt_key,
    private_part_commitment,
    secret_commitment,
)
from services.referee.rules import GameState, redact_for
from services.referee.rules.fair_randomness import card_leaf, card_salt, derive_shuffle_key
from services.referee.rules.proof.pile_tracker import PileTracker
from services.referee.rules.shuffle import commit_to_seed, derive_seat_secret, in_canonical_order, shuffled
from tests.secrecy.matches import Match, Step

Values = Mapping[str, bytes]  # 32 bytes each, by what they are
HEX: Final = frozenset("0123456789abcdef")


class Told(NamedTuple):
    """What a viewer was sent until now."""

    match: Match
    viewer: Seat | None
    steps: Sequence[Step]
    values: Values


def told(match: Match, steps: Sequence[Step], viewer: Seat | None) -> Told:
    values: dict[str, bytes] = {
        "zeros": bytes(32),
        "the game's name": sha256(match.table.game.encode()).digest(),
    }
    for number, step in enumerate(steps, 1):
        for event in step.came.events:
            values.update(hashes_of(number, redact_for(viewer, event)))
        if step.came.verdict is not None:
            values[f"head {number}"] = step.came.verdict.head
            values.update(proofs_of(number, step.came.verdict.public))
    given = [value for name, value in values.items() if name.endswith("contribution")]
    values["all that was given"] = sha256(b"".join(given)).digest()
    values["all that was given, xor"] = reduce(xor, given, bytes(32))
    for name, value in [*values.items()]:
        values[f"hash of {name}"] = sha256(value).digest()
    return Told(match, viewer, steps, values)


def xor(one: bytes, other: bytes) -> bytes:
    return bytes(a ^ b for a, b in zip(one, other, strict=True))


def hashes_of(number: int, event: Event | None) -> Iterator[tuple[str, bytes]]:
    """Every 32 bytes in an event that is seen."""
    for name in getattr(event, "__slots__", ()):
        value = getattr(event, name)
        if isinstance(value, str) and len(value) == 64 and HEX.issuperset(value):
            seat = event.seat if isinstance(event, SeatTaken) else ""
            yield f"{number} {type(event).__name__} {seat} {name}", bytes.fromhex(value)


def proofs_of(number: int, public: bytes) -> Iterator[tuple[str, bytes]]:
    """Commitments, leaves and salts of a public entry, two by two."""
    _, _, _, *proofs = msgpack.unpackb(public, strict_map_key=False)
    row = b"".join(proofs)[: 8 * COMMITMENT_BYTES]
    for at in range(0, len(row) - COMMITMENT_BYTES, 2 * COMMITMENT_BYTES):
        yield f"{number} proof {at}", row[at : at + 2 * COMMITMENT_BYTES].ljust(32, b"\0")


# -- the seed, or the key ------------------------------------------------------------------------


def seeds_found(view: Told) -> list[str]:
    """What would be the seed: its hash is the published one."""
    return [
        name
        for name, value in view.values.items()
        if commit_to_seed(value.hex()) == view.match.table.commitment
    ]


def next_cards(view: Told) -> Iterator[tuple[str, str]]:
    """What comes next if a value is the key of all shuffles, or the seed that the key is made of. Asked
    for where the deck was shuffled only once."""
    table = view.match.table
    row = in_canonical_order(table.rule_options.cards.items())
    place = len(row) - len(table.deck)
    for name, value in view.values.items():
        yield f"key: {name}", shuffled(row, value.hex(), 0)[place]
        yield f"seed: {name}", shuffled(row, key_with(table, value), 0)[place]


def key_with(table: GameState, seed: bytes) -> str:
    other = table.copy()
    other.seed = seed.hex()
    return derive_shuffle_key(other)


# -- salts ---------------------------------------------------------------------------------------


def leaves_opened(view: Told) -> list[str]:
    """Cards and tickets that lie face down and whose leaves are found: by the vault's salts, or any other."""
    hidden, found, game = hidden_leaves(view), [], view.match.table.game
    for name, value in view.values.items():
        salts = [b"", value, value[:COMMITMENT_BYTES], value[COMMITMENT_BYTES:]]
        salts += [
            card_salt(vault, 0, at)
            for vault in (value, derive_salt_key(value.hex(), game))
            for at in range(30)
        ]
        found += [f"{card}: {name}" for salt in salts for card in CARDS if card_leaf(salt, card) in hidden]
    return found


def hidden_leaves(view: Told) -> set[bytes]:
    """All leaves but those of what the viewer was shown."""
    piles, leaves, shown = PileTracker(), dict[tuple[int, int], bytes](), set[tuple[int, int]]()
    for step in view.steps:
        row = leaves_of(step.came.verdict.public) if step.came.verdict else iter(())
        for moved in filter(None, map(piles.apply, step.came.events)):
            leaves.update((place, next(row)) for place in moved.added)
            if not moved.is_hidden and moved.salt_recipient in (None, view.viewer):
                shown.update(moved.added or moved.removed)
    return {leaf for place, leaf in leaves.items() if place not in shown}


def leaves_of(public: bytes) -> Iterator[bytes]:
    _, _, _, _, *more = msgpack.unpackb(public, strict_map_key=False)
    row = more[0] if more else b""
    return (row[at : at + COMMITMENT_BYTES] for at in range(0, len(row), COMMITMENT_BYTES))


def parts_opened(view: Told) -> list[str]:
    """Cards that others drew, found by trying each in the commitment to their part. Of that part all but
    the card is given away here: its place, the command's id, the number of the part before it."""
    found, before = [], dict[Seat, int]()
    for step in view.steps:
        verdict = step.came.verdict
        if verdict is None:
            continue
        number, owners = verdict.expected_length + 1, [seat for seat, _ in verdict.private_parts]
        for place, event in enumerate(step.came.events):
            if isinstance(event, CardDrawn) and event.seat != view.viewer:
                answers = step.envelope.id
                parts = [
                    pack_private_part(
                        before.get(event.seat, 0), answers, {place: (event.code, event.seat, card)}, salt
                    )
                    for card in CARDS
                    for salt in (b"", *salts_told(verdict.private_parts, event.seat))
                ]
                found += [f"{number}: {name}" for name in opened(view, number, parts, verdict.public)]
        before.update(dict.fromkeys(owners, number))
    return found


def salts_told(parts: Sequence[tuple[Seat, bytes]], seat: Seat) -> Iterator[bytes]:
    """The salts in the part: generously given away too."""
    for owner, part in parts:
        if owner == seat:
            yield from msgpack.unpackb(part, strict_map_key=False)[4:]


def opened(view: Told, number: int, parts: Sequence[bytes], public: bytes) -> Iterator[str]:
    row = msgpack.unpackb(public, strict_map_key=False)[3]
    commitments = {row[at : at + COMMITMENT_BYTES] for at in range(0, len(row), COMMITMENT_BYTES)}
    game = view.match.table.game
    for name, value in view.values.items():
        lucks = [
            value,
            *(
                bytes.fromhex(derive_seat_secret(value.hex(), seat, own))
                for seat in range(view.match.seats)
                for own in ("", game)
            ),
        ]
        salts = [
            b"",
            bytes(COMMITMENT_BYTES),
            value[:COMMITMENT_BYTES],
            *(derive_salt(luck, number, game) for luck in lucks),
        ]
        for salt in salts:
            if any(private_part_commitment(salt, part) in commitments for part in parts):
                yield name
            if any(secret_commitment(salt, part) in commitments for part in parts):
                yield name
