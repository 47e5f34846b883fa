"""Non-interference (P5): what a viewer receives never depends on what it may not know."""

from __future__ import annotations

import pytest

from tests.long_runs import long_after
from tests.secrecy.gate import POSITIONS, run_gate

SHARES = range(0, 10_000, 1000)  # the first seed of each share; games of the short run come from the first


@pytest.mark.parametrize("chance", long_after(1, SHARES))
@pytest.mark.parametrize("rules", ["usa", "europe", "marklin", "trains"])
def test_P5_what_a_viewer_receives_does_not_depend_on_what_it_may_not_know(rules: str, chance: int) -> None:
    gate = run_gate(rules, POSITIONS // (4 * len(SHARES)), chance)
    assert gate.tried > 4 * gate.positions
    assert gate.twins > gate.positions / 5
