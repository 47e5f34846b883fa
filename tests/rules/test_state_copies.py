"""A copied state: every field is there, and nothing that changes is shared. Fields are copied one by one."""

from __future__ import annotations

from random import Random
from types import NoneType

from services.referee.games import GameState
from tests.rules.given import full_state, parts
from tests.rules.random_games import RandomGame, random_board
from tests.rules.test_properties import EVERY_RULESET

IMMUTABLE = (str, int, tuple, frozenset, NoneType)
SHARED = {"access", "board", "names", "next_play_off", "play_off", "result", "rule_options", "ruleset"}


def midway(rules: str) -> GameState:
    """A state some turns into a game, a field of which no other has the value wherever that can be."""
    rng = Random(1)
    board, seats, create_fields = random_board(rng, rules)
    play = RandomGame(rng, board, seats, create_fields=create_fields)
    for number in play.steps():
        if number == 40:
            break
    for target, names in parts(play.state):
        for index, name in enumerate(names):
            if type(getattr(target, name)) is int:
                setattr(target, name, 1_000 + index)
    return play.state


@EVERY_RULESET
def test_a_copy_has_every_field(rules: str) -> None:
    state = midway(rules)
    for (target, names), (copied, _) in zip(parts(state), parts(state.copy()), strict=True):
        for name in names:
            assert getattr(copied, name) == getattr(target, name), name


@EVERY_RULESET
def test_a_copy_shares_nothing_that_changes_in_place(rules: str) -> None:
    state = midway(rules)
    for (target, names), (copied, _) in zip(parts(state), parts(state.copy()), strict=True):
        assert target is not copied
        for name in set(names) - SHARED:
            value = getattr(target, name)
            assert isinstance(value, IMMUTABLE) or value is not getattr(copied, name), name


def test_a_game_that_is_not_created_yet_can_be_copied() -> None:
    assert full_state(GameState().copy()) == full_state(GameState())
