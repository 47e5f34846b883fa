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
MAX_SHUFFLED_CARDS = 1_000_000  # cards: no rules allow so many
_CARD_ORDER = {card: place for place, card in enumerate(CARDS)}


def random_words(seed: str, epoch: int) -> Iterator[int]:
    """The stream of 32-bit words that a seed (64 hex digits) gives in an epoch."""
    prefix_hash = sha256(b"ledgerline/shuffle/1" + bytes.fromhex(seed) + epoch.to_bytes(8, "big"))
    block_index = 0
    while True:
        digest = prefix_hash.copy()
        digest.update(block_index.to_bytes(8, "big"))
        yield from unpack(">8I", digest.digest())
        block_index += 1


def shuffled(items: Iterable[T], seed: str, epoch: int) -> tuple[T, ...]:
    """The items in an order that follows from nothing but the seed and the epoch."""
    result = list(items)
    word_stream = random_words(seed, epoch)
    for last in range(len(result) - 1, 0, -1):
        size = last + 1
        fair_limit = (1 << 32) - (1 << 32) % size
        word = next(word_stream)
        while word >= fair_limit:
            word = next(word_stream)
        other = word % size
        result[last], result[other] = result[other], result[last]
    return tuple(result)


def in_canonical_order(counts: Iterable[tuple[str | None, int]]) -> list[str]:
    """Cards by kind, in the stated order of kinds: the row that a shuffle starts from."""
    sorted_counts = sorted(
        ((card, n) for card, n in counts if card is not None), key=lambda c: _CARD_ORDER[c[0]]
    )
    if sum(n for _, n in sorted_counts) > MAX_SHUFFLED_CARDS:
        raise ValueError(
            f"more than {MAX_SHUFFLED_CARDS} cards can't lie in a row"
        )  # a forged log may say so
    return [card for card, count in sorted_counts for _ in range(count)]


def seed_from_text(text: str) -> str:
    """The seed that a given text stands for."""
    return sha256(b"ledgerline/seed/1" + text.encode()).hexdigest()


def commit_to_seed(seed: str) -> str:
    """What is published of a seed before the first card is dealt."""
    return sha256(b"ledgerline/commitment/1" + bytes.fromhex(seed)).hexdigest()


def derive_seat_secret(seed: str, seat: int, game: str = "") -> str:
    """The start of a bot's own dice, the same in every game of its seed; with the game's id, a person's.
    It tells nothing of the seed, nor of another seat's."""
    return sha256(b"ledgerline/luck/1" + bytes.fromhex(seed) + bytes([seat]) + game.encode()).hexdigest()
