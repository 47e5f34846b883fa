"""AI-MAS maps as their clients have them: edges that name cities, no places, tickets in a file beside the map."""

from __future__ import annotations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from schemas.errors import InvalidInputError
from schemas.trains.boards.aimas import read_aimas_map, with_listed_tickets
from schemas.trains.boards.form import BOARD_SCHEMA, BoardForm
from services.referee.games import UnloggedRejectionError
from tests.rules.given import started

CITIES = ("Edinburgh", "London", "Paris", "Frankfurt", "Wien", "Roma")


NODES = "".join(f'<node name="{name}"/>' for name in CITIES)


def edge(node1: object, node2: object, more: str = "", /, **changes: object) -> str:
    """An edge as XML; attributes are changed as named, and left out where they are None."""
    attributes: dict[str, object] = {
        "node1": node1, "node2": node2, "color1": "*", "color2": "0", "value": 2, "eng": 0, "cars": 2, "tunnel": 0,
    }  # fmt: skip
    attributes |= changes
    written = (f'{name}="{value}"' for name, value in attributes.items() if value is not None)
    return f"<edge {' '.join(written)} {more}/>"


def xml(*edges: str, nodes: str = NODES) -> str:
    return f'<map name="Kit"><nodes>{nodes}</nodes><edges>{"".join(edges)}</edges></map>'


LOOP = [edge(a, b) for a, b in zip(CITIES, (*CITIES[1:], CITIES[0]), strict=True)]


def ends(form: BoardForm) -> list[tuple[str, str]]:
    return [route.between for route in form.routes]


def refusal(text: str) -> str:
    with pytest.raises(InvalidInputError) as refused:
        read_aimas_map(text)
    assert str(refused.value).isprintable()
    return str(refused.value)


# -- edges -------------------------------------------------------------------------------------------


def test_edges_name_cities_or_their_positions_or_both() -> None:
    by_name = read_aimas_map(xml(edge("Edinburgh", "London"), edge("Roma", "Wien", color1="r", color2="b")))
    by_position = read_aimas_map(xml(edge(0, 1), edge(5, 4, color1="r", color2="b")))
    mixed = read_aimas_map(xml(edge("Edinburgh", 1), edge(5, " Wien ", color1="r", color2="b")))
    assert by_name == by_position == mixed
    assert ends(by_name) == [("edinburgh", "london"), ("roma", "wien"), ("roma", "wien")]


def test_a_name_comes_before_a_position() -> None:
    nodes = '<node name="2"/><node name="0"/><node name="Paris"/>'
    assert ends(read_aimas_map(xml(edge("2", "0"), nodes=nodes))) == [("0", "2")]
    assert ends(read_aimas_map(xml(edge("2", "1"), nodes=nodes))) == [("0", "2")]


def test_names_are_as_the_nodes_write_them() -> None:
    nodes = '<node name=" Köln "/><node name="A &amp; B"/>'
    form = read_aimas_map(xml(edge("Köln", "A &amp; B"), nodes=nodes))
    assert ([city.name for city in form.cities], ends(form)) == (["Köln", "A & B"], [("a-b", "koln")])


@pytest.mark.parametrize(
    ("node1", "node2", "why"),
    [
        ("Edinbrugh", "London", "edge 0: node1: there is no node 'Edinbrugh'"),
        ("London", "edinburgh", "edge 0: node2: there is no node 'edinburgh'"),
        ("London", "6", "edge 0: node2: there is no node 6; there are 6, from 0"),
        ("London", "-1", "edge 0: node2: there is no node '-1'"),
        ("London", "1.0", "edge 0: node2: there is no node '1.0'"),
        ("London", "", "edge 0: node2: there is no node ''"),
        ("London", "9" * 5000, "edge 0: node2: there is no node '999"),
        ("London", "&#x202e;x", "edge 0: node2: there is no node '\\u202ex'"),
        ("London", "London", "edge 0: joins node 1 to itself"),
        ("London", "1", "edge 0: joins node 1 to itself"),
        (None, "London", "edge 0: has no node1"),
        (None, None, "edge 0: has no node1, node2"),
    ],
)
def test_a_fault_in_an_edges_cities_is_named(node1: object, node2: object, why: str) -> None:
    assert refusal(xml(edge(node1, node2))).startswith(why)


def test_a_name_of_two_nodes_must_be_a_position() -> None:
    nodes = '<node name="Wien"/><node name="Graz"/><node name="Wien "/>'
    assert refusal(xml(edge("Wien", "Graz"), nodes=nodes)) == (
        "edge 0: node1: 2 nodes are called 'Wien': refer to one by its position"
    )
    assert ends(read_aimas_map(xml(edge("2", "Graz"), nodes=nodes))) == [("graz", "wien-2")]


def test_attributes_that_are_not_known_are_ignored() -> None:
    nodes = '<node id="7" name="Wien" label="W" x="3" y="4"/><node name="Graz" x="1" y="1" country="AT"/>'
    text = xml(edge("Wien", "Graz", 'id="e1" length="9" owner="-1"'), nodes=nodes)
    assert read_aimas_map(text.replace("<map ", '<map version="2" ')) == read_aimas_map(
        xml(edge(0, 1), nodes='<node name="Wien" x="3" y="4"/><node name="Graz" x="1" y="1"/>')
    )


@pytest.mark.parametrize(
    ("text", "why"),
    [
        (xml(nodes="<node/>"), "node 0: has no name"),
        (
            xml(nodes='<node name="  "/>'),
            "node 0: name must have 1 to 40 characters that can be seen, not ''",
        ),
        (xml(nodes=f'<node name="{"x" * 41}"/>'), "node 0: name must have 1 to 40 characters"),
        (xml(nodes='<node name="a&#9;b&#x200b;"/>'), "node 0: name must have 1 to 40 characters"),
        (xml(nodes='<node name="a" x="b"/>'), "node 0: x must be a number from 0 to 10000, not 'b'"),
        (xml(nodes='<node name="a" x="1e3"/>'), "node 0: x must be a number from 0 to 10000, not '1e3'"),
        (xml(nodes='<node name="a" x="1.2.3"/>'), "node 0: x must be a number from 0 to 10000"),
        (xml(nodes='<node name="a" x="10000.5"/>'), "node 0: x must be a number from 0 to 10000"),
        (xml(nodes='<city name="a"/>'), "node 0: is a <city>"),
        (xml().replace('"Kit"', f'"{"x" * 41}"'), "map: name must have 1 to 40 characters"),
        (xml(*[edge(0, 1)] * 1001), "edges: there are 1001, 1000 at most"),
        (xml(*[edge(0, 1, color2="r")] * 501), "routes: "),
        (xml(nodes='<node name="a"/>' * 501), "nodes: there are 501, 500 at most"),
    ],
)
def test_a_fault_in_a_node_or_in_the_map_is_named(text: str, why: str) -> None:
    assert refusal(text).startswith(why)


# -- places ------------------------------------------------------------------------------------------


def test_cities_without_places_lie_on_a_circle_the_first_on_top() -> None:
    form = read_aimas_map(xml(*LOOP))
    places = [city.at for city in form.cities]
    assert places[0] == (500, 20)
    assert len(set(places)) == len(CITIES)
    assert all(abs((x - 500) ** 2 + (y - 500) ** 2 - 480**2) < 1500 for x, y in places)
    assert all(x <= form.size[0] and y <= form.size[1] for x, y in places)


def test_a_place_may_have_decimals() -> None:
    nodes = '<node name="Wien" x="10.5" y="20.75"/><node name="Graz" x="1." y="3"/>'
    assert refusal(xml(edge("Wien", "Graz"), nodes=nodes)).startswith("node 1: x must be a number")
    form = read_aimas_map(xml(edge("Wien", "Graz"), nodes=nodes.replace("1.", "1.4")))
    assert [city.at for city in form.cities] == [(10, 21), (1, 3)]


def test_one_city_without_a_place_puts_all_of_them_on_the_circle() -> None:
    nodes = '<node name="Wien" x="3" y="4"/><node name="Graz" x="1"/>'
    form = read_aimas_map(xml(edge("Wien", "Graz"), nodes=nodes))
    assert [city.at for city in form.cities] == [(500, 20), (500, 980)]


def test_a_map_without_a_node_is_a_board_that_no_game_is_played_on() -> None:
    form = read_aimas_map(xml(nodes=""))
    assert (form.cities, form.routes) == ((), ())
    with pytest.raises(UnloggedRejectionError, match="the board has 0"):
        started(2, rules="europe", board=BOARD_SCHEMA.write(form))


# -- whatever comes ----------------------------------------------------------------------------------

anything = st.recursive(
    st.none()
    | st.booleans()
    | st.integers(-2, 200)
    | st.floats()
    | st.sampled_from([*CITIES, "long", "0", ""]),
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(st.sampled_from(["long", "short"]), inner),
    max_leaves=12,
)
reference = st.sampled_from([*CITIES, "0", "5", "6", "", "Rom"]) | st.none()
rows = st.lists(
    st.tuples(reference | st.integers(-1, 6), reference, st.integers(0, 101)).map(list), max_size=3
)


@settings(max_examples=80, deadline=None)
@given(
    pairs=st.lists(st.tuples(reference, reference), max_size=5),
    attribute=st.sampled_from(["color1", "color2", "value", "eng", "cars", "tunnel"]),
    value=st.sampled_from(["0", "1", "-1", "21", "r", "none", "*", "", "x", None]),
    tickets=anything | st.fixed_dictionaries({"short": rows}, optional={"long": rows}),
)
def test_only_a_board_or_a_refusal_ever_comes(
    pairs: list[tuple[str | None, str | None]], attribute: str, value: str | None, tickets: object
) -> None:
    try:
        form = read_aimas_map(
            xml(*LOOP[:4], *(edge(*pair) for pair in pairs), edge(0, 1, **{attribute: value}))
        )
        form = with_listed_tickets(form, tickets)
    except InvalidInputError as refused:
        assert str(refused).isprintable()
    else:
        assert BOARD_SCHEMA.read(BOARD_SCHEMA.write(form)) == form
