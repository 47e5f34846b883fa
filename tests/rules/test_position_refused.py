"""An impossible position is refused, naming the entry, and the game isn't created."""

from __future__ import annotations

from typing import Any

import pytest

from services.referee.games.trains import board as boards
from services.referee.games.trains.rulesets import TRAIN_RULESETS
from tests.rules.test_position import WIEN_PARIS, refused, set_up_game

WRONG: list[tuple[str, dict[str, Any], str]] = [
    ("usa", {"turn": 3}, "position.turn: "),
    ("usa", {"hands": [{}, {}, {}, {}]}, "position.hands: "),
    ("usa", {"cars": [1, 1, 1, 1]}, "position.cars: "),
    ("usa", {"tickets": [[], [], [], []]}, "position.tickets: "),
    ("usa", {"merchandise": [0, 0, 0, 0]}, "position.merchandise: "),
    ("usa", {"points": [0, 0, 0, 0]}, "position.points: "),
    ("usa", {"hands": [{}, {"passenger": 1}]}, "position.hands.1.passenger: "),
    ("trains", {"deck": ["red", "locomotive"]}, "position.deck.locomotive: "),
    ("usa", {"market": ["locomotive4"]}, "position.market.locomotive4: "),
    ("usa", {"discard": {"passenger": 1}}, "position.discard.passenger: "),
    ("usa", {"market": ["red"] * 6}, "position.market: "),
    ("trains", {"market": ["red"]}, "position.market: "),
    ("usa", {"cars": [45, 46]}, "position.cars.1: "),
    ("usa", {"routes": {"boston-atlantis-a": 0}}, "position.routes.boston-atlantis-a: "),
    ("usa", {"routes": {"montreal-new-york-a": 3}}, "position.routes.montreal-new-york-a: "),
    ("usa", {"routes": {"boston-montreal-a": 0, "boston-montreal-b": 0}}, "(DOUBLE-1)"),
    ("usa", {"routes": {"boston-montreal-a": 0, "boston-montreal-b": 1}}, "(DOUBLE-2)"),
    ("europe", {"tickets": [[{"between": ["wien", "atlantis"], "points": 8}]]}, "position.tickets.0.0: "),
    ("europe", {"tickets": [[{"between": ["wien", "wien"], "points": 8}]]}, "position.tickets.0.0: "),
    ("europe", {"ticket_decks": {"short": []}}, "position.ticket_decks.short: "),
    ("europe", {"tickets": [[WIEN_PARIS], [WIEN_PARIS]]}, "position.tickets.1.0: "),
    (
        "europe",
        {"tickets": [[WIEN_PARIS]], "ticket_decks": {"regular": [WIEN_PARIS]}},
        "position.ticket_decks.regular.0: ",
    ),
    ("europe", {"stations": {"atlantis": {"seat": 0}}}, "position.stations.atlantis: "),
    ("europe", {"stations": {"wien": {"seat": 3}}}, "position.stations.wien: "),
    ("europe", {"stations": {"wien": {"seat": 0, "neighbour": "paris"}}}, "position.stations.wien: "),
    ("europe", {"stations": {"wien": {"seat": 0, "neighbour": "wien"}}}, "position.stations.wien: "),
    (
        "europe",
        {"stations": {city: {"seat": 0} for city in ("wien", "paris", "roma", "riga")}},
        "position.stations.riga: ",
    ),
    ("usa", {"stations": {"boston": {"seat": 0}}}, "position.stations.boston: "),
    ("marklin", {"passengers": {"atlantis": 0}}, "position.passengers.atlantis: "),
    ("marklin", {"passengers": {"schweiz": 0}}, "position.passengers.schweiz: "),
    ("marklin", {"passengers": {"berlin": 3}}, "position.passengers.berlin: "),
    ("marklin", {"passengers": dict.fromkeys(("berlin", "koln", "kiel", "ulm"), 0)}, "position.passengers.ulm: "),
    ("marklin", {"tokens": {"atlantis": [2]}}, "position.tokens.atlantis: "),
    ("usa", {"turn": None, "passed": [1]}, "position.turn: somebody's turn has begun"),
]  # fmt: skip


@pytest.mark.parametrize(("rules", "entries", "reason"), WRONG, ids=[f"{e[0]}-{e[1]}"[:60] for e in WRONG])
def test_a_position_that_cannot_be_is_refused_by_its_entry(
    rules: str, entries: dict[str, Any], reason: str
) -> None:
    assert reason in refused(rules, entries)


@pytest.mark.parametrize("rules", TRAIN_RULESETS)
def test_a_seat_has_no_more_spaces_than_cars(rules: str) -> None:
    board = boards.load_board(TRAIN_RULESETS[rules].default_board)
    routes: dict[str, int] = {}
    spaces = 0
    for route in board.routes.values():
        if not any(twin in routes for twin in route.parallels):
            routes[route.id] = 1
            spaces += route.length
            if spaces > 45:
                break
    reason = refused(rules, {"routes": routes})
    assert f"position.routes.{route.id}: seat 1's routes have {spaces} spaces" in reason
    assert set_up_game(rules, routes=routes, options={"cars": spaces}).state.own.route_owners == routes
