"""A board with less around it than our own form becomes the same board."""

from __future__ import annotations

import json
from typing import Any

import pytest

from schemas.errors import InvalidInputError
from schemas.trains.boards.form import read_board
from schemas.trains.boards.plain import is_plain_map, to_board_form
from tests.schemas.board_examples import OURS, TRAINS

PLAIN: dict[str, Any] = {
    "id": "lakes",
    "title": "Three lakes",
    "width": 300,
    "height": 200,
    "cities": [
        {"id": "north", "name": "North", "lat": 47.5, "lon": 8.1, "x": 150, "y": 20.4, "country": True, "terminals": 2},
        {"id": "east", "name": "East", "x": 280, "y": 120, "merchandise": "red", "merchandise_verified": False},
        {"id": "west", "name": "West", "x": 20, "y": 120},
    ],
    "routes": OURS["routes"],
    "tickets": [{"between": ["west", "north"], "points": 6, "deck": "regular"}],
    "extra_tickets": [{"between": ["west", "east"], "points": 3}],
    "rules": "marklin",
    "options": {"cars": 20},
}  # fmt: skip


def test_it_is_told_from_the_other_forms() -> None:
    assert is_plain_map(PLAIN)
    others: list[object] = [OURS, TRAINS, {}, [], None, "cities"]
    for other in others:
        assert not is_plain_map(other)


def test_the_same_board_comes_out() -> None:
    ours = {**OURS, "tickets": [{**OURS["tickets"][0], "between": ["west", "north"], "id": "north:west"}]}
    assert read_board(to_board_form(PLAIN)) == read_board(ours)


def test_what_no_rule_depends_on_may_be_left_out() -> None:
    cities, routes = (
        [{"id": "a"}, {"id": "b"}],
        [{"id": "a-b", "between": ["a", "b"], "length": 2, "color": "red"}],
    )
    tickets = [{"between": ["a", "b"], "points": 3}, {"between": ["b", "a"], "points": 4}]
    board = read_board(to_board_form({"cities": cities, "routes": routes, "tickets": tickets}, "here"))
    assert (board.id, board.title, board.size, board.cities[1].name) == ("here", "here", (1000, 1000), "b")
    assert [(ticket.id, ticket.deck) for ticket in board.tickets] == [
        ("a:b", "regular"),
        ("a:b-2", "regular"),
    ]
    assert read_board(to_board_form({"cities": cities, "routes": routes})).tickets == ()


WRONG: list[tuple[str, Any, str]] = [
    ("cities", {}, "cities"),
    ("cities", ["a"], "cities.0"),
    ("cities", [{"name": "A"}, {"id": "b"}], "cities.0.id"),
    ("routes", None, "routes"),
    ("tickets", 3, "tickets"),
    ("tickets", [3], "tickets.0"),
    ("tickets", [{"points": 3}], "tickets.0"),
    ("width", "wide", "size.0"),
    ("colour", "red", "colour"),
]


@pytest.mark.parametrize(("field", "wrong", "entry"), WRONG, ids=[json.dumps(row[:2]) for row in WRONG])
def test_what_is_wrong_is_refused_by_its_entry(field: str, wrong: Any, entry: str) -> None:
    with pytest.raises(InvalidInputError) as error:
        read_board(to_board_form({**PLAIN, field: wrong}))
    assert error.value.field.startswith(entry)
