"""The other half of test_games.py, for the other core."""

from __future__ import annotations

import pytest

from tests.simulator.simulate import simulate
from tests.simulator.test_games import LAST, ROW


@pytest.mark.parametrize("first", range(LAST, 2 * LAST, ROW))
def test_P1_to_P10_hold_in_games_of_five_seeds_from(first: int) -> None:
    for seed in range(first, first + ROW):
        outcome = simulate(seed)
        assert not outcome.complaints, outcome.told()
