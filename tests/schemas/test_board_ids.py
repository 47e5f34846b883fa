"""What people write for a city or a route finds its id, and what is only like one never does."""

from __future__ import annotations

from typing import Any

import pytest

from schemas.trains.boards.board_ids import BoardIds, did_you_mean
from schemas.trains.boards.form import read_board
from services.referee.games.trains.board import board_names, load_board
from tests.schemas.board_examples import OURS


def ids_of(board: str) -> BoardIds:
    return BoardIds(load_board(board).form)


@pytest.mark.parametrize(
    ("board", "text", "city"),
    [
        ("europe", "kiev", "kyiv"),
        ("europe", "Kiev", "kyiv"),
        ("europe", "Munich", "munchen"),
        ("europe", "MÜNCHEN", "munchen"),
        ("europe", "Saint Petersburg", "petrograd"),
        ("usa", "st-louis", "saint-louis"),
        ("usa", "St. Louis", "saint-louis"),
        ("usa", "Sault Sainte Marie", "sault-st-marie"),
        ("usa", "new york", "new-york"),
        ("usa", "munich", None),  # another board's
        ("usa", "sant louis", None),  # only like one
        ("usa", "new", None),
        ("usa", "", None),
        ("usa", "-", None),
        ("usa", "x" * 100_000, None),
    ],
)
def test_a_city_is_found_by_another_spelling_and_never_by_likeness(board: str, text: str, city: str) -> None:
    assert ids_of(board).city(text) == city


@pytest.mark.parametrize(
    ("board", "text", "routes"),
    [
        ("usa", "Atlanta-Miami", ["atlanta-miami-a"]),
        ("usa", "Miami - Atlanta", ["atlanta-miami-a"]),
        ("usa", "nashville-st-louis", ["nashville-saint-louis-a"]),
        ("usa", "New Orleans-Atlanta-B", ["atlanta-new-orleans-b"]),
        ("usa", "Atlanta-New Orleans", ["atlanta-new-orleans-a", "atlanta-new-orleans-b"]),
        ("iberia", "Toledo-Madrid-red", ["madrid-toledo-red"]),
        ("usa", "Atlanta-Seattle", []),
        ("usa", "Atlanta-Miami-b", []),
        ("usa", "Atlanta", []),
        ("usa", "-" * 100_000, []),
    ],
)
def test_a_route_is_found_by_its_cities_in_either_order(board: str, text: str, routes: list[str]) -> None:
    found = ids_of(board)
    assert found.routes_named(text) == routes
    assert found.route(text) == (routes[0] if len(routes) == 1 else None)


@pytest.mark.parametrize("board", board_names())
def test_every_id_and_every_name_that_only_one_city_has_finds_itself(board: str) -> None:
    form, found = load_board(board).form, ids_of(board)
    for city in form.cities:
        assert found.city(city.id) == found.city(city.name) == city.id
    for route in form.routes:
        assert found.route(route.id) == route.id


def test_a_spelling_that_two_cities_share_finds_neither() -> None:
    names: list[Any] = ["St. Gallen", "Saint Gallen"]
    cities = [{"id": f"c{n}", "name": name, "at": [n, 0]} for n, name in enumerate(names)]
    found = BoardIds(read_board({**OURS, "cities": cities, "routes": [], "tickets": []}))
    assert [found.city(text) for text in (*names, "sankt gallen")] == ["c0", "c1", None]


def test_what_is_not_there_is_answered_with_what_is_like_it() -> None:
    found = ids_of("usa")
    assert did_you_mean("atlanta-mimai-a", found.routes).startswith("; did you mean atlanta-miami-a")
    assert did_you_mean("zzz", found.routes) == ""
    assert found.routes_meant("atlanta-new-orleans") == ["atlanta-new-orleans-a", "atlanta-new-orleans-b"]
    assert found.cities_meant("bostn")[0] == "boston"
