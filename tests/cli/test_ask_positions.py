"""Positions as an outsider writes them: how they are counted, and which can't be."""

from __future__ import annotations

from typing import Any

import pytest

from schemas.errors import InvalidInputError
from services.cli.trains.ask import answer_query
from tests.cli.command_line import ROOT
from tests.cli.test_ask_cases import BLUE3, PURPLE2, THREE, action, question, ticket

# -- how it is counted -----------------------------------------------------------------------

LENT = {"paris-zurich-a": 0, "munchen-zurich-a": 1, "venezia-zurich-a": 1}
LENT_TICKETS = [[ticket("munchen", "paris", 5), ticket("paris", "venezia", 9)]]
SQUARE = [
    "alicante-valencia-red",
    "alicante-valencia-blue",
    "albacete-valencia-green",
    "albacete-alicante-white",
]
SCORES: list[tuple[str, dict[str, Any], str, list[int]]] = [
    ("usa", {"routes": {BLUE3: 0}, "points": [33, -4]}, "routes", [4, 0]),
    ("usa", {"routes": dict.fromkeys(("boston-montreal-a", BLUE3, "boston-new-york-a", "new-york-washington-a"), 0)}, "longest", [9, 0]),
    ("usa", {"routes": {"boston-montreal-a": 0, "dallas-little-rock-a": 1}}, "longest_bonus", [10, 10]),
    ("usa", {}, "longest_bonus", [0, 0]),
    ("usa", {"routes": {"boston-montreal-a": 0}, "tickets": [[ticket("montreal", "boston", 3)], [ticket("miami", "boston", 12)]]},
     "ticket_points", [3, -12]),
    ("europe", {}, "place", [1, 1, 1]),
    ("europe", {"routes": LENT, "tickets": LENT_TICKETS, "stations": {"zurich": {"seat": 0}}}, "ticket_points", [4, 0, 0]),
    ("europe", {"routes": LENT, "tickets": LENT_TICKETS, "stations": {"zurich": {"seat": 0, "neighbour": "munchen"}}},
     "ticket_points", [-4, 0, 0]),
    ("europe", {"routes": LENT, "tickets": LENT_TICKETS, "stations": {"zurich": {"seat": 0}}}, "longest", [3, 4, 0]),
    ("europe", {"stations": {"zurich": {"seat": 0}, "roma": {"seat": 2, "neighbour": "venezia"}}}, "station_points", [8, 12, 8]),
    ("europe", {"passengers": {"koeln": 0}, "tokens": {"berlin": [7, 6, 5, 4]}, "merchandise": [0, 0, 0]}, "total", [12, 12, 12]),
    ("marklin", {"routes": {"freiburg-schweiz-a": 0, "konstanz-schweiz-a": 0}, "tickets": [[ticket("freiburg", "konstanz", 5)]]},
     "ticket_points", [-5, 0, 0]),
    ("marklin", {"routes": {"danemark-kiel-a": 0, PURPLE2: 1}, "tickets": [[ticket("kiel", "danemark", 4)], [ticket("kiel", "hamburg", 6)]]},
     "most_tickets_bonus", [10, 10, 0]),
    ("marklin", {"merchandise": [5, 3], "routes": {"chemnitz-leipzig-a": 1}}, "place", [1, 2, 3]),
    ("trains", {"routes": dict.fromkeys(SQUARE, 0)}, "longest", [6, 0]),
    ("trains", {"routes": {"madrid-toledo-white": 0}, "tickets": [[ticket("madrid", "toledo", 10), ticket("lisboa", "madrid", 10)]]},
     "total", [23, 0]),
]  # fmt: skip


@pytest.mark.parametrize(
    ("rules", "position", "column", "expected"), SCORES, ids=[f"{row[0]} {row[2]} {row[3]}" for row in SCORES]
)
def test_the_score_is_that_of_the_rules(
    rules: str, position: dict[str, Any], column: str, expected: list[int]
) -> None:
    score: Any = answer_query(question(rules, position, score=True), ROOT)["score"]
    assert [row[column] for row in score] == expected
    for row in score:
        parts = (
            "routes",
            "ticket_points",
            "longest_bonus",
            "station_points",
            "merchandise",
            "most_tickets_bonus",
        )
        assert row["total"] == sum(row[part] for part in parts)


# -- what can't be ---------------------------------------------------------------------------

BAD: list[tuple[str, dict[str, Any], str]] = [
    ("europe", {"cars": [46]}, "cars.0"),
    ("europe", {"hands": [{"locomotive4": 1}]}, "hands.0.locomotive4"),
    ("europe", {"hands": [{}, {"passenger": 1}]}, "hands.1.passenger"),
    ("europe", {"hands": [{}] * 4}, "hands"),
    ("europe", {"market": ["red"] * 6}, "market"),
    ("europe", {"deck": ["red", "pink"]}, "deck.1"),
    ("europe", {"routes": {"paris-zurich-a": 3}}, "routes.paris-zurich-a"),
    ("europe", {"routes": {"madrid-pamplona-a": 0, "madrid-pamplona-b": 0}}, "routes.madrid-pamplona-a"),
    ("europe", {"tickets": [[ticket("gotham", "paris", 4)]]}, "tickets.0.0"),
    ("europe", {"tickets": [[ticket("paris", "wien", 8)], [ticket("wien", "paris", 8)]]}, "tickets.1.0"),
    ("europe", {"ticket_decks": {"short": []}}, "ticket_decks.short"),
    ("europe", {"stations": {"wien": {"seat": 1, "neighbour": "paris"}}}, "stations.wien"),
    ("europe", {"stations": {c: {"seat": 0} for c in (*THREE, "paris")}}, "stations.paris"),
    ("marklin", {"passengers": {"schweiz": 0}}, "passengers.schweiz"),
    ("marklin", {"passengers": {"koeln": 0}}, "passengers.koeln"),
    ("marklin", {"tokens": {"gotham": [1]}}, "tokens.gotham"),
    ("trains", {"hands": [{"locomotive": 1}]}, "hands.0.locomotive"),
    ("trains", {"market": ["red"]}, "market"),
]


@pytest.mark.parametrize(("rules", "position", "entry"), BAD, ids=[f"{row[0]} {row[2]}" for row in BAD])
def test_a_position_that_cannot_be_is_refused_by_its_entry(
    rules: str, position: dict[str, Any], entry: str
) -> None:
    with pytest.raises(InvalidInputError, match=rf"position\.{entry}\b"):
        answer_query(question(rules, position), ROOT)


@pytest.mark.parametrize(
    "field", ["turn", "hands", "cars", "tickets", "merchandise", "points", "deck", "market"]
)
def test_a_field_with_nothing_behind_it_is_left_out(field: str) -> None:
    draw = [action("draw_blind")]
    plain = answer_query(question("usa", {}, commands=draw, score=True), ROOT)
    assert (
        answer_query(question("usa", {field: None}, commands=draw, score=True, legal=None, board=None), ROOT)
        == plain
    )
    assert answer_query({"seats": 2, "commands": None, "position": None}, ROOT) == {"verdicts": []}


# -- cities by their names -------------------------------------------------------------------


def test_a_city_may_be_called_by_its_name() -> None:
    ids = {
        "routes": {"paris-zurich-a": 0, "munchen-zurich-a": 1},
        "tickets": [[ticket("paris", "munchen", 5)]],
        "ticket_decks": {"regular": [ticket("roma", "wien", 5)]},
        "stations": {"zurich": {"seat": 0, "neighbour": "munchen"}},
        "passengers": {"athina": 0},
        "tokens": {"athina": [3]},
        "hands": [{"red": 2}],
    }
    names = {
        **ids,
        "tickets": [[ticket("Paris", "München", 5)]],
        "ticket_decks": {"regular": [ticket("Roma", "WIEN", 5)]},
        "stations": {"Zürich": {"seat": 0, "neighbour": "München"}},
        "passengers": {"Athína": 0},
        "tokens": {"Athína": [3]},
    }
    build = action("build_station", cards={"red": 2}, city="athina", neighbour="sofia")
    draws = [action("draw_tickets", 1), action("keep_tickets", 1, keep=[0])]
    by_id: Any = answer_query(question("europe", ids, commands=[build, *draws], score=True), ROOT)
    by_name = question(
        "europe", names, commands=[{**build, "city": "Athína", "neighbour": "Sofia"}, *draws], score=True
    )
    assert [verdict["accepted"] for verdict in by_id["verdicts"]] == [True] * 3
    assert by_id["score"][0]["tickets"][0]["made"]
    assert answer_query(by_name, ROOT) == by_id


def test_a_city_by_its_name_and_by_its_id_is_there_twice() -> None:
    stations = {"zurich": {"seat": 0}, "Zürich": {"seat": 1}}
    with pytest.raises(InvalidInputError, match=r"position\.stations\.Zürich: zurich is there already"):
        answer_query(question("europe", {"stations": stations}), ROOT)


def test_the_cities_of_a_trains_map_are_those_of_its_file() -> None:
    board = {
        "width": 100,
        "height": 100,
        "cities": [["St. Gallen", [10, 20]], ["Bern", [30, 40]], ["New York", [50, 60]]],
        "connections": {"Bern": {"St. Gallen": {"red": 3}, "New York": {"blue": 4}}},
    }
    position = {
        "routes": {"bern-st-gallen-red": 0, "bern-new-york-blue": 0},
        "tickets": [[ticket("New York", "St. Gallen", 10)]],
    }
    answer: Any = answer_query(question("trains", position, board=board, score=True), ROOT)
    assert answer["score"][0]["total"] == 3 + 4 + 10 + 20
