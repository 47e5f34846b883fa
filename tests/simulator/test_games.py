"""P1 to P3, P5, P7 to P10 in whole games under every fault at once: see complaints.py for what is
checked, and `python -m tests.simulator SEED` to repeat one seed."""

from __future__ import annotations

import pytest

from tests.simulator.simulate import simulate

ROW = 5  # seeds of one case
SEEDS = 30  # a soak takes 10,000 others
SHORT = range(4, 9)
SIZES = [pytest.param(SHORT, id="short")] + [
    pytest.param(range(first, first + ROW), id=str(first), marks=pytest.mark.long)
    for first in range(0, SEEDS, ROW)
]


@pytest.mark.parametrize("seeds", SIZES)
def test_P1_to_P10_hold_in_games_of_the_seeds_from(seeds: range) -> None:
    for seed in seeds:
        outcome = simulate(seed)
        assert not outcome.complaints, outcome.summary()
