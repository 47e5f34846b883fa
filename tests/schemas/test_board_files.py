"""Board files of anybody: three forms are read; whatever else there is, is refused in words."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from schemas.errors import InvalidInputError
from schemas.trains.boards.aimas import read_aimas_map
from schemas.trains.boards.form import BOARD_SCHEMA, BoardForm
from schemas.trains.boards.trains import read_trains_map, write_trains_map
from services.trains.board_files import MAX_BOARD_BYTES, read_board_file
from tests.schemas.board_examples import AIMAS, NODES, OURS, TRAINS, changed


def read(folder: Path, content: str | bytes, name: str = "My Board.v2.json") -> BoardForm:
    path = folder / name
    path.write_bytes(content if isinstance(content, bytes) else content.encode())
    return read_board_file(path)


def refusal(folder: Path, content: str | bytes) -> str:
    with pytest.raises(InvalidInputError) as refused:
        read(folder, content)
    assert refused.value.field == "board"
    assert "My Board.v2.json: " in refused.value.reason
    return refused.value.reason.split("json: ", 1)[1]


# -- the three forms ------------------------------------------------------------------------


def test_our_own_form_is_read_with_or_without_a_byte_order_mark(tmp_path: Path) -> None:
    form = read(tmp_path, json.dumps(OURS))
    assert read(tmp_path, b"\xef\xbb\xbf" + json.dumps(OURS).encode()) == form
    assert (form.id, form.rules, form.options, form.unverified) == ("lakes", "marklin", {"cars": 20}, ())
    assert (form.routes[0].kind, form.routes[1].kind) == ("ferry", "rail")
    assert BOARD_SCHEMA.read(BOARD_SCHEMA.write(form)) == form


def test_the_example_on_the_page_is_a_board(tmp_path: Path) -> None:
    page = (Path(__file__).parents[2] / "docs" / "reference" / "boards.md").read_text()
    form = read(tmp_path, page.split("```json\n")[1].split("```")[0])
    assert (len(form.cities), len(form.routes), len(form.tickets)) == (3, 2, 1)


def test_a_trains_map_is_read_and_written_back(tmp_path: Path) -> None:
    form = read(tmp_path, json.dumps(TRAINS))
    assert (form.id, form.rules, form.size, form.tickets) == ("my-board", "trains", (200, 100), ())
    assert [city.id for city in form.cities] == ["bern", "aarau", "st-gallen", "alone"]
    assert [(route.id, route.length) for route in form.routes] == [
        ("aarau-bern-red", 3),
        ("aarau-bern-white", 5),
        ("aarau-st-gallen-blue", 4),
    ]
    assert write_trains_map(form)["connections"] == {
        "Aarau": {"Bern": {"red": 3, "white": 5}, "St. Gallen": {"blue": 4}}
    }
    assert read_trains_map(write_trains_map(form), "my-board") == form


def test_cities_whose_names_differ_in_signs_only_get_ids_of_their_own() -> None:
    names = ["San Juan", "San.Juan", "...", "san juan 2", ","]
    form = read_trains_map(
        {"width": 10, "height": 10, "cities": [[name, [0, 0]] for name in names], "connections": {}}
    )
    assert [city.id for city in form.cities] == ["san-juan", "san-juan-2", "city", "san-juan-2-2", "city-2"]


def test_what_a_trains_map_has_no_words_for_is_not_written(tmp_path: Path) -> None:
    with pytest.raises(InvalidInputError, match="route n-e: a Trains map has no ferry"):
        write_trains_map(read(tmp_path, json.dumps(OURS)))


def test_an_aimas_map_is_read(tmp_path: Path) -> None:
    form = read(tmp_path, AIMAS)
    assert (form.id, form.title, form.rules, form.size) == ("my-board", "Alps", "europe", (29, 60))
    assert [city.id for city in form.cities] == ["wien", "zurich", "zurich-2"]
    assert [(r.id, r.length, r.color, r.kind, r.locomotives) for r in form.routes] == [
        ("wien-zurich-a", 3, "red", "tunnel", 0),
        ("wien-zurich-b", 3, "gray", "tunnel", 0),
        ("zurich-zurich-2-a", 3, "black", "ferry", 1),
    ]
    assert form.options == {
        "pair_tickets": 10,
        "start_tickets": {"regular": 3},
        "start_keep": 2,
        "draw_tickets": {"regular": 3},
        "route_points": [None, None, 4],
    }


# -- what is wrong, and where ---------------------------------------------------------------


@pytest.mark.parametrize(
    ("path", "to", "why"),
    [
        (("cities", 1, "id"), "west", "city west is there twice"),
        (("cities", 0, "merchandise"), "red", "city north: a country has no merchandise"),
        (("cities", 2, "unverified"), True, "city west: has no merchandise that could be unverified"),
        (("cities", 2, "at"), [301, 0], "city west is off the picture"),
        (("routes", 1, "between"), ["east", "moon"], "route e-w: there is no city moon"),
        (("routes", 1, "between"), ["east", "east"], "route e-w joins a city to itself"),
        (("routes", 1, "id"), "n-e", "route n-e is there twice"),
        (("routes", 0, "locomotives"), 3, "route n-e: asks for more locomotives than its 2 spaces"),
        (("routes", 1, "length"), 21, "routes.1.length ('e-w'): must be 20 or less"),
        (("routes", 1, "kind"), "air", "routes.1.kind ('e-w'): must be rail, ferry or tunnel"),
        (("routes", 1, "wide"), 1, "routes.1.wide ('e-w'): there is no such field"),
        (("routes",), OURS["routes"][:1], "ticket n:w: no route leads to west"),
        (("tickets",), OURS["tickets"] * 2, "ticket n:w is there twice"),
        (("tickets", 0, "points"), "6", "tickets.0.points ('n:w'): must be a whole number"),
        (("format",), 2, "format: must be 1"),
    ],
)
def test_a_fault_in_our_form_is_told_with_its_entry(tmp_path: Path, path: Any, to: Any, why: str) -> None:
    assert refusal(tmp_path, changed(OURS, *path, to=to)).removeprefix("board: ") == why


@pytest.mark.parametrize(
    ("path", "to", "why"),
    [
        (("width",), 9, "width: must be a whole number from 10 to 800, not 9"),
        (("height",), True, "height: must be a whole number from 10 to 800, not True"),
        (("cities", 0), ["Bern"], "cities.0: must be [name, [x, y]], not ['Bern']"),
        (("cities", 0, 1), [201, 0], "cities.0: 'Bern' is off the map"),
        (("cities", 1, 0), "Bern", "cities.1: 'Bern' is there twice"),
        (("cities", 0, 0), "B/rn", "cities.0: 'B/rn' is no name: "),
        (("cities", 0, 0), "Genf", "connections: there is no city 'Bern'"),
        (("connections", "Bern", "Aarau"), {"pink": 3}, "connections.'Bern'.'Aarau': the colours are red, "),
        (
            ("connections", "Bern", "Aarau"),
            {"red": 6},
            "connections.'Bern'.'Aarau'.red: the length is 3, 4 or 5, not 6",
        ),
        (
            ("connections", "Bern", "Bern"),
            {"red": 3},
            "connections.'Bern'.'Bern': a connection joins a city to itself",
        ),
        (("connections", "Bern", "Rom"), {"red": 3}, "connections.'Bern'.'Rom': there is no city 'Rom'"),
        (("connections", "Aarau"), {"Bern": {"red": 3}}, "connections.'Aarau'.'Bern'.red: stands under both"),
        (("connections",), [], "connections: must be an object, not []"),
        (("more",), 1, "map: must be an object with cities, connections, height, width, and no more"),
    ],
)
def test_a_fault_in_a_trains_map_is_told_with_its_entry(tmp_path: Path, path: Any, to: Any, why: str) -> None:
    assert refusal(tmp_path, changed(TRAINS, *path, to=to)).startswith(why)


@pytest.mark.parametrize(
    ("old", "new", "why"),
    [
        ('value="4" eng="1"', 'value="5" eng="1"', "edge 1: is worth 5 with 3 spaces; edge 0 says 4"),
        ('node1="2"', 'node1="3"', "edge 1: node1: there is no node 3; there are 3, from 0"),
        ('node1="2"', 'node1="1"', "edge 1: joins node 1 to itself"),
        ('color1="n"', 'color1="0"', "edge 1: '0' is no colour"),
        ('cars="2"', 'cars="20"', "edge 1: has 21 spaces; a route has 1 to 20"),
        ('cars="2"', 'cars="²"', "edge 1: cars must be a whole number from 0 to 20, not '²'"),
        ('tunnel="0"', 'tunnel="2"', "edge 1: tunnel must be a whole number from 0 to 1, not '2'"),
        (' tunnel="0"', "", "edge 1: has no tunnel"),
        (' eng="1" cars="2"', "", "edge 1: has no cars, eng"),
        ('x="9"', 'x="-9"', "node 1: x must be a number from 0 to 10000, not '-9'"),
        ('"Wien"', '""', "node 0: name must have 1 to 40 characters that can be seen, not ''"),
        (NODES, "", "map: must have one <nodes>, and has 0"),
        ("</edges></map>", "</edges>", "map: is no XML: "),
        ('"1.0"', '"1.0" encoding="klingon" ?', "map: is no XML: "),
        ("<map", "<!DOCTYPE map [<!ENTITY a 'b'>]><map", "map: may not declare a document type or entities"),
    ],
)
def test_a_fault_in_an_aimas_map_is_told_with_its_number(
    tmp_path: Path, old: str, new: str, why: str
) -> None:
    assert refusal(tmp_path, AIMAS.replace(old, new)).startswith(why)


def test_xml_of_another_kind_is_refused_however_deep_it_is() -> None:
    with pytest.raises(InvalidInputError, match="begins with <svg>, not <map>"):
        read_aimas_map("<svg/>")
    with pytest.raises(InvalidInputError, match="begins with <a>, not <map>"):
        read_aimas_map("<a>" * 100_000 + "</a>" * 100_000)
    with pytest.raises(InvalidInputError, match="are allowed") as refused:
        read_aimas_map(" " * 2_000_001)
    assert refused.value.rule == "SIZE-1"


@pytest.mark.parametrize(
    ("content", "why"),
    [
        (b"\xff\xfe{}", "isn't UTF-8 text: byte 0 is no part of a letter"),
        (b"", "is neither JSON nor XML: Expecting value in line 1, column 1"),
        (b"[" * 100_000, "is nested too deep"),
        (b"9" * 5_000, "holds a number of thousands of digits"),
        (b'{"id": 1, "id": 2}', "'id' stands twice in one object"),
        (b" " * (MAX_BOARD_BYTES + 1), f"has more than {MAX_BOARD_BYTES} bytes"),
        (b"[]", "board: must be an object"),
    ],
)
def test_what_is_no_board_at_all(tmp_path: Path, content: bytes, why: str) -> None:
    assert refusal(tmp_path, content) == why


@pytest.mark.parametrize("name", ["missing.json", ".", "a\0b"])
def test_a_file_that_cannot_be_read(tmp_path: Path, name: str) -> None:
    with pytest.raises(InvalidInputError, match="can't be read: "):
        read_board_file(f"{tmp_path}/{name}")


# -- whatever comes -------------------------------------------------------------------------


def leaves(value: Any, path: tuple[Any, ...] = ()) -> list[tuple[Any, ...]]:
    inner = value.items() if isinstance(value, dict) else enumerate(value) if isinstance(value, list) else ()
    return [path] * bool(path) + [leaf for key, part in inner for leaf in leaves(part, (*path, key))]


anything = st.recursive(
    st.none()
    | st.booleans()
    | st.integers()
    | st.floats()
    | st.text(max_size=8)
    | st.sampled_from(["west", "Bern", "gray", "ferry"]),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=5), inner, max_size=3),
    max_leaves=6,
)


@st.composite
def one_place_changed(draw: st.DrawFn) -> bytes:
    valid = draw(st.sampled_from([OURS, TRAINS]))
    return changed(valid, *draw(st.sampled_from(leaves(valid))), to=draw(anything)).encode()


@st.composite
def some_bytes_changed(draw: st.DrawFn) -> bytes:
    content = draw(st.sampled_from([json.dumps(OURS), json.dumps(TRAINS), AIMAS])).encode()
    for _ in range(draw(st.integers(1, 4))):
        start = draw(st.integers(0, len(content)))
        end = min(len(content), start + draw(st.integers(0, 12)))
        content = (
            content[:start] + draw(st.binary(max_size=6) | st.just(content[start:end] * 2)) + content[end:]
        )
    return content


@given(content=one_place_changed() | some_bytes_changed() | st.binary(max_size=60))
def test_only_a_board_or_a_refusal_ever_comes(
    tmp_path_factory: pytest.TempPathFactory, content: bytes
) -> None:
    path = tmp_path_factory.getbasetemp() / "any.json"
    path.write_bytes(content)
    try:
        form = read_board_file(path)
    except InvalidInputError as refused:
        assert refused.field == "board"
        assert refused.reason.startswith(str(path))
    else:
        assert BOARD_SCHEMA.read(BOARD_SCHEMA.write(form)) == form
