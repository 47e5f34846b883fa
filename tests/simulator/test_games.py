"""P1 to P3, P5, P7 to P10 in whole games under every fault at once: see complaints.py for what is
checked, and `python -m tests.simulator SEED` to repeat one seed."""

from __future__ import annotations

import pytest

from tests.long_runs import long_after
from tests.simulator.simulate import simulate

ROW = 5  # seeds of one case
SEEDS = 220
SHORT_ROWS = 4


@pytest.mark.parametrize("first", long_after(SHORT_ROWS, range(0, SEEDS, ROW)))
def test_P1_to_P10_hold_in_games_of_five_seeds_from(first: int) -> None:
    for seed in range(first, first + ROW):
        outcome = simulate(seed)
        assert not outcome.complaints, outcome.summary()
