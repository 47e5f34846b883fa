"""P1 where the engine loses its latest writes, on disk or by a fail-over: what was acknowledged as durable
or replicated is there, what is left is a beginning of what was, and every game ends all the same."""

from __future__ import annotations

import pytest

from tests.long_runs import long_after
from tests.simulator.plan import LOSSY
from tests.simulator.simulate import simulate

ROW = 3
ONCE = (
    10_000_180,
    10_000_588,
)  # waited for the end of incidents to play off; stopped before viewers could know


@pytest.mark.parametrize("first", long_after(1, range(LOSSY, LOSSY + 24, ROW)))
def test_P1_holds_at_its_level_in_games_of_three_seeds_from(first: int) -> None:
    for seed in range(first, first + ROW):
        outcome = simulate(seed)
        assert not outcome.complaints, outcome.told()


@pytest.mark.parametrize("seed", ONCE)
def test_P10_holds_in_games_of_what_once_complained(seed: int) -> None:
    outcome = simulate(seed)
    assert not outcome.complaints, outcome.told()
