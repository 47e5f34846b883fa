"""The shuffle: the same order from the same seed, in every language and version.

Specified so that anybody can repeat it (docs/reference/shuffle.md has test vectors):

1. The items are put into a stated order.
2. Block k of the stream is SHA-256("ledgerline/shuffle/1" + seed + epoch + k), the seed as
   32 bytes, epoch and k as 8 bytes each, big-endian; the stream is blocks 0, 1, 2, ..
   read as 32-bit big-endian words.
3. Fisher-Yates (Knuth 3.4.2, algorithm P) from the last index i down to 1: take words until one is below the
   greatest multiple of i + 1 that fits in 32 bits; j is that word modulo i + 1; swap
   the items at i and j.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from hashlib import sha256
from struct import unpack
from typing import TypeVar

T = TypeVar("T")
MAX_SHUFFLED_CARDS = 1_000_000  # far above what any rules allow
_CARD_ORDER: dict[str, int] = {}  # of all games: docs/reference/shuffle.md has it


def state_order(cards: Sequence[str]) -> None:
    """Have these kinds of cards lie in this order before a shuffle. Raises TypeError where an order is stated already."""
    if _CARD_ORDER:
        raise TypeError("the order that shuffles start from is the same for all games, and stated once")
    _CARD_ORDER.update((card, place) for place, card in enumerate(cards))


def random_words(seed: str, epoch: int) -> Iterator[int]:
    """The endless stream of 32-bit words of a seed (64 hex digits) in an epoch."""
    prefix_hash = sha256(b"ledgerline/shuffle/1" + bytes.fromhex(seed) + epoch.to_bytes(8, "big"))
    block_index = 0
    while True:
        digest = prefix_hash.copy()
        digest.update(block_index.to_bytes(8, "big"))
        yield from unpack(">8I", digest.digest())
        block_index += 1


def shuffled(items: Iterable[T], seed: str, epoch: int) -> tuple[T, ...]:
    """The items in an order that follows from the seed (64 hex digits) and the epoch alone."""
    result = list(items)
    size = len(result)  # of what is still to be shuffled
    if size < 2:
        return tuple(result)
    surely_fair = (1 << 32) - size  # no limit is lower; nearly all words are
    for word in random_words(seed, epoch):
        if word >= surely_fair and word >= (1 << 32) - (1 << 32) % size:
            continue  # else some places would be likelier than others
        last, other = size - 1, word % size
        result[last], result[other] = result[other], result[last]
        size = last
        if size < 2:
            break
    return tuple(result)


def in_canonical_order(counts: Iterable[tuple[str | None, int]]) -> list[str]:
    """Cards by kind, in the stated order of kinds, others after these by their names: the order that a shuffle
    starts from.

    Raises ValueError for more than MAX_SHUFFLED_CARDS."""
    sorted_counts = sorted(
        ((card, n) for card, n in counts if card is not None),
        key=lambda c: (_CARD_ORDER.get(c[0], len(_CARD_ORDER)), c[0]),
    )
    if sum(n for _, n in sorted_counts) > MAX_SHUFFLED_CARDS:
        # only a forged log has as many
        raise ValueError(f"more than {MAX_SHUFFLED_CARDS} cards can't lie in a row")
    return [card for card, count in sorted_counts for _ in range(count)]


def seed_from_text(text: str) -> str:
    """The seed of a game that was created with this text as its seed."""
    return sha256(b"ledgerline/seed/1" + text.encode()).hexdigest()


def commit_to_seed(seed: str) -> str:
    """The commitment to a seed, published before the first card is dealt."""
    return sha256(b"ledgerline/commitment/1" + bytes.fromhex(seed)).hexdigest()


def derive_seat_secret(seed: str, seat: int, game: str = "", times_freed: int = 0) -> str:
    """The secret of one seat: where a bot's random source starts, and what salts its commitments.

    Without `game` it is a bot's, the same in every game of the seed; with it a person's. It reveals
    nothing of the seed, nor of another seat's secret. Whoever takes a seat that was freed has another one than
    those who sat there before: `times_freed` says how often it was."""
    again = b"\0" + times_freed.to_bytes(8, "big") if times_freed else b""  # no game's id has a zero byte
    holder = bytes([seat]) + game.encode() + again
    return sha256(b"ledgerline/luck/1" + bytes.fromhex(seed) + holder).hexdigest()
