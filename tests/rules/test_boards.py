"""The built-in boards: what each promises, and the page about them (docs/reference/boards.md)."""

from __future__ import annotations

import re
from collections import Counter
from dataclasses import fields
from pathlib import Path

import pytest

from schemas.errors import InvalidInputError
from schemas.trains.boards.form import BoardForm
from schemas.trains.boards.trains import read_trains_map, write_trains_map
from schemas.trains.rule_options import RULE_OPTIONS_SCHEMA, RuleOptions
from services.referee.games.trains.board import (
    board_names,
    load_board,
    with_pair_tickets,
)
from services.referee.games.trains.rulesets import TRAIN_RULESETS

PAGE = Path(__file__).parents[2] / "docs" / "reference" / "boards.md"
EVERY_BOARD = pytest.mark.parametrize("name", board_names())


def rule_options_of(name: str) -> RuleOptions:
    """The rule options of a game on this board, with its default ruleset."""
    board = load_board(name)
    return RULE_OPTIONS_SCHEMA.read(
        {
            **RULE_OPTIONS_SCHEMA.write(TRAIN_RULESETS[board.default_ruleset].rule_options),
            **board.rule_options,
        }
    )


def parallels(name: str) -> Counter[int]:
    """How many pairs of cities have one route, two, three."""
    pairs = Counter(frozenset((route.a, route.b)) for route in load_board(name).routes.values())
    return Counter(pairs.values())


def connected_cities(form: BoardForm) -> set[str]:
    """The cities that a path joins to the first one, countries as ends only."""
    countries = {city.id for city in form.cities if city.country}
    reached = {form.cities[0].id}
    for _ in form.cities:
        for route in form.routes:
            inner = [city for city in route.between if city in reached and city not in countries]
            reached |= set(route.between) if inner else set()
    return reached


# -- the built-in boards ----------------------------------------------------------------


def test_the_built_in_boards() -> None:
    wanted = ("europe", "germany", "iberia", "nordic", "switzerland", "usa", "usa-1910", "usa-mega")
    assert board_names() == wanted
    with pytest.raises(InvalidInputError, match="there is no board 'mars'; there is europe, "):
        load_board("mars")


@EVERY_BOARD
def test_a_board_is_named_like_its_file_and_is_connected_and_within_its_picture(name: str) -> None:
    board = load_board(name)
    assert board.id == name
    assert connected_cities(board.form) == set(board.cities)
    for city in board.form.cities:
        assert 0 < city.at[0] < board.form.size[0]
        assert 0 < city.at[1] < board.form.size[1]


@EVERY_BOARD
def test_every_route_of_a_board_is_worth_something_under_its_rules(name: str) -> None:
    points = rule_options_of(name).route_points
    for route in load_board(name).routes.values():
        assert (points[route.length - 1] or 0) > 0, route.id


@EVERY_BOARD
def test_a_board_sets_only_existing_rule_options(name: str) -> None:
    assert set(load_board(name).rule_options) <= {field.name for field in fields(RuleOptions)}


@EVERY_BOARD
def test_the_ticket_decks_are_enough_for_a_game_of_all_seats(name: str) -> None:
    board, played = load_board(name), rule_options_of(name)
    decks = Counter(ticket.deck for ticket in board.tickets.values())
    if played.pair_tickets:
        decks = Counter(
            ticket.deck for ticket in with_pair_tickets(board, played.pair_tickets).tickets.values()
        )
    for deck, offered in played.start_tickets.items():
        assert decks[deck] >= played.seats_most * offered


@pytest.mark.parametrize(
    ("name", "pairs"),
    [
        ("usa", {1: 56, 2: 22}),
        ("usa-1910", {1: 56, 2: 22}),
        ("usa-mega", {1: 56, 2: 22}),
        ("europe", {1: 79, 2: 11}),
        ("germany", {1: 62, 2: 21, 3: 2}),
        ("nordic", {1: 53, 2: 14}),
        ("switzerland", {1: 62, 2: 13}),
        ("iberia", {1: 61, 2: 14}),
    ],
)
def test_single_double_and_triple_routes(name: str, pairs: dict[int, int]) -> None:
    assert parallels(name) == pairs
    for route in load_board(name).routes.values():
        twins = [load_board(name).routes[twin] for twin in route.parallels]
        assert all({twin.a, twin.b} == {route.a, route.b} for twin in twins)
        assert route.id not in route.parallels


@pytest.mark.parametrize(
    ("name", "decks"),
    [
        ("usa", {"regular": 30}),
        ("usa-1910", {"regular": 35}),
        ("usa-mega", {"regular": 69}),
        ("europe", {"regular": 40, "long": 6}),
        ("germany", {"short": 23, "long": 23}),
        ("nordic", {"regular": 46}),
        ("switzerland", {"regular": 34}),
        ("iberia", {}),
    ],
)
def test_the_decks_of_tickets(name: str, decks: dict[str, int]) -> None:
    assert Counter(ticket.deck for ticket in load_board(name).tickets.values()) == decks


def test_ferries_and_tunnels_are_where_they_belong() -> None:
    kinds = {
        name: Counter(route.kind for route in load_board(name).routes.values()) for name in board_names()
    }
    assert kinds["nordic"] == {"rail": 47, "ferry": 24, "tunnel": 10}
    assert kinds["switzerland"] == {"rail": 46, "tunnel": 42}
    assert kinds["europe"].keys() == {"rail", "ferry", "tunnel"}
    assert all(kinds[name].keys() == {"rail"} for name in ("usa", "germany", "iberia"))
    for name in board_names():
        for route in load_board(name).routes.values():
            assert (route.kind == "ferry") == (route.locomotives > 0)
            assert route.fare == (route.length, route.color, route.locomotives)


def test_countries_and_merchandise_are_where_they_belong() -> None:
    germany, swiss = load_board("germany"), load_board("switzerland")
    assert germany.countries == {"danemark", "frankreich", "niederlande", "osterreich", "schweiz"}
    assert swiss.countries == {"deutschland", "france", "italia", "osterreich"}
    assert Counter(germany.merchandise.values()) == {"black": 1, "red": 6, "yellow": 12, "white": 16}
    assert germany.merchandise.keys() == germany.cities.keys() - germany.countries
    unsure = {city.id for city in germany.form.cities if city.unverified}
    assert unsure == germany.merchandise.keys() - {"berlin"}
    for name in board_names():
        if name not in ("germany", "switzerland"):
            assert not load_board(name).countries
        if name != "germany":
            assert not load_board(name).merchandise


def test_the_three_boards_of_the_usa_differ_in_tickets_alone() -> None:
    usa, added, every = load_board("usa"), load_board("usa-1910"), load_board("usa-mega")
    assert usa.form.cities == added.form.cities == every.form.cities
    assert usa.form.routes == added.form.routes == every.form.routes
    assert not usa.tickets.keys() & added.tickets.keys()
    assert usa.tickets.keys() | added.tickets.keys() < every.tickets.keys()


def test_iberia_keeps_what_a_trains_map_promises_and_is_even() -> None:
    board = load_board("iberia")
    assert board.default_ruleset == "trains"
    assert len(board.cities) >= 20
    assert {route.length for route in board.routes.values()} == {3, 4, 5}
    routes, spaces = Counter[str](), Counter[str]()
    ends: Counter[str] = Counter()
    for route in board.routes.values():
        routes[route.color] += 1
        spaces[route.color] += route.length
        ends.update((route.a, route.b))
    assert routes.keys() == {"red", "blue", "green", "white"}
    assert max(routes.values()) - min(routes.values()) <= 1
    assert max(spaces.values()) - min(spaces.values()) <= 3
    assert all(ends[city] >= 2 for city in board.cities)
    assert read_trains_map(write_trains_map(board.form), "iberia", "Iberia") == board.form


# -- the page -----------------------------------------------------------------------------


def test_the_page_has_every_board_as_it_is() -> None:
    rows = {
        cells[0].strip("`"): cells[1:]
        for line in PAGE.read_text().splitlines()
        if line.startswith("| `") and len(cells := [cell.strip() for cell in line.strip("|").split("|")]) == 9
    }
    assert rows.keys() == set(board_names())
    for name, cells in rows.items():
        board, played = load_board(name), rule_options_of(name)
        tickets = "every pair" if played.pair_tickets else str(len(board.tickets))
        assert cells == [
            str(len(board.cities) - len(board.countries)),
            str(len(board.countries) or "-"),
            str(len(board.routes)),
            tickets,
            f"`{board.default_ruleset}`",
            f"{played.seats_least}-{played.seats_most}",
            str(len(board.form.unverified) or "-"),
            str(len(board.form.not_built) or "-"),
        ], name


@EVERY_BOARD
def test_the_page_says_what_is_unverified_and_what_is_not_built(name: str) -> None:
    page = re.sub(r"\s+", " ", PAGE.read_text())
    for remark in (*load_board(name).form.unverified, *load_board(name).form.not_built):
        assert remark in page
