"""P1, P2, P7: whatever is broken, what was acknowledged is there once, and games go on; seen from outside only."""

from __future__ import annotations

import time
from contextlib import nullcontext
from pathlib import Path
from random import Random
from types import SimpleNamespace
from typing import Final, cast

import httpx
import pytest

from schemas.events import GameEnded
from tests.chaos.findings import Findings, examine_commands
from tests.chaos.recording import Record
from tests.chaos.run import Row, open_system, play, recovery_s
from tests.chaos.scenarios import SCENARIOS, Scenario
from tests.chaos.systems import in_one_process
from tests.deploy.compose import wait_until
from tests.process_faults import players
from tests.process_faults.players import HttpPlayer, PlayerPool
from tests.process_faults.seeds import SOAK, run_seed

SHORT: Final = "all connections to the engine are cut, 5 times"
SOME: Final = {
    "a primary is killed"
}  # of a long run, where test_kills kills services and the engine; a soak has all
GAMES, FAULTS = (30, 20) if SOAK else (8, 2)
RECOVERY_S: Final = 120.0  # far more than any takes: docs/explanation/faults.md has 47 s of a busy machine


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


class Stalled(PlayerPool):
    """Its one game waits for a bot until that is back."""

    bots_are_back, turns = False, 0

    def _sit_down(self, http: httpx.Client, random: Random) -> HttpPlayer:
        return cast("HttpPlayer", SimpleNamespace(game="one", state=SimpleNamespace(result=None)))

    def _turn(self, player: HttpPlayer) -> bool:
        self.turns += 1
        if self.bots_are_back:
            player.state.result = GameEnded("last turns", ())
        return False


@pytest.mark.parametrize("is_fault", [True, False])
def test_P7_a_game_stands_still_where_no_fault_holds_it(
    monkeypatch: pytest.MonkeyPatch, is_fault: bool
) -> None:
    """A move by backup and restore took 51 s at a load of 17, and may take longer than the players' patience."""
    monkeypatch.setattr(players, "PATIENCE_S", 0.5)
    pool = Stalled("http://127.0.0.1:9", 1, "seed", ("decided",))
    with (
        nullcontext() if is_fault else pytest.raises(AssertionError, match="stand still"),
        pool.playing(),
    ):
        pool._last.set()
        with pool.clock.stopped() if is_fault else nullcontext():
            time.sleep(1)
            turns = pool.turns
            wait_until(lambda: pool._broken if not is_fault else pool.turns > turns + 1)
        pool.bots_are_back = True


@pytest.mark.long
@pytest.mark.timeout(1_800)
@pytest.mark.parametrize(
    "scenario",
    [each for each in SCENARIOS if SOAK or each.name in SOME],
    ids=lambda scenario: scenario.name.replace(" ", "-"),
)
def test_P1_P2_P7_nothing_acknowledged_is_lost_or_doubled_by(scenario: Scenario, tmp_path: Path) -> None:
    require_good(play(scenario, open_system(scenario, tmp_path), run_seed(), GAMES, FAULTS))


def record_of(*answers: tuple[str, int]) -> Record:
    """The record of one command that got these answers: a level, and the number of an entry."""
    record = Record()
    command = record.sent("game", "c1", "Bearer token")
    for level, number in answers:
        record.answered(command, level, {"level": level, "number": number, "verdict": "accepted"})
    return record


@pytest.mark.parametrize(
    ("answers", "view", "lost", "doubled"),
    [
        ([("durable", 2)], ["other", "c1"], {}, 0),
        ([("durable", 2)], ["other"], {"durable": 1}, 0),
        ([("decided", 1)], ["other", "c1"], {"decided": 1}, 0),
        ([("accepted", 0)], ["c1"], {}, 0),
        ([("accepted", 0)], ["other"], {"accepted": 1}, 0),
        ([("accepted", 0), ("durable", 1)], [], {"accepted": 1, "durable": 1}, 0),
        ([("decided", 1)], ["c1", "c1"], {}, 1),
    ],
)
def test_P1_P2_chaos_itself_notices_what_is_lost_or_doubled(
    answers: list[tuple[str, int]], view: list[str], lost: dict[str, int], doubled: int
) -> None:
    findings = Findings()
    entries = [{"number": number, "answers": id_} for number, id_ in enumerate(view, 1)]
    examine_commands(record_of(*answers), "game", entries, findings)
    assert ({level: count for level, count in findings.lost.items() if count}, findings.doubled) == (
        lost,
        doubled,
    )


def test_P7_chaos_counts_from_a_fault_to_each_games_next_verdict() -> None:
    verdicts_s = [1.0, 2.0, 7.5, 8.0]
    assert recovery_s(verdicts_s, began_s=3.0, start_s=3.0) == 4.5
    assert recovery_s(verdicts_s, began_s=3.0, start_s=7.0) == 0.5
    assert recovery_s(verdicts_s, began_s=20.0, start_s=20.0) is None  # it isn't played any more
