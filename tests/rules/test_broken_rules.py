"""A rule that is broken on purpose fails in the words of the game: what should have been refused, and what happened."""

from __future__ import annotations

import pytest

from schemas.events import TurnStarted
from schemas.trains.commands import ClaimRoute, DrawBlind
from tests.rules.given import NEW_YORK, given


def test_a_move_that_should_be_refused_and_isnt_is_told_with_the_rule() -> None:
    scene = given(hands=[{"blue": 3}]).when(0, ClaimRoute(NEW_YORK, {"blue": 3}))
    with pytest.raises(
        AssertionError,
        match=r"ROUTE-2 should refuse this \(As many cards .* this happened: .* claims Montréal",
    ):
        scene.refused("ROUTE-2")


def test_a_move_that_is_refused_by_another_rule_is_told_with_both() -> None:
    scene = given(hands=[{"blue": 2}]).when(0, ClaimRoute(NEW_YORK, {"blue": 2}))
    with pytest.raises(
        AssertionError, match=r"ROUTE-3 should refuse this .* As many cards as the route has spaces"
    ):
        scene.refused("ROUTE-3")


def test_events_that_differ_in_number_are_told_as_sentences() -> None:
    scene = given(deck=["blue"] * 9).when(0, DrawBlind())
    with pytest.raises(
        AssertionError, match=r"5 events should follow, but this happened: .* draws blue blind\."
    ):
        scene.exactly(5)
    with pytest.raises(AssertionError, match="it should be TurnStarted, but this happened"):
        scene.then_types(TurnStarted)
