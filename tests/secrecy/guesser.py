"""An attacker who has what one viewer was sent, knows this code, and wants the next card.

Every 32 bytes that the viewer was sent are tried in place of every secret: the seed, the shuffle key, the salt
key, a seat secret, a salt. A test with the secrets themselves among the values shows that the attempts are right.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from functools import reduce
from hashlib import sha256
from typing import Final, NamedTuple

import msgpack

from schemas.events import DeckShuffled, Event, SeatTaken
from schemas.field_types import Seat
from schemas.stored.codec import pack_private_part
from schemas.stored.hash_chain import (
    COMMITMENT_BYTES,
    derive_salt,
    derive_salt_key,
    private_part_commitment,
    secret_commitment,
)
from schemas.trains.events import CardDrawn
from schemas.trains.field_types import CARDS
from services.referee.games import GameState, redact_for
from services.referee.games.fair_randomness import card_leaf, card_salt, derive_shuffle_key
from services.referee.games.proof.pile_tracker import PileTracker
from services.referee.games.shuffle import commit_to_seed, derive_seat_secret, in_canonical_order, shuffled
from tests.secrecy.matches import Match, Step

Values = Mapping[str, bytes]  # 32 bytes each, by what they are
HEX: Final = frozenset("0123456789abcdef")


class Observed(NamedTuple):
    """What a viewer was sent so far, and every value of 32 bytes in it."""

    match: Match
    viewer: Seat | None
    steps: Sequence[Step]
    values: Values


def observe(match: Match, steps: Sequence[Step], viewer: Seat | None) -> Observed:
    """What the viewer was sent of these steps, and what follows from it by hashing and by xor."""
    values: dict[str, bytes] = {
        "zeros": bytes(32),
        "the game's name": sha256(match.state.game.encode()).digest(),
    }
    for number, step in enumerate(steps, 1):
        for event in step.outcome.events:
            values.update(hashes_of(number, redact_for(viewer, event)))
        if step.outcome.verdict is not None:
            values[f"head {number}"] = step.outcome.verdict.head
            values.update(proofs_of(number, step.outcome.verdict.public))
    given = [value for name, value in values.items() if name.endswith("contribution")]
    values["all contributions"] = sha256(b"".join(given)).digest()
    values["all contributions, xor"] = reduce(xor, given, bytes(32))
    for name, value in [*values.items()]:
        values[f"hash of {name}"] = sha256(value).digest()
    return Observed(match, viewer, steps, values)


def xor(one: bytes, other: bytes) -> bytes:
    return bytes(a ^ b for a, b in zip(one, other, strict=True))


def hashes_of(number: int, event: Event | None) -> Iterator[tuple[str, bytes]]:
    """Every value of 32 bytes in a redacted event, by name; None has none."""
    for name in getattr(event, "__slots__", ()):
        value = getattr(event, name)
        if isinstance(value, str) and len(value) == 64 and HEX.issuperset(value):
            seat = event.seat if isinstance(event, SeatTaken) else ""
            yield f"{number} {type(event).__name__} {seat} {name}", bytes.fromhex(value)


def proofs_of(number: int, public: bytes) -> Iterator[tuple[str, bytes]]:
    """Pairs of neighbouring commitments, leaves and salts of a public entry, as 32 bytes each."""
    _, _, _, *proofs = msgpack.unpackb(public, strict_map_key=False)
    row = b"".join(proofs)[: 8 * COMMITMENT_BYTES]
    for at in range(0, len(row) - COMMITMENT_BYTES, 2 * COMMITMENT_BYTES):
        yield f"{number} proof {at}", row[at : at + 2 * COMMITMENT_BYTES].ljust(32, b"\0")


# -- the seed, or the key ------------------------------------------------------------------------


def matching_seeds(view: Observed) -> list[str]:
    """Names of the values whose hash is the published commitment to the seed."""
    return [
        name
        for name, value in view.values.items()
        if commit_to_seed(value.hex()) == view.match.state.commitment
    ]


def next_cards(view: Observed) -> Iterator[tuple[str, str]]:
    """The next card if a value is the shuffle key, or the seed that the key is derived from, as (how, card).

    Holds only for a deck that was shuffled once.
    """
    state = view.match.state
    row = in_canonical_order(state.rule_options.cards.items())
    position = len(row) - len(state.own.deck)
    for name, value in view.values.items():
        yield f"key: {name}", shuffled(row, value.hex(), 0)[position]
        yield f"seed: {name}", shuffled(row, key_with(state, value), 0)[position]


def key_with(state: GameState, seed: bytes) -> str:
    """The shuffle key that this seed would give the game."""
    other = state.copy()
    other.seed = seed.hex()
    return derive_shuffle_key(other)


# -- salts ---------------------------------------------------------------------------------------


def leaves_opened(view: Observed) -> list[str]:
    """Face-down cards and tickets whose leaf hashes are found, with a salt derived from a value or the value itself."""
    hidden, found, game = hidden_leaves(view), [], view.match.state.game
    events = [event for step in view.steps for event in step.outcome.events]
    names = {name for event in events if isinstance(event, DeckShuffled) for name in event.order if name}
    for name, value in view.values.items():
        salts = [b"", value, value[:COMMITMENT_BYTES], value[COMMITMENT_BYTES:]]
        salts += [
            card_salt(salt_key, 0, at)
            for salt_key in (value, derive_salt_key(value.hex(), game))
            for at in range(30)
        ]
        found += [f"{card}: {name}" for salt in salts for card in names if card_leaf(salt, card) in hidden]
    return found


def hidden_leaves(view: Observed) -> set[bytes]:
    """All leaf hashes except those of cards and tickets that the viewer was shown."""
    piles, leaves, visible = PileTracker(), dict[tuple[int, int], bytes](), set[tuple[int, int]]()
    for step in view.steps:
        row = leaves_of(step.outcome.verdict.public) if step.outcome.verdict else iter(())
        for moved in filter(None, map(piles.apply, step.outcome.events)):
            leaves.update((position, next(row)) for position in moved.added)
            if not moved.is_hidden and moved.salt_recipient in (None, view.viewer):
                visible.update(moved.added or moved.removed)
    return {leaf for position, leaf in leaves.items() if position not in visible}


def leaves_of(public: bytes) -> Iterator[bytes]:
    _, _, _, _, *more = msgpack.unpackb(public, strict_map_key=False)
    row = more[0] if more else b""
    return (row[at : at + COMMITMENT_BYTES] for at in range(0, len(row), COMMITMENT_BYTES))


def parts_opened(view: Observed) -> list[str]:
    """Cards that others drew, found by trying each card in the commitment to the owner's private part.

    Everything in that part except the card is assumed known: its position, the command's id, the number of the
    part before it.
    """
    found, before = [], dict[Seat, int]()
    for step in view.steps:
        verdict = step.outcome.verdict
        if verdict is None:
            continue
        number, owners = verdict.expected_length + 1, [seat for seat, _ in verdict.private_parts]
        for position, event in enumerate(step.outcome.events):
            if isinstance(event, CardDrawn) and event.seat != view.viewer:
                answers = step.envelope.id
                parts = [
                    pack_private_part(
                        before.get(event.seat, 0), answers, {position: (event.code, event.seat, card)}, salt
                    )
                    for card in CARDS
                    for salt in (b"", *salts_in_parts(verdict.private_parts, event.seat))
                ]
                found += [f"{number}: {name}" for name in opened_by(view, number, parts, verdict.public)]
        before.update(dict.fromkeys(owners, number))
    return found


def salts_in_parts(parts: Sequence[tuple[Seat, bytes]], seat: Seat) -> Iterator[bytes]:
    """The salts in the seat's private part, which are assumed known too."""
    for owner, part in parts:
        if owner == seat:
            yield from msgpack.unpackb(part, strict_map_key=False)[4:]


def opened_by(view: Observed, number: int, parts: Sequence[bytes], public: bytes) -> Iterator[str]:
    """Names of the values that open a commitment of the entry as one of these parts."""
    row = msgpack.unpackb(public, strict_map_key=False)[3]
    commitments = {row[at : at + COMMITMENT_BYTES] for at in range(0, len(row), COMMITMENT_BYTES)}
    game = view.match.state.game
    for name, value in view.values.items():
        seat_secrets = [
            value,
            *(
                bytes.fromhex(derive_seat_secret(value.hex(), seat, game_name))
                for seat in range(view.match.seats)
                for game_name in ("", game)
            ),
        ]
        salts = [
            b"",
            bytes(COMMITMENT_BYTES),
            value[:COMMITMENT_BYTES],
            *(derive_salt(seat_secret, number, game) for seat_secret in seat_secrets),
        ]
        for salt in salts:
            if any(private_part_commitment(salt, part) in commitments for part in parts):
                yield name
            if any(secret_commitment(salt, part) in commitments for part in parts):
                yield name
