"""P1 to P3, P5, P7 to P10 in whole games under every fault at once: see complaints.py for what is
checked, and `python -m tests.simulator SEED` to repeat one seed."""

from __future__ import annotations

from dataclasses import replace
from random import Random

import pytest

from tests.simulator.plan import OTHERS, draw, game_of
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


@pytest.mark.parametrize("seed", [3, pytest.param(range(40), id="many", marks=pytest.mark.long)])
@pytest.mark.parametrize("rules", OTHERS)
def test_P1_to_P10_hold_in_games_without_a_board(rules: str, seed: int | range) -> None:
    """Every game of the world is one of these, and people play in it."""
    for number in [seed] if isinstance(seed, int) else seed:
        drawn = draw(number)
        games = tuple(game_of(rules, Random(f"{number} {index}")) for index in range(len(drawn.games)))
        outcome = simulate(number, plan=replace(drawn, games=games))
        assert not outcome.complaints, outcome.summary()
