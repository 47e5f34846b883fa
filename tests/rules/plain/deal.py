"""The shuffles of a finished game, from the seed that its end reveals (docs/reference/shuffle.md, docs/reference/proof.md)."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from hashlib import sha256
from itertools import count
from typing import Any

import msgpack

CARDS = (
    *("purple", "white", "blue", "yellow", "orange", "red", "green", "black"),
    *("locomotive", "locomotive4", "passenger"),
)


def make_key(
    created: Mapping[str, Any], seed: bytes, given: bool, contributions: Sequence[bytes], game: str
) -> bytes:
    """The key of a game's shuffles (The deal, 3)."""
    names = ("ruleset", "rules", "board", "board_digest", "parameters")
    rules = msgpack.packb([*(created[name] for name in names), len(contributions)])
    rules_hash = sha256(b"ledgerline/rules/1" + rules).digest()
    who = b"" if given else game.encode()
    return sha256(b"ledgerline/key/1" + seed + rules_hash + b"".join(contributions) + who).digest()


def commitment(seed: bytes) -> str:
    return sha256(b"ledgerline/commitment/1" + seed).hexdigest()


def in_card_order(cards: Mapping[str, int]) -> list[str]:
    """The cards one by one, all of a kind together (The steps, 1)."""
    return [card for card in CARDS for _ in range(cards.get(card, 0))]


def counted(cards: Iterable[str | None]) -> Counter[str]:
    return Counter(card for card in cards if card)


def shuffled(items: Sequence[str], key: bytes, epoch: int) -> list[str]:
    """The items in the order of the epoch's shuffle, the top first (The steps, 2 and 3)."""
    order, words = [*items], _words(key, epoch)
    for i in range(len(order) - 1, 0, -1):
        n = i + 1
        limit = 2**32 - 2**32 % n
        word = next(words)
        while word >= limit:
            word = next(words)
        order[i], order[word % n] = order[word % n], order[i]
    return order


def _words(key: bytes, epoch: int) -> Iterator[int]:
    start = b"ledgerline/shuffle/1" + key + epoch.to_bytes(8, "big")
    for k in count():
        block = sha256(start + k.to_bytes(8, "big")).digest()
        for at in range(0, 32, 4):
            yield int.from_bytes(block[at : at + 4], "big")
