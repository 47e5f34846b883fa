"""P1 to P3, P5, P7 to P10 in whole games under every fault at once: see complaints.py for what is
looked at, and `python -m tests.simulator SEED` for one seed again. test_more_games.py has the other half."""

from __future__ import annotations

import pytest

from tests.simulator.simulate import simulate

ROW = 5
FIRST, LAST = 0, 110


@pytest.mark.parametrize("first", range(FIRST, LAST, ROW))
def test_P1_to_P10_hold_in_games_of_five_seeds_from(first: int) -> None:
    for seed in range(first, first + ROW):
        outcome = simulate(seed)
        assert not outcome.complaints, outcome.told()
