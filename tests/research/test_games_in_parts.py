"""A game without a board as an environment: PettingZoo's and OpenSpiel's own tests, and the numbers of its parts."""

from __future__ import annotations

import pickle
import warnings
from copy import deepcopy
from dataclasses import replace
from random import Random
from typing import Any

import numpy as np
import pyspiel
import pytest
from pettingzoo.test import api_test, seed_test

import ledgerline
from schemas.errors import InvalidInputError
from services.referee.games import RULESETS, legal
from services.referee.games.found_games import RULESET_VERSIONS
from services.referee.games.tricks import DECK
from services.research.parts_form import ROW_SIZE, CandidateActions, PartsObservation
from services.research.pettingzoo_env import TableEnv

pytestmark = pytest.mark.filterwarnings("ignore:Observation")


def tricks(seats: int = 3, **arguments: Any) -> TableEnv:
    env = ledgerline.env("tricks", seats=seats, **arguments)
    env.reset(seed=7)
    return env


def act(env: TableEnv, rng: Random, times: int) -> None:
    """So many actions by chance, or as many as there are."""
    for _, agent in zip(range(times), env.agent_iter(), strict=False):
        mask = env.observe(agent)["action_mask"]
        env.step(int(rng.choice(mask.nonzero()[0])) if mask.any() else None)


@pytest.mark.parametrize("seats", [3, 5])
def test_pettingzoos_tests_pass_to_the_end_of_a_game(seats: int) -> None:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        api_test(ledgerline.env("tricks", seats=seats, reward="points"), num_cycles=150)
        seed_test(lambda: ledgerline.env("tricks", seats=seats), num_cycles=25)


def test_openspiels_random_sim_test_passes(capfd: pytest.CaptureFixture[str]) -> None:
    game = ledgerline.openspiel_game("tricks", seats=3, deals=50)
    pyspiel.random_sim_test(game, num_sims=2, serialize=False, verbose=False)
    assert game.num_players() == 3


def test_an_observation_has_the_parts_that_the_seat_sees_counted_from_itself() -> None:
    env = tricks()
    act(env, Random(1), 31)
    form, state = env.observation_form, env._game.state
    assert isinstance(form, PartsObservation) and form.words == tuple(sorted(DECK))
    cards = len(DECK)
    for seat, agent in enumerate(env.possible_agents):
        seen = env.observe(agent)["observation"]
        assert seen.size == form.size == form.layout["tricks of 2"].stop
        assert seen[form.layout["choice"]].tolist() == [seat == state.turn]
        for away in range(3):
            own = state.seats[(seat + away) % 3].own
            hidden, *numbers = seen[form.layout[f"hand of {away}"]].tolist()
            held = [word for word, count in zip(form.words, numbers[:cards], strict=True) if count]
            assert (hidden, held) == ((0, sorted(own.cards)) if away == 0 else (len(own.cards), []))
            assert seen[form.layout[f"tricks of {away}"]].tolist() == [own.tricks]
        places = seen[form.layout["trick"]].tolist()[1 + cards :]
        played = sorted((place, word) for place, word in zip(places, form.words, strict=True) if place)
        assert [word for _, word in played] == [card for _, card in state.own.trick], "in order"


def test_a_candidate_has_its_kind_and_what_its_fields_hold() -> None:
    env = tricks()
    assert isinstance(env.actions, CandidateActions)
    form, seat = env.observation_form, env.possible_agents.index(env.agent_selection)
    assert isinstance(form, PartsObservation)
    commands = legal(env._game.view(seat), seat)
    rows = env.observe(env.agent_selection)["candidates"]
    words = [form.words.index(command.card) + 1 for command in commands]  # type: ignore[attr-defined]
    assert rows[: len(words)].tolist() == [[1, word, *[0] * (ROW_SIZE - 2)] for word in words]
    assert not rows[len(words) :].any()


@pytest.mark.parametrize("copied", [deepcopy, lambda env: pickle.loads(pickle.dumps(env))])
def test_a_copy_goes_on_alone_and_as_the_first_does(copied: Any) -> None:
    env = tricks()
    act(env, Random(2), 20)
    other, before = copied(env), env.state()
    act(other, Random(3), 70)
    assert (env.state() == before).all() and (other.state() != before).any()
    act(env, Random(3), 70)
    assert (env.state() == other.state()).all() and env.rewards == other.rewards


def test_a_line_for_each_part_shows_what_everybody_sees() -> None:
    env = tricks(render_mode="ansi")
    act(env, Random(4), 1)
    ((_, card),) = env._game.state.own.trick
    assert env.render().splitlines()[:4] == [
        f"trick: {card}",
        f"played of 0: {card}",
        "hand of 0: " + " ".join("?" * 19),
        "tricks of 0: 0",
    ]


def test_a_game_that_describes_no_parts_is_refused_with_a_reason(monkeypatch: pytest.MonkeyPatch) -> None:
    unseen = replace(RULESETS["tricks"], describe=None)
    monkeypatch.setitem(RULESETS, "tricks", unseen)
    monkeypatch.setitem(RULESET_VERSIONS, ("tricks", 1), unseen)
    with pytest.raises(InvalidInputError, match="tricks describes no parts of its table"):
        ledgerline.env("tricks", seats=3)


def test_a_part_that_comes_later_is_named() -> None:
    env = tricks()
    form = env.observation_form
    assert isinstance(form, PartsObservation)
    form.layout = {name: part for name, part in form.layout.items() if name != "trick"}
    with pytest.raises(InvalidInputError, match="tricks had no part 'trick' when it was dealt"):
        form.encode(env._game.view(0), 0)
    assert np.iinfo(np.int16).max > form.size
