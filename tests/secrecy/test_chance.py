"""Every card is equally likely at every place: chi-square over 200,000 shuffles, for every place and every pair of
places, and over fewer in the short run.

The seeds are fixed, so a run is the same everywhere. The level is that of all the tests together: a fair
shuffle fails for one in a thousand choices of seeds, and a shuffle that is too even fails too.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Sequence
from hashlib import sha256
from itertools import combinations
from statistics import NormalDist
from typing import Any, Final

import pytest

from services.referee.games.shuffle import random_words, shuffled
from tests.long_runs import long_after
from tests.process_faults.seeds import SOAK

SHUFFLES: Final = (40_000, 200_000) if SOAK else (30_000, 100_000)
LEVEL: Final = 0.001
CARDS: Final = 16  # all different; a whole deck is shuffled in a test of its own
Shuffler = Callable[[Iterable[int], str, int], Sequence[int]]


def rows(count: int, cards: int, shuffler: Shuffler = shuffled) -> list[bytes]:
    """The card at every place, place by place: half of the shuffles differ in the seed, half in the epoch."""
    row, one_seed = range(cards), sha256(b"one seed").hexdigest()
    half = count // 2
    dealt = [bytes(shuffler(row, sha256(b"seed %d" % n).hexdigest(), 0)) for n in range(half)]
    dealt += [bytes(shuffler(row, one_seed, n)) for n in range(half)]
    whole = b"".join(dealt)
    return [whole[place::cards] for place in range(cards)]


def chi_square(seen: Counter[Any], cells: int) -> float:
    expected = seen.total() / cells
    missing = cells - len(seen)
    return sum((n - expected) ** 2 for n in seen.values()) / expected + missing * expected


def bounds(free: int, tests: int) -> tuple[float, float]:
    """The bounds of chi-square with so many degrees of freedom, for so many tests together, at LEVEL.

    By the approximation of Wilson and Hilferty, which from 15 degrees on is right to a hundredth.
    """
    z = -NormalDist().inv_cdf(LEVEL / tests / 2)
    low, high = (free * (1 - 2 / (9 * free) + s * (2 / (9 * free)) ** 0.5) ** 3 for s in (-z, z))
    return low, high


def worst(values: Sequence[float], free: int) -> str:
    """Which values lie out of bounds, as a message; empty if none does."""
    low, high = bounds(free, len(values))
    outside = [f"{value:.1f}" for value in values if not low <= value <= high]
    return f"{len(outside)} of {len(values)} not in {low:.1f} .. {high:.1f}: {outside[:5]}" if outside else ""


def by_place(places: Sequence[bytes]) -> list[float]:
    return [chi_square(Counter(place), len(places)) for place in places]


def by_pair(places: Sequence[bytes]) -> list[float]:
    cells = len(places) * (len(places) - 1)
    return [chi_square(Counter(zip(a, b, strict=True)), cells) for a, b in combinations(places, 2)]


@pytest.mark.parametrize("shuffles", long_after(1, SHUFFLES))
def test_P6_every_card_is_as_likely_at_every_place_and_every_pair_at_every_two(shuffles: int) -> None:
    places = rows(shuffles, CARDS)
    assert not worst(by_place(places), CARDS - 1)
    assert not worst(by_pair(places), CARDS * (CARDS - 1) - 1)


def test_P6_every_card_of_a_whole_deck_is_as_likely_at_every_place() -> None:
    assert not worst(by_place(rows(10_000, 110)), 109)


def naive(items: Iterable[int], seed: str, epoch: int) -> Sequence[int]:
    """The common wrong shuffle: any place is swapped with any other."""
    row, stream = list(items), random_words(seed, epoch)
    for index in range(len(row)):
        other = next(stream) % len(row)
        row[index], row[other] = row[other], row[index]
    return row


def cyclic(items: Iterable[int], seed: str, epoch: int) -> Sequence[int]:
    """A cut of the deck is fair by place; only pairs show that it is no shuffle."""
    row, stream = list(items), random_words(seed, epoch)
    start = next(stream) % len(row)
    return row[start:] + row[:start]


def test_wrong_shuffles_are_detected() -> None:
    count = 20_000
    assert worst(by_place(rows(count, CARDS, naive)), CARDS - 1)
    cut = rows(count, CARDS, cyclic)
    assert not worst(by_place(cut), CARDS - 1)
    assert worst(by_pair(cut), CARDS * (CARDS - 1) - 1)
