"""What is built of a board's form: routes, the tickets of pairs, and the digest (services/referee/games/trains/board.py)."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest

from schemas.trains.boards.form import BoardForm, TicketForm, read_board
from services.referee.games.trains.board import (
    _read_board_file,
    build_board,
    load_board,
    with_pair_tickets,
    with_tickets,
)


def small(**changed: Any) -> BoardForm:
    """Two islands: Ulm - Aa - Bern with a country behind Aa, and Cork - Derry far off."""
    cities = {"u": "Ulm", "a": "Aa", "b": "Bern", "c": "Cork", "d": "Derry", "x": "Xanadu", "y": "Yonder"}
    routes = [("u", "a"), ("a", "b"), ("c", "d"), ("x", "a"), ("x", "c"), ("y", "d")]
    form: dict[str, Any] = {
        "format": 1,
        "id": "small",
        "title": "Small",
        "size": [10, 10],
        "cities": [
            {"id": id_, "name": name, "at": [1, 1], "country": id_ in "xy"} for id_, name in cities.items()
        ],
        "routes": [{"id": "".join(ends), "between": ends, "length": 2, "color": "red"} for ends in routes],
        "tickets": [],
    }
    return read_board(form | changed)


def test_pairs_are_the_cities_that_a_path_joins_and_no_path_leads_through_a_country() -> None:
    board = with_pair_tickets(build_board(small()), 7)
    assert list(board.tickets) == [
        *("a:b", "a:u", "a:x"),
        *("b:u", "b:x"),
        *("c:d", "c:x", "c:y"),
        *("d:x", "d:y"),
        "u:x",
        "x:y",
    ]
    assert {(ticket.points, ticket.deck) for ticket in board.tickets.values()} == {(7, "regular")}
    assert (board.tickets["a:b"].a, board.tickets["a:b"].b) == ("a", "b")
    assert board.form == small()


def test_pairs_stand_in_the_order_of_names_not_of_ids() -> None:
    cities = [{"id": "a", "name": "Zug", "at": [0, 0]}, {"id": "b", "name": "Au", "at": [0, 0]}]
    route = {"id": "r", "between": ["a", "b"], "length": 3, "color": "red"}
    assert list(with_pair_tickets(build_board(small(cities=cities, routes=[route])), 10).tickets) == ["b:a"]


def test_equal_forms_are_one_board_and_so_are_its_pairs() -> None:
    assert build_board(small()) is build_board(small())
    assert with_pair_tickets(build_board(small()), 7) is with_pair_tickets(build_board(small()), 7)
    _read_board_file.cache_clear()  # what it built before may have made room for other boards meanwhile
    assert build_board(load_board("nordic").form) is load_board("nordic")


def test_tickets_can_be_added_to_a_board() -> None:
    board = build_board(small())
    assert with_tickets(board, ()) is board
    more = with_tickets(board, [TicketForm("b:u", ("b", "u"), 9, "regular")])
    assert (more.tickets["b:u"].points, more.routes) == (9, board.routes)
    assert more.digest != board.digest


def changes_of_play() -> list[Any]:
    def changed(part: str, **fields: Any) -> BoardForm:
        rows = getattr(small(), part)
        parts: dict[str, Any] = {part: (replace(rows[0], **fields), *rows[1:])}
        return replace(small(), **parts)

    ticket = {"id": "t", "between": ["u", "b"], "points": 3, "deck": "regular"}
    return [
        pytest.param(changed("routes", length=3), id="length"),
        pytest.param(changed("routes", color="gray"), id="colour"),
        pytest.param(changed("routes", kind="tunnel"), id="kind"),
        pytest.param(changed("routes", locomotives=1), id="locomotives"),
        pytest.param(changed("cities", country=True), id="country"),
        pytest.param(changed("cities", merchandise="red"), id="merchandise"),
        pytest.param(small(tickets=[ticket]), id="tickets"),
    ]


@pytest.mark.parametrize("form", changes_of_play())
def test_the_digest_differs_for_boards_that_are_played_differently(form: BoardForm) -> None:
    assert build_board(form).digest != build_board(small()).digest


def test_the_digest_is_the_same_whatever_the_picture_is() -> None:
    form = small()
    moved = replace(form, title="Smaller", cities=(replace(form.cities[0], at=(2, 2)), *form.cities[1:]))
    assert build_board(moved).digest == build_board(form).digest
    assert with_pair_tickets(build_board(form), 7).digest != with_pair_tickets(build_board(form), 8).digest


def test_parallel_routes_share_what_they_know_of_each_other() -> None:
    """A board of 1,000 of them, each with its own list, took 8 MB in every process that has its game."""
    rows = [{"id": f"r{n}", "between": ["u", "a"], "length": 1, "color": "red"} for n in range(1_000)]
    routes = build_board(small(routes=rows)).routes
    assert len({id(route.lanes) for route in routes.values()}) == 1
    assert routes["r7"].parallels == tuple(name for name in routes if name != "r7")
