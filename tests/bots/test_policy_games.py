"""No policy ever sends an illegal command, and the same seat's view and stream give the same command."""

from __future__ import annotations

import subprocess
import sys
from typing import Final

import pytest

from schemas.commands import POLICIES as NAMED_POLICIES
from schemas.commands import Pass
from services.bots.policies import POLICIES
from services.bots.searching import any_game
from services.bots.searching.candidate_halving import OWN_SEARCHES
from services.bots.seat_random import SeatRandom
from services.referee.games.trains.rulesets import TRAIN_RULESETS
from services.referee.games.trains.train_state import TrainState
from tests.bots.policy_games import play_checked
from tests.cli.command_line import ROOT, environment
from tests.process_faults.seeds import SOAK
from tests.rules.given import given

SOAKED: Final = 2_000


@pytest.mark.timeout(36_000 if SOAK else 300)
@pytest.mark.parametrize(
    ("games", "rollouts"),
    [
        pytest.param(2, 16, id="short"),
        pytest.param(SOAKED if SOAK else 2, any_game.ROLLOUTS, id="long", marks=pytest.mark.long),
    ],
)
@pytest.mark.parametrize("rules", sorted(TRAIN_RULESETS))
def test_no_policy_sends_an_illegal_command_on_strict_tables_of_any_board(
    rules: str, games: int, rollouts: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setitem(OWN_SEARCHES, TrainState, OWN_SEARCHES[TrainState]._replace(rollouts=rollouts))
    decided = set[str]()
    for number in range(games):
        decided |= {*play_checked(rules, number).seconds}
    assert decided == TRAIN_RULESETS[rules].bot_policies


def test_every_policy_plays_a_ruleset() -> None:
    """So these games and the non-interference gate, which choose among a ruleset's policies, leave none out."""
    assert (
        set().union(*(ruleset.bot_policies for ruleset in TRAIN_RULESETS.values()))
        == {*POLICIES}
        == {*NAMED_POLICIES}
    )


@pytest.mark.parametrize("policy", sorted(TRAIN_RULESETS["europe"].bot_policies - {"random"}))
def test_TURN_4_no_policy_builds_a_station_for_nothing_where_it_may_pass(policy: str) -> None:
    scene = given(
        rules="europe",
        hands=[{"red": 1}, {}],
        deck=[],
        market=[None] * 5,
        ticket_deck=[],
        cars=[0, 0],
        tickets=[[], []],
    )
    assert POLICIES[policy](scene.state, 0, scene.legal(0), SeatRandom("00" * 32, 0)) == Pass()


@pytest.mark.long
def test_a_policy_chooses_the_same_in_every_process() -> None:
    """Also where strings have other hashes, and so sets another order."""
    digests = {
        subprocess.run(
            [sys.executable, "-m", "tests.bots.policy_games", "1", "16"],
            env=environment(PYTHONHASHSEED=hash_seed), cwd=ROOT, capture_output=True, check=True,
        ).stdout
        for hash_seed in ("1", "2")
    }  # fmt: skip
    assert len(digests) == 1
