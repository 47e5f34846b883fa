"""GAME-6: on no board that a game can be created on does a referee take many steps to list moves or to score."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from random import Random
from typing import Any, Final

import pytest

from services.referee.games.trains.search import (
    longest_trail,
    passenger_journeys,
    station_loans,
    sweeps,
)
from tests.long_runs import long_after
from tests.process_faults.seeds import SOAK
from tests.rules.hostile_games import costly_questions, hostile_game

BOARDS: Final = 10  # of each test
MAX_STEPS: Final = 60_000  # a step takes 1 to 40 us


@contextmanager
def counted_steps() -> Iterator[Callable[[], int]]:
    """How many steps all searches have taken within the block."""
    steps = 0

    def counted(search: Any) -> Any:  # any function of a search
        def call(*args: Any) -> Any:
            nonlocal steps
            steps += 1
            assert steps <= MAX_STEPS
            return search(*args)

        return call

    with pytest.MonkeyPatch.context() as patch:
        for owner, name in (
            (longest_trail._Search, "_search"),
            (sweeps, "_join"),
            (sweeps, "_leave"),
            (sweeps, "_upper_bound"),
            (station_loans._Search, "_compare"),
            (passenger_journeys._Search, "_rank"),
        ):
            patch.setattr(owner, name, counted(getattr(owner, name)))
        yield lambda: steps


@pytest.mark.parametrize("start", long_after(2, range(0, 2_000 if SOAK else 80, BOARDS)))
def test_GAME_6_hostile_boards_are_refused_or_cost_few_steps(start: int) -> None:
    played = 0
    for seed in range(start, start + BOARDS):
        state = hostile_game(Random(seed))
        for ask in costly_questions(state).values() if state else ():
            with counted_steps():
                ask()
            played += 1
    assert played
