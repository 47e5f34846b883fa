"""A table as a PettingZoo environment: PettingZoo's own tests, then what an agent sees, may do, and gets."""

from __future__ import annotations

import pickle
import sys
import warnings
from collections.abc import Iterator
from copy import deepcopy
from itertools import pairwise
from random import Random
from typing import Any

import numpy as np
import pytest
from pettingzoo.test import api_test, seed_test

import ledgerline
from schemas.commands import Command, CommandEnvelope, CreateGame, SeatPlan, StartGame
from schemas.errors import InvalidInputError
from schemas.trains.boards.form import BOARD_SCHEMA
from schemas.trains.boards.trains import read_trains_map
from services.referee.games import (
    GameState,
    UnloggedRejectionError,
    decide_envelope,
    evolve,
    legal,
    redact_for,
)
from services.referee.games.trains.rulesets import TRAIN_RULESETS
from services.research.parts_form import CandidateActions, FixedActions
from services.research.pettingzoo_env import TableEnv
from services.research.trains import SEAT_FIELDS, TrainObservation
from services.tournament.viewed_game import GAME_ID
from tests.trains_server.peers import CITIES, MAP

SHORT = {"cars": 8, "move_ms": None}  # games that end soon
EVERY_RULESET = pytest.mark.parametrize("rules", TRAIN_RULESETS)


@pytest.fixture(autouse=True)
def _dict_observations() -> Iterator[None]:
    """PettingZoo warns of dicts, which its own games have where actions are masked."""
    with warnings.catch_warnings():
        warnings.filterwarnings("ignore", "Observation is not a NumPy array")
        warnings.filterwarnings("ignore", "Observation space for each agent probably should be")
        yield


def moves(env: TableEnv, rng: Random) -> Iterator[str]:
    """Play legal actions by chance to the end; yields the agent before each."""
    for agent in env.agent_iter():
        if env.terminations[agent]:
            env.step(None)
            continue
        yield agent
        env.step(int(rng.choice(env.observe(agent)["action_mask"].nonzero()[0])))


# -- PettingZoo's own tests ------------------------------------------------------------------


@EVERY_RULESET
@pytest.mark.parametrize("actions", [None, "candidates"])
def test_pettingzoos_api_test_passes(rules: str, actions: Any) -> None:
    env = ledgerline.env(rules, seats=3, options=SHORT, actions=actions)
    api_test(env, num_cycles=40)
    assert env.possible_agents == ["seat_0", "seat_1", "seat_2"]


@EVERY_RULESET
def test_pettingzoos_api_test_passes_to_the_end_of_a_game(
    rules: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    ended: list[TableEnv] = []
    end = TableEnv._end

    def noted_end(env: TableEnv) -> None:
        ended.append(env)
        end(env)

    monkeypatch.setattr(TableEnv, "_end", noted_end)
    env = ledgerline.env(rules, seats=2, options={**SHORT, "cars": 3}, reward="points")
    api_test(env, num_cycles=400)
    assert ended


@EVERY_RULESET
def test_pettingzoos_seed_test_passes(rules: str) -> None:
    made: list[TableEnv] = []

    def make() -> TableEnv:
        made.append(ledgerline.env(rules, options=SHORT))
        return made[-1]

    seed_test(make, num_cycles=25)
    assert [len(env.possible_agents) for env in made] == [4, 4]


# -- what an agent sees ----------------------------------------------------------------------


class PlainGame:
    """The same game by the published rules, every view folded event by event."""

    def __init__(self, rules: str, seats: int, seed: str, options: Any) -> None:
        self.state, self.views = GameState(), [GameState() for _ in range(seats)]
        self.process(None, CreateGame((SeatPlan("bot", "random"),) * seats, rules, None, seed, options))
        self.process(None, StartGame())

    def process(self, seat: int | None, command: Command) -> None:
        envelope = CommandEnvelope(GAME_ID, GAME_ID, seat, command)
        for event in decide_envelope(self.state, envelope, 0, "00" * 32):
            for viewer, view in enumerate(self.views):
                if (shown := redact_for(viewer, event)) is not None:
                    evolve(view, shown)


@EVERY_RULESET
def test_P5_an_observation_is_that_of_the_fold_of_the_seats_own_view_in_the_deal_of_that_seed(
    rules: str,
) -> None:
    env, rng = ledgerline.env(rules, seats=3, options=SHORT), Random(rules)
    env.reset(seed=7)
    plain = PlainGame(rules, 3, "7", SHORT)
    while plain.state.result is None:
        seat = min(plain.state.pending_choices)
        assert env.agent_selection == f"seat_{seat}"
        for other, agent in enumerate(env.possible_agents):
            seen = env.observe(agent)
            expected = env.observation_form.encode(plain.views[other], other)
            assert (seen["observation"] == expected).all()
            assert seen["action_mask"].any() == (other == seat)
        commands = legal(plain.views[seat], seat)
        place = rng.randrange(len(commands))
        plain.process(seat, commands[place])
        env.step(action_of(env, commands, place))
    assert all(env.terminations.values())


def action_of(env: TableEnv, commands: list[Command], place: int) -> int:
    """The action of the command at this place of the legal ones."""
    if isinstance(env.actions, CandidateActions):
        return place
    (action,) = (n for n, command in enumerate(env.actions.commands) if command == commands[place])
    return action


def test_the_layout_names_every_part_of_an_observation() -> None:
    env = ledgerline.env("europe", seats=3)
    env.reset(seed=1)
    form, view = env.observation_form, env._game.view(1)
    seen = env.observe("seat_1")["observation"]
    assert isinstance(form, TrainObservation)
    assert [*form.layout.values()][-1].stop == form.size == len(seen)
    own = view.seats[1]
    assert seen[form.layout["hand"]].tolist() == [own.own.hand[kind] for kind in form.kinds]
    seats = seen[form.layout["seats"]].reshape(3, len(SEAT_FIELDS))
    assert seats[:, SEAT_FIELDS.index("cars")].tolist() == [45] * 3
    offered = seen[form.layout["tickets"]]
    assert sorted(offered[offered > 0].tolist()) == [2, 3, 4, 5]  # four tickets, by their places in the offer
    assert own.own.offer == [
        [*view.own.board.tickets][int(np.flatnonzero(offered == 2 + n)[0])] for n in range(4)
    ]


def test_owners_are_counted_from_the_observer() -> None:
    env = ledgerline.env("usa", seats=3, options=SHORT)
    env.reset(seed=3)
    for _ in moves(env, Random(3)):
        pass
    routes = env.observation_form.layout["routes"]
    owners = env._game.state.own.route_owners
    assert set(owners.values()) == {0, 1, 2}
    for seat in range(3):
        seen = env.observation_form.encode(env._game.view(seat), seat)[routes]
        for route, number in zip(env._game.state.own.board.routes, seen, strict=True):
            assert number == ((owners[route] - seat) % 3 + 1 if route in owners else 0)


# -- what it may do --------------------------------------------------------------------------


@pytest.mark.parametrize("rules", ["usa", "trains"])
def test_the_fixed_list_has_every_legal_command_once(rules: str) -> None:
    env = ledgerline.env(rules, seats=2, options=SHORT)
    assert isinstance(env.actions, FixedActions)
    assert len({repr(command) for command in env.actions.commands}) == env.action_space("seat_0").n
    env.reset(seed=5)
    for agent in moves(env, Random(5)):
        seat = env.possible_agents.index(agent)
        listed = [env.actions.commands[n] for n in env.observe(agent)["action_mask"].nonzero()[0]]
        found = legal(env._game.view(seat), seat)
        assert sorted(map(repr, listed)) == sorted(map(repr, found))


@EVERY_RULESET
def test_each_candidate_is_told_from_the_others_by_its_numbers(rules: str) -> None:
    env = ledgerline.env(rules, seats=2, options=SHORT, actions="candidates")
    env.reset(seed=6)
    most = 0
    for agent in moves(env, Random(6)):
        seen = env.observe(agent)
        count = int(seen["action_mask"].sum())
        rows = seen["candidates"][:count]
        is_move = rows[:, 0] == 15  # a passenger's journeys may have the same end and length
        assert len(np.unique(rows[~is_move], axis=0)) == int((~is_move).sum())
        assert not seen["candidates"][count:].any()
        most = max(most, count)
    assert most > 10


def test_a_list_that_is_too_short_says_how_many_commands_it_leaves_out() -> None:
    env = ledgerline.env("usa", seats=2, actions="candidates", max_candidates=3)
    env.reset(seed=1)
    seen, *_, info = env.last()
    assert seen is not None and seen["action_mask"].tolist() == [1, 1, 1]
    assert info == {"unlisted": 1}  # of the four ways to keep two or three tickets of three


@pytest.mark.parametrize("actions", ["fixed", "candidates"])
def test_an_action_that_the_mask_excludes_is_refused_and_changes_nothing(actions: Any) -> None:
    env = ledgerline.env("usa", seats=2, actions=actions)
    env.reset(seed=1)
    before = env.observe("seat_0")["observation"]
    draw = 0 if actions == "fixed" else 400
    for action in (draw, -1, 10_000, None):
        with pytest.raises(ValueError, match="action"):
            env.step(action)
    assert env.agent_selection == "seat_0"
    assert (env.observe("seat_0")["observation"] == before).all()


def test_rules_with_more_than_the_fixed_list_have_candidates() -> None:
    assert isinstance(ledgerline.env("europe").actions, CandidateActions)
    with pytest.raises(InvalidInputError, match="europe have no fixed list"):
        ledgerline.env("europe", actions="fixed")


# -- what it gets, and what it is made of ----------------------------------------------------


@EVERY_RULESET
def test_the_winners_share_one_or_each_seat_gets_its_points(rules: str) -> None:
    final, env = {}, ledgerline.env(rules, seats=2)
    rewards: tuple[Any, ...] = ("win", "points")
    for reward in rewards:
        env = ledgerline.env(rules, seats=2, options={**SHORT, "cars": 4}, reward=reward)
        env.reset(seed=2)
        final[reward] = rewards_at_the_end(env, Random(2))
    result = env._game.state.result
    assert result is not None
    assert final["points"] == {f"seat_{score.seat}": score.total for score in result.scores}
    winners = {f"seat_{score.seat}" for score in result.scores if score.place == 1}
    assert final["win"] == {agent: (agent in winners) / len(winners) for agent in env.possible_agents}


def rewards_at_the_end(env: TableEnv, rng: Random) -> dict[str, float]:
    for agent in env.agent_iter():
        observation, reward, is_over, *_ = env.last()
        if is_over:
            assert reward == env.rewards[agent]
            break
        assert reward == 0 and observation is not None
        env.step(int(rng.choice(observation["action_mask"].nonzero()[0])))
    return dict(env.rewards)


def test_a_seed_is_a_deal_and_without_one_the_next_follows() -> None:
    envs = [ledgerline.env("usa", seats=2) for _ in range(2)]
    deals: list[list[Any]] = [[], []]
    for env, dealt in zip(envs, deals, strict=True):
        for seed in (4, None, None, 4):
            env.reset(seed=seed)
            dealt.append(env.observe("seat_0")["observation"].tolist())
    assert deals[0] == deals[1]
    assert deals[0][0] == deals[0][3]
    assert deals[0][0] != deals[0][1] != deals[0][2]


def test_a_game_that_goes_on_too_long_is_cut_off(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("services.research.pettingzoo_env.MAX_MOVES", 5)
    env = ledgerline.env("usa", seats=2)
    env.reset(seed=1)
    for agent in env.agent_iter(5):
        env.step(int(env.observe(agent)["action_mask"].argmax()))
    assert all(env.truncations.values()) and not any(env.terminations.values())
    assert set(env.rewards.values()) == {0}


def test_it_is_made_of_an_own_board_and_options_and_refuses_what_no_game_has() -> None:
    env = ledgerline.env("usa", board="usa-1910", options={"cars": 20}, render_mode="ansi")
    env.reset(seed=1)
    assert env.render().splitlines()[1] == "seat_1: 0 points, 20 cars, 4 cards, 0 tickets"
    with pytest.raises(UnloggedRejectionError, match="seats"):
        ledgerline.env("usa", seats=7)
    with pytest.raises(UnloggedRejectionError, match="chess"):
        ledgerline.env("chess")


def test_without_pettingzoo_the_error_names_the_extra(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delitem(sys.modules, "services.research.pettingzoo_env")
    monkeypatch.setitem(sys.modules, "pettingzoo", None)
    with pytest.raises(ImportError, match=r"ledgerline\[research\]"):
        ledgerline.env("usa")


# -- copies and checkpoints ------------------------------------------------------------------


def pickled(env: TableEnv) -> TableEnv:
    copied: TableEnv = pickle.loads(pickle.dumps(env))
    return copied


def history(env: TableEnv, rng: Random) -> list[Any]:
    """All that is observed and got from here to the end, with actions by chance."""
    rows = [(agent, env.last(), env.state()) for agent in moves(env, rng)]
    return [*(flat(row) for row in rows), env.rewards]


def flat(value: Any) -> Any:
    """A value that == compares, with arrays as lists."""
    if isinstance(value, dict):
        return {key: flat(held) for key, held in value.items()}
    if isinstance(value, tuple):
        return [flat(held) for held in value]
    return value.tolist() if isinstance(value, np.ndarray) else value


@pytest.mark.parametrize("copied", [deepcopy, pickled])
@pytest.mark.parametrize("actions", [None, "candidates"])
@EVERY_RULESET
def test_a_copy_goes_on_alone_and_as_the_first_does(rules: str, actions: Any, copied: Any) -> None:
    # given: somewhere in a game
    env = ledgerline.env(rules, seats=3, options=SHORT, actions=actions)
    env.reset(seed=8)
    rng = Random(rules)
    for number, _ in enumerate(moves(env, rng)):
        if number == 20:
            break
    # when
    env.action_space("seat_0").seed(4)
    env.observe(env.agent_selection)
    other, before = copied(env), rng.getstate()
    played = history(env, rng)
    rng.setstate(before)
    # then
    assert history(other, rng) == played
    env.reset()
    other.reset()
    assert flat(env.last()) == flat(other.last()), "the next deal in a row"
    assert env.action_space("seat_0").sample() == other.action_space("seat_0").sample()


def test_an_environment_is_pickled_before_its_first_game_and_with_one_kind_of_cards() -> None:
    connections = {a: {b: {"red": 3}} for a, b in pairwise(CITIES)}
    red = BOARD_SCHEMA.write(read_trains_map({**MAP, "connections": connections}))
    env = ledgerline.env("trains", seats=2, board=red, options={"cards": {"red": 250}})
    other = pickled(env)
    for each in (env, other):
        each.reset(seed=1)
    assert flat(env.last()) == flat(other.last())


def test_the_state_is_what_all_agents_know_together() -> None:
    env = ledgerline.env("europe", seats=3, options=SHORT)
    env.reset(seed=2)
    for _ in moves(env, Random(2)):
        state = env.state()
        assert env.state_space.contains(state)
        seen = [env.observe(agent)["observation"] for agent in env.possible_agents]
        assert state.tolist() == np.concatenate(seen).tolist()
