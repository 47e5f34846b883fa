"""The shuffle: the same order from the same seed, in every language, for ever.

Written out so that anybody can repeat it (docs/shuffle.md has vectors):

1. The items are put in a row in a stated order.
2. Block k of the stream is SHA-256("ledgerline/shuffle/1" + seed + epoch + k), the seed as
   32 bytes, epoch and k as 8 bytes each, big-endian; the stream is blocks 0, 1, 2, ..
   read as 32-bit big-endian words.
3. Fisher-Yates from the last place i down to 1: take words until one is below the
   greatest multiple of i + 1 that fits in 32 bits; j is that word modulo i + 1; swap
   the items at i and j.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from hashlib import sha256
from struct import unpack
from typing import TypeVar

from schemas.field_types import CARDS

T = TypeVar("T")
ROW_MOST = 1_000_000  # cards: no rules allow so many
_PLACE = {card: place for place, card in enumerate(CARDS)}


def words(seed: str, epoch: int) -> Iterator[int]:
    """The stream of 32-bit words that a seed (64 hex digits) gives in an epoch."""
    start = sha256(b"ledgerline/shuffle/1" + bytes.fromhex(seed) + epoch.to_bytes(8, "big"))
    block = 0
    while True:
        digest = start.copy()
        digest.update(block.to_bytes(8, "big"))
        yield from unpack(">8I", digest.digest())
        block += 1


def shuffled(items: Iterable[T], seed: str, epoch: int) -> tuple[T, ...]:
    """The items in an order that follows from nothing but the seed and the epoch."""
    row = list(items)
    stream = words(seed, epoch)
    for last in range(len(row) - 1, 0, -1):
        size = last + 1
        fair = (1 << 32) - (1 << 32) % size
        word = next(stream)
        while word >= fair:
            word = next(stream)
        other = word % size
        row[last], row[other] = row[other], row[last]
    return tuple(row)


def in_order(counts: Iterable[tuple[str | None, int]]) -> list[str]:
    """Cards by kind, in the stated order of kinds: the row that a shuffle starts from."""
    held = sorted(((card, n) for card, n in counts if card is not None), key=lambda c: _PLACE[c[0]])
    if sum(n for _, n in held) > ROW_MOST:
        raise ValueError(f"more than {ROW_MOST} cards can't lie in a row")  # a forged log may say so
    return [card for card, count in held for _ in range(count)]


def seed_of(text: str) -> str:
    """The seed that a given text stands for."""
    return sha256(b"ledgerline/seed/1" + text.encode()).hexdigest()


def commitment_of(seed: str) -> str:
    """What is published of a seed before the first card is dealt."""
    return sha256(b"ledgerline/commitment/1" + bytes.fromhex(seed)).hexdigest()


def luck_of(seed: str, seat: int, game: str = "") -> str:
    """The start of a bot's own dice, the same in every game of its seed; with the game's id, a person's.
    It tells nothing of the seed, nor of another seat's."""
    return sha256(b"ledgerline/luck/1" + bytes.fromhex(seed) + bytes([seat]) + game.encode()).hexdigest()
