"""A copied state: every field is there, and nothing that changes is shared. Fields are copied one by one."""

from __future__ import annotations

from random import Random
from types import NoneType

from services.referee.games import GameState
from tests.rules.given import full_state, parts
from tests.rules.random_games import RandomGame

IMMUTABLE = (str, int, tuple, frozenset, NoneType)
SHARED = {"access", "board", "names", "next_play_off", "play_off", "result", "rule_options", "ruleset"}


def midway() -> GameState:
    """A state some turns into a game, a field of which no other has the value wherever that can be."""
    play = RandomGame(Random(1), "usa", 3)
    for number in play.steps():
        if number == 40:
            break
    for target, names in parts(play.state):
        for index, name in enumerate(names):
            if type(getattr(target, name)) is int:
                setattr(target, name, 1_000 + index)
    return play.state


def test_a_copy_has_every_field() -> None:
    state = midway()
    for (target, names), (copied, _) in zip(parts(state), parts(state.copy()), strict=True):
        for name in names:
            assert getattr(copied, name) == getattr(target, name), name


def test_a_copy_shares_nothing_that_changes_in_place() -> None:
    state = midway()
    for (target, names), (copied, _) in zip(parts(state), parts(state.copy()), strict=True):
        assert target is not copied
        for name in set(names) - SHARED:
            value = getattr(target, name)
            assert isinstance(value, IMMUTABLE) or value is not getattr(copied, name), name


def test_a_game_that_is_not_created_yet_can_be_copied() -> None:
    assert full_state(GameState().copy()) == full_state(GameState())
