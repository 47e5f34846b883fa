"""docs/compiled.md: a rollout comes to equal points in both forms. `make fast-check` compares many more."""

from __future__ import annotations

import subprocess
import sysconfig
from collections.abc import Iterator
from importlib.machinery import ExtensionFileLoader
from importlib.util import module_from_spec, spec_from_file_location
from pathlib import Path
from random import Random

import pytest

from services.bots.trains.searching import rollout_forms
from services.bots.trains.searching.compact_rules import compact_rules
from services.bots.trains.searching.rollout_forms import Rollouts, play_in_python
from services.bots.trains.searching.world_sampler import WorldSampler
from services.referee.games.trains.rulesets import TRAIN_RULESETS
from tests.bots.compact_games import compact
from tests.cli.command_line import ROOT
from tests.compiled.both_rollouts import compare
from tests.rules.given import given

ROLLOUTS = 60

pytestmark = pytest.mark.long


@pytest.fixture(scope="module")
def engine_file(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The engine, compiled as deploy/compile_rules.py does it, but faster."""
    name = "services.bots.trains.searching.rollout_engine"
    source, built = ROOT / f"{name.replace('.', '/')}.c", tmp_path_factory.mktemp("engine") / f"{name}.so"
    compiler = (sysconfig.get_config_var("CC") or "cc").split()[0]
    flags = ["-O1", "-std=c11", "-ffp-contract=off", "-Wall", "-Wextra", "-Werror", "-fPIC", "-shared"]
    include = f"-I{sysconfig.get_path('include')}"
    subprocess.run([compiler, *flags, include, str(source), "-o", str(built), "-lm"], check=True)
    return built


@pytest.fixture(autouse=True)
def engine(engine_file: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    loader = ExtensionFileLoader(engine_file.stem, str(engine_file))
    spec = spec_from_file_location(engine_file.stem, engine_file, loader=loader)
    assert spec is not None
    module = module_from_spec(spec)
    loader.exec_module(module)
    monkeypatch.setattr(rollout_forms, "rollout_engine", module)
    monkeypatch.setattr(rollout_forms, "IS_COMPILED", True)
    yield


@pytest.mark.parametrize("rules", sorted(TRAIN_RULESETS))
def test_rollouts_come_to_equal_points_in_both_forms(rules: str) -> None:
    declined, different = compare(rules, ROLLOUTS)
    assert different == []
    assert declined <= ROLLOUTS / 20


def test_what_is_beyond_the_compiled_form_python_plays() -> None:
    # given a world with more tickets in a hand than the engine has room for
    state = given(2).state
    game, rules = compact(state), compact_rules(state)
    game.tickets[0] *= 100
    rollouts = Rollouts(rules, 2)
    world, opening = rollouts.world(game), rollouts.opening(None)
    # then it declines, and the points are Python's
    assert rollouts.play_compiled(world, opening) is None
    assert rollouts.play(world, opening) == play_in_python(game, None)


def test_numbers_that_are_no_world_are_declined() -> None:
    state = given(2).state
    rules = compact_rules(state)
    rollouts = Rollouts(rules, 2)
    world = rollouts.world(WorldSampler(state, 0, rules).sample(Random(0)))
    opening = rollouts.opening(None)
    assert rollouts.play_compiled(world, opening) is not None
    for place in range(len(world.row)):
        for number in (-1_000_000_007, 1_000_000_007):
            wrong = world.row[:]
            wrong[place] = number
            rollouts.play_compiled(world._replace(row=wrong), opening)  # no crash: the seed alone may be any
    assert rollouts.play_compiled(world._replace(row=world.row[:-1]), opening) is None
