"""A table as a game of OpenSpiel: OpenSpiel's own test, and what its players see and get."""

from __future__ import annotations

import pickle
import sys
from copy import deepcopy
from random import Random
from typing import Any

import numpy as np
import pyspiel
import pytest

import ledgerline
from services.referee.games.trains.rulesets import TRAIN_RULESETS

EVERY_RULESET = pytest.mark.parametrize("rules", TRAIN_RULESETS)


@EVERY_RULESET
def test_openspiels_random_sim_test_passes(rules: str, capfd: pytest.CaptureFixture[str]) -> None:
    game = ledgerline.openspiel_game(rules, seats=3, options={"cars": 6}, deals=50)
    pyspiel.random_sim_test(game, num_sims=2, serialize=False, verbose=False)
    assert game.num_players() == 3


@EVERY_RULESET
def test_P5_a_player_sees_what_the_agent_of_its_seat_sees_and_a_clone_goes_on_alone(rules: str) -> None:
    env = ledgerline.env(rules, seats=2, options={"cars": 6})
    state = ledgerline.openspiel_game(rules, seats=2, options={"cars": 6}).new_initial_state()
    env.reset(seed=11)
    state.apply_action(11)
    rng, before = Random(rules), state.clone()
    for agent in env.agent_iter():
        if state.is_terminal():
            break
        observation = env.observe(agent)
        assert state.current_player() == env.possible_agents.index(agent)
        assert (np.array(state.observation_tensor()) == observation["observation"]).all()
        assert state.legal_actions() == observation["action_mask"].nonzero()[0].tolist()
        action = rng.choice(state.legal_actions())
        env.step(action)
        state.apply_action(action)
    assert state.returns() == [env.rewards[agent] for agent in env.possible_agents]
    assert not before.is_terminal() and before.history() == [11]


@pytest.mark.parametrize("copied", [deepcopy, lambda held: pickle.loads(pickle.dumps(held))])
@EVERY_RULESET
def test_a_copied_state_goes_on_alone_and_as_the_first_does(rules: str, copied: Any) -> None:
    game = ledgerline.openspiel_game(rules, seats=2, options={"cars": 6, "hand": 5})
    assert str(copied(game)) == str(game)
    state, rng = game.new_initial_state(), Random(rules)
    state.apply_action(3)
    other = None
    while not state.is_terminal():
        if len(state.history()) == 6:
            other = copied(state)
        action = rng.choice(state.legal_actions())
        state.apply_action(action)
        if other is not None:
            other.apply_action(action)
            for seat in (0, 1):
                assert other.observation_string(seat) == state.observation_string(seat)
    assert other is not None
    assert (other.history(), other.returns()) == (state.history(), state.returns())


def test_it_is_loaded_by_its_name() -> None:
    game = ledgerline.openspiel_game()
    loaded = pyspiel.load_game("ledgerline", {"ruleset": "trains", "seats": 2, "deals": 5})
    assert (loaded.num_players(), len(loaded.new_initial_state().chance_outcomes())) == (2, 5)
    assert game.num_distinct_actions() == ledgerline.env("usa").actions.size


def test_without_openspiel_the_error_names_the_extra(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delitem(sys.modules, "services.research.openspiel_game", raising=False)
    monkeypatch.setitem(sys.modules, "pyspiel", None)
    with pytest.raises(ImportError, match=r"ledgerline\[openspiel\]"):
        ledgerline.openspiel_game()
