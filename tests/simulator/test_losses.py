"""P1 where the engine loses its latest writes, on disk or by a fail-over: what was acknowledged as durable
or replicated is kept, every log is a prefix of what it was, and every game still ends."""

from __future__ import annotations

import pytest

from tests.long_runs import long_after
from tests.simulator.plan import LOSSY
from tests.simulator.simulate import simulate

ROW = 3
SIZES = [pytest.param(range(LOSSY + 3, LOSSY + 4), id="short")] + [
    pytest.param(range(first, first + ROW), id=str(first), marks=pytest.mark.long)
    for first in range(LOSSY, LOSSY + 12, ROW)
]
REGRESSIONS = (
    10_000_588,  # the world stopped before viewers could notice a loss
    10_000_180,  # a play-off waited for the end of the incidents
)


@pytest.mark.parametrize("seeds", SIZES)
def test_P1_holds_at_its_level_in_games_of_the_seeds_from(seeds: range) -> None:
    for seed in seeds:
        outcome = simulate(seed)
        assert not outcome.complaints, outcome.summary()


@pytest.mark.parametrize("seed", long_after(1, REGRESSIONS))
def test_P10_holds_in_games_of_seeds_that_once_complained(seed: int) -> None:
    outcome = simulate(seed)
    assert not outcome.complaints, outcome.summary()
