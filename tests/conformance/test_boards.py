"""Our boards against the source data that they were made from, and other people's Trains maps."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from schemas.trains.boards.trains import read_trains_map, write_trains_map
from services.referee.games.trains.board import Board, load_board
from tests.conformance.recorded import CASES, read

MAPS = CASES.parent / "maps"
FOLDER = {"nordic": MAPS / "more", "switzerland": MAPS / "more"}


def read_source(name: str) -> Any:
    return read(FOLDER.get(name, MAPS) / f"{name}.json")


def tickets(board: Board) -> dict[tuple[str, str], tuple[int, str]]:
    return {(t.a, t.b): (t.points, t.deck) for t in board.tickets.values()}


def source_tickets(rows: list[Any]) -> dict[tuple[str, str], tuple[int, str]]:
    return {tuple(row["between"]): (row["points"], row["deck"]) for row in rows}


@pytest.mark.parametrize("name", ["usa", "europe", "germany", "nordic", "switzerland"])
def test_a_board_equals_its_source(name: str) -> None:
    board, source = load_board(name), read_source(name)
    assert board.cities == {city["id"]: city["name"] for city in source["cities"]}
    assert board.form.size == (source["width"], source["height"])
    assert {city.id: city.at for city in board.form.cities} == {
        city["id"]: (city["x"], city["y"]) for city in source["cities"]
    }
    assert [
        [route.id, [route.a, route.b], route.length, route.color, route.kind, route.locomotives]
        for route in board.routes.values()
    ] == [
        [row[part] for part in ("id", "between", "length", "color", "kind", "locomotives")]
        for row in source["routes"]
    ]
    assert tickets(board) == source_tickets(source["tickets"])
    assert len(board.tickets) == len(source["tickets"])
    assert board.countries == {city["id"] for city in source["cities"] if city.get("country")}
    assert board.merchandise == {
        city["id"]: city["merchandise"] for city in source["cities"] if "merchandise" in city
    }


def test_germany_marks_what_its_source_does_not_vouch_for() -> None:
    source = read_source("germany")
    unsure = {city["id"] for city in source["cities"] if city.get("merchandise_verified") is False}
    assert {city.id for city in load_board("germany").form.cities if city.unverified} == unsure
    assert load_board("germany").form.unverified


def test_the_tickets_of_1910() -> None:
    source = read(MAPS / "more" / "usa_1910_tickets.json")
    added, reissued = source_tickets(source["tickets_1910"]), source_tickets(source["tickets_mega"])
    assert tickets(load_board("usa-1910")) == added
    assert tickets(load_board("usa-mega")) == {**added, **reissued}


def maps(path: Path) -> Iterator[Any]:
    """Every map in a case's input: a row of JSON values."""
    text, reader = path.read_text(), json.JSONDecoder()
    while text := text.lstrip():
        value, end = reader.raw_decode(text)
        text = text[end:]
        if isinstance(value, dict) and "connections" in value:
            yield value


def normalized(value: Any) -> Any:
    """A map without the order of its connections, which are keyed by their cities and colour."""
    connections = {
        (*sorted((one, other)), color): length
        for one, ends in value["connections"].items()
        for other, colors in ends.items()
        for color, length in colors.items()
    }
    return value["width"], value["height"], value["cities"], connections


def test_every_trains_map_of_the_cases_is_read_and_written_back() -> None:
    map_count = 0
    for path in sorted((CASES / "trains").rglob("*-in.json")) + sorted((CASES / "trains" / "maps").glob("*")):
        for value in maps(path):
            assert normalized(write_trains_map(read_trains_map(value))) == normalized(value), path.name
            map_count += 1
    assert map_count > 50
