"""docs/how-to/compiled.md: a state reaches another process, in both forms of the rules."""

from __future__ import annotations

import copyreg
import pickle
import sys
from dataclasses import fields, is_dataclass

import pytest

from services.referee.games import RULESETS, legal
from services.referee.games.trains.train_state import TrainState
from tests.rules.sealed_games import fixed_games


@pytest.mark.parametrize("ruleset", RULESETS)
def test_a_pickled_state_has_the_same_legal_commands(ruleset: str) -> None:
    state = next(fixed_games(ruleset, 20)).state
    restored = pickle.loads(pickle.dumps(state))
    assert [legal(restored, seat) for seat in state.pending_choices] == [
        legal(state, seat) for seat in state.pending_choices
    ]
    assert restored.ruleset is state.ruleset
    is_of_trains = isinstance(state.own, TrainState)
    for field in (
        fields(state.own.board) if is_of_trains else ()
    ):  # not by `repr`: a set may be shown in another order
        assert getattr(restored.own.board, field.name) == getattr(state.own.board, field.name)


def test_every_frozen_class_of_the_rules_is_pickled_as_a_call() -> None:
    """Compiled, it can't be made otherwise."""
    frozen = {
        value
        for name, module in sys.modules.items()
        if name.startswith("services.referee.games.")
        for value in vars(module).values()
        if isinstance(value, type) and is_dataclass(value) and value.__module__ == name
        and vars(value)["__dataclass_params__"].frozen
    }  # fmt: skip
    assert len(frozen) >= 5
    assert frozen <= copyreg.dispatch_table.keys()
