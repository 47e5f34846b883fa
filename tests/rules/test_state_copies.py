"""A copied state: every field is there, and nothing that changes is shared. Fields are copied one by one."""

from __future__ import annotations

from random import Random
from types import NoneType

from services.referee.rules import GameState
from services.referee.rules.seat_state import SEAT_FIELDS
from services.referee.rules.state import STATE_FIELDS
from tests.rules.given import full_state
from tests.rules.random_games import RandomGame

IMMUTABLE = (str, int, tuple, frozenset, NoneType)
SHARED = {"access", "board", "names", "next_play_off", "play_off", "result", "rule_options", "ruleset"}


def midway() -> GameState:
    """A state some turns into a game, a field of which no other has the value wherever that can be."""
    play = RandomGame(Random(1), "usa", 3)
    for number in play.steps():
        if number == 40:
            break
    for target, names in ((play.state, STATE_FIELDS), *((seat, SEAT_FIELDS) for seat in play.state.seats)):
        for index, name in enumerate(names):
            if type(getattr(target, name)) is int:
                setattr(target, name, 1_000 + index)
    return play.state


def test_a_copy_has_every_field() -> None:
    state = midway()
    copied = state.copy()
    for name in set(STATE_FIELDS) - {"seats"}:
        assert getattr(copied, name) == getattr(state, name), name
    for copied_seat, seat in zip(copied.seats, state.seats, strict=True):
        for name in SEAT_FIELDS:
            assert getattr(copied_seat, name) == getattr(seat, name), name


def test_a_copy_shares_nothing_that_changes_in_place() -> None:
    state = midway()
    copied = state.copy()
    for target, other, names in (
        (state, copied, set(STATE_FIELDS) - SHARED),
        *((seat, copied.seats[number], set(SEAT_FIELDS)) for number, seat in enumerate(state.seats)),
    ):
        for name in names:
            value = getattr(target, name)
            assert isinstance(value, IMMUTABLE) or value is not getattr(other, name), name


def test_a_game_that_is_not_created_yet_can_be_copied() -> None:
    assert full_state(GameState().copy()) == full_state(GameState())
