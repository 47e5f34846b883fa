"""A game that starts in the middle of a turn: it is sealed and verified like any other, and what was drawn is its seat's."""

from __future__ import annotations

from random import Random
from typing import Any

import pytest

from schemas.trains.positions import POSITION_SCHEMA
from services.referee.games import legal
from tests.rules.random_games import RandomGame
from tests.rules.sealed_games import play_and_seal, verify_all

OFFERED = [{"between": ["wien", "essen"], "points": 8}, {"between": ["paris", "riga"], "points": 99}]
TUNNEL = {"route": "paris-zurich-a", "cards": {"red": 3}, "revealed": ["red", "blue"]}
HAND = {"hands": [{"red": 5, "blue": 2}, {"green": 4}]}
TURNS: dict[str, dict[str, Any]] = {
    "a second card": {**HAND, "second_card": True},
    "an offer": {**HAND, "offer": {"tickets": OFFERED}},
    "a tunnel": {**HAND, "tunnel": TUNNEL},
    "last turns": {**HAND, "turn": 1, "last_turns": [0], "gone": [None, None, "left"], "order": [2, 1, 0]},
}


@pytest.mark.parametrize("kind", TURNS)
def test_P5_P6_a_turn_in_progress_is_verified_and_an_offer_is_its_seats_alone(kind: str) -> None:
    position = POSITION_SCHEMA.read(TURNS[kind])
    game = RandomGame(Random(kind), "europe", 3, options={"cars": 12}, create_fields={"position": position})
    turn = position.turn or 0
    assert legal(game.views[turn], turn) == legal(game.state, turn) != []
    for viewer in (None, *range(3)):
        offer = game.views[viewer].seats[turn].own.offer
        assert offer == (game.state.seats[turn].own.offer if viewer == turn else [None] * len(offer))
    sealed = play_and_seal(game)
    assert sealed.state.result is not None
    for viewer in sealed.viewers():
        assert verify_all(viewer, sealed.view_entries(viewer)).sequence == len(sealed.entries)
