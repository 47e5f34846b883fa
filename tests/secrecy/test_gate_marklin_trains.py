"""Non-interference (P5): what a viewer gets never depends on what it may not know. The other half."""

from __future__ import annotations

import pytest

from tests.secrecy.gate import POSITIONS, watched


@pytest.mark.parametrize("rules", ["marklin", "trains"])
@pytest.mark.parametrize("chance", range(0, 8000, 1000))
def test_no_viewer_can_tell_what_it_may_not_know(rules: str, chance: int) -> None:
    gate = watched(rules, POSITIONS // 32, chance)
    assert gate.tried > 4 * gate.positions
    assert gate.twins > gate.positions / 5
