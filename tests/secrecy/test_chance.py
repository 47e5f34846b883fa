"""No card is likelier anywhere: chi-square over 200,000 shuffles, for every place and every pair of places,
and over fewer in the short run.

The seeds are fixed, so a run is the same everywhere. The level is that of all its tests together: a fair
shuffle fails one in a thousand choices of seeds, and one that were too even fails too.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Sequence
from hashlib import sha256
from itertools import combinations
from statistics import NormalDist
from typing import Any, Final

import pytest

from services.referee.rules.shuffle import random_words, shuffled
from tests.long_runs import long_after

SHUFFLES: Final = (40_000, 200_000)
LEVEL: Final = 0.001
CARDS: Final = 16  # all different; a whole deck is shuffled in a test of its own
Shuffler = Callable[[Iterable[int], str, int], Sequence[int]]


def rows(count: int, cards: int, shuffler: Shuffler = shuffled) -> list[bytes]:
    """The card at every place, place by place: half by another seed each, half by another epoch each."""
    row, one = range(cards), sha256(b"one seed").hexdigest()
    half = count // 2
    dealt = [bytes(shuffler(row, sha256(b"seed %d" % n).hexdigest(), 0)) for n in range(half)]
    dealt += [bytes(shuffler(row, one, n)) for n in range(half)]
    whole = b"".join(dealt)
    return [whole[place::cards] for place in range(cards)]


def chi_square(seen: Counter[Any], cells: int) -> float:
    expected = seen.total() / cells
    missing = cells - len(seen)
    return sum((n - expected) ** 2 for n in seen.values()) / expected + missing * expected


def bounds(free: int, tests: int) -> tuple[float, float]:
    """Between these lies chi-square of so many degrees of freedom, in all of so many tests, at LEVEL: by
    Wilson and Hilferty, which from 15 degrees on is right to a hundredth."""
    z = -NormalDist().inv_cdf(LEVEL / tests / 2)
    low, high = (free * (1 - 2 / (9 * free) + s * (2 / (9 * free)) ** 0.5) ** 3 for s in (-z, z))
    return low, high


def worst(values: Sequence[float], free: int) -> str:
    """What lies out of bounds, if anything does."""
    low, high = bounds(free, len(values))
    bad = [f"{value:.1f}" for value in values if not low <= value <= high]
    return f"{len(bad)} of {len(values)} not in {low:.1f} .. {high:.1f}: {bad[:5]}" if bad else ""


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


def test_a_whole_deck_too() -> None:
    assert not worst(by_place(rows(10_000, 110)), 109)


def naive(items: Iterable[int], seed: str, epoch: int) -> Sequence[int]:
    """The wrong one that everybody writes first: any place is swapped with any."""
    row, stream = list(items), random_words(seed, epoch)
    for at in range(len(row)):
        other = next(stream) % len(row)
        row[at], row[other] = row[other], row[at]
    return row


def cyclic(items: Iterable[int], seed: str, epoch: int) -> Sequence[int]:
    """A cut is fair by place; only pairs give it away."""
    row, stream = list(items), random_words(seed, epoch)
    start = next(stream) % len(row)
    return row[start:] + row[:start]


def test_wrong_shuffles_are_told() -> None:
    few = 20_000
    assert worst(by_place(rows(few, CARDS, naive)), CARDS - 1)
    turned = rows(few, CARDS, cyclic)
    assert not worst(by_place(turned), CARDS - 1)
    assert worst(by_pair(turned), CARDS * (CARDS - 1) - 1)
