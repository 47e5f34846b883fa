"""P1, P2, P7: whatever is broken, what was acknowledged is there once, and games go on; seen from outside only."""

from __future__ import annotations

from pathlib import Path
from typing import Final

import pytest

from tests.chaos.run import Row, open_system, play
from tests.chaos.scenarios import SCENARIOS, Scenario
from tests.chaos.systems import in_one_process
from tests.process_faults.seeds import SOAK, run_seed

SHORT: Final = "all connections to the engine are cut, 5 times"
SOME: Final = {
    "all referees are killed",
    "the engine is killed",
    "a primary is killed",
}  # of a long run; a soak has all
GAMES, FAULTS = (30, 20) if SOAK else (8, 2)
RECOVERY_S: Final = 30.0  # far more than any takes: a busy machine is slow


def require_good(row: Row) -> None:
    print(row._replace(recovery_s=sorted(row.recovery_s)))
    assert row.complaints == []
    assert (row.lost, row.doubled) == (dict.fromkeys(row.lost, 0), 0)
    assert row.commands > 0
    assert set(row.acknowledged) >= {"decided", "durable"}
    assert row.recovery_max_s < RECOVERY_S


@pytest.mark.timeout(300)
def test_P1_P2_P7_chaos_in_its_short_form(tmp_path: Path) -> None:
    [scenario] = [each for each in SCENARIOS if each.name == SHORT]
    require_good(play(scenario, in_one_process(tmp_path), "short", games=2, faults=1))


@pytest.mark.long
@pytest.mark.timeout(1_800)
@pytest.mark.parametrize(
    "scenario",
    [each for each in SCENARIOS if SOAK or each.name in SOME],
    ids=lambda scenario: scenario.name.replace(" ", "-"),
)
def test_P1_P2_P7_nothing_acknowledged_is_lost_or_doubled_by(scenario: Scenario, tmp_path: Path) -> None:
    require_good(play(scenario, open_system(scenario, tmp_path), run_seed(), GAMES, FAULTS))
