"""Non-interference (P5): what a viewer receives never depends on what it may not know."""

from __future__ import annotations

import pytest

from services.referee.games import RULESETS
from tests.secrecy.gate import POSITIONS, run_gate

SHARES = range(0, 10_000, 2000)  # the first seed of each share
SHARE = POSITIONS // (len(RULESETS) * len(SHARES))  # positions of a ruleset
SHORT_SHARE = 100

SIZES = [pytest.param(0, SHORT_SHARE, id="short")] + [
    pytest.param(first, SHARE, id=str(first), marks=pytest.mark.long) for first in SHARES
]


@pytest.mark.parametrize(("chance", "positions"), SIZES)
@pytest.mark.parametrize("rules", RULESETS)
def test_P5_what_a_viewer_receives_does_not_depend_on_what_it_may_not_know(
    rules: str, chance: int, positions: int
) -> None:
    gate = run_gate(rules, positions, chance)
    assert gate.tried > 4 * gate.positions
    assert gate.twins > gate.positions / 6
