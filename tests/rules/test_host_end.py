"""GAME-8, END-4: a host ends a game in which nobody has acted for long, and it is counted as it stands."""

from __future__ import annotations

from typing import Any

import pytest

from schemas.commands import EndGame
from schemas.events import GameEnded, SeatGone
from services.referee.games.decide import UnloggedRejectionError
from tests.rules.given import given

HALF_OF_THREE_DAYS = 129_600_000


def test_GAME_8_a_host_ends_an_abandoned_game() -> None:
    scene = given(3).after_ms(HALF_OF_THREE_DAYS).when(None, EndGame())
    assert [event for event in scene.events if isinstance(event, SeatGone)] == [
        SeatGone(seat, "out of time") for seat in range(3)
    ]
    last = scene.events[-1]
    assert isinstance(last, GameEnded)
    assert (last.reason, len(last.scores)) == ("out of time", 3)


@pytest.mark.parametrize(
    ("options", "least"),
    [
        ({}, HALF_OF_THREE_DAYS),
        ({"move_ms": 60_000, "clock_ms": None}, 600_000),
        ({"move_ms": None}, 86_400_000),
    ],
)
def test_GAME_8_a_game_that_somebody_may_play_goes_on(options: dict[str, Any], least: int) -> None:
    scene = given(2, options=options).after_ms(least - 1)
    before = scene.state.copy()
    with pytest.raises(UnloggedRejectionError, match="GAME-8"):
        scene.when(None, EndGame())
    assert (scene.state.at_ms, scene.state.active_seats) == (before.at_ms, before.active_seats)
    assert scene.after_ms(1).when(None, EndGame()).state.result


def test_GAME_8_in_a_strict_game_the_seats_are_removed() -> None:
    scene = given(2, options={"strict": True}).after_ms(HALF_OF_THREE_DAYS).when(None, EndGame())
    assert {event.why for event in scene.events if isinstance(event, SeatGone)} == {"removed"}
    assert scene.state.result
