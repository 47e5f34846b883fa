"""P1 where the engine loses its latest writes, on disk or by a fail-over: what was acknowledged as durable
or replicated is kept, every log is a prefix of what it was, and every game still ends."""

from __future__ import annotations

import pytest

from tests.long_runs import long_after
from tests.simulator.plan import LOSSY
from tests.simulator.simulate import simulate

ROW = 3
REGRESSIONS = (
    10_000_180,  # a play-off waited for the end of the incidents
    10_000_588,  # the world stopped before viewers could notice a loss
)


@pytest.mark.parametrize("first", long_after(1, range(LOSSY, LOSSY + 24, ROW)))
def test_P1_holds_at_its_level_in_games_of_three_seeds_from(first: int) -> None:
    for seed in range(first, first + ROW):
        outcome = simulate(seed)
        assert not outcome.complaints, outcome.summary()


@pytest.mark.parametrize("seed", REGRESSIONS)
def test_P10_holds_in_games_of_seeds_that_once_complained(seed: int) -> None:
    outcome = simulate(seed)
    assert not outcome.complaints, outcome.summary()
