"""The map of the AI-MAS competition as XML:

    <map name="Europe"><nodes><node name="Wien" x="517" y="402"/>..</nodes>
    <edges><edge node1="0" node2="1" color1="r" color2="0" value="4" eng="0" cars="3" tunnel="0"/>..</edges></map>

A node's number is its index in the list, from 0, and so is an edge's here. `value` is the
route's points, `eng` the locomotives that it asks for, `cars` its other spaces. The file has
no tickets: every pair of joined cities is one.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from reprlib import repr as short_repr
from typing import Any, Final, NamedTuple
from xml.etree import ElementTree as Xml

from schemas.boards.form import BoardForm, read_board
from schemas.boards.ids import make_unique, slug
from schemas.errors import InvalidInputError

MAX_TEXT_LENGTH: Final = 2_000_000  # characters
COLORS: Final = {
    "p": "purple",
    "w": "white",
    "b": "blue",
    "y": "yellow",
    "o": "orange",
    "r": "red",
    "g": "green",
    "n": "black",
    "*": "gray",
}
NO_SECOND_COLOR: Final = ("0", "none")
_MARGIN: Final = 20  # of the picture, around the outermost cities
_NODE_ATTRIBUTES: Final = {"name", "x", "y"}
_EDGE_ATTRIBUTES: Final = {"node1", "node2", "color1", "color2", "value", "eng", "cars", "tunnel"}


class _Edge(NamedTuple):
    number: int
    ends: tuple[int, int]
    colors: tuple[str, ...]
    points: int
    locomotives: int
    length: int
    tunnel: bool


def read_aimas_map(text: str, name: str = "map") -> BoardForm:
    """The board of an AI-MAS map. Raises InvalidInputError, naming the node or edge by its number."""
    root = _parse_xml(text)
    nodes, edges = _find_section(root, "nodes"), _find_section(root, "edges")
    cities = [_read_city(n, node) for n, node in enumerate(_iter_rows(nodes, "node", _NODE_ATTRIBUTES))]
    for city, id_ in zip(cities, make_unique(slug(city["name"], "city") for city in cities), strict=True):
        city["id"] = id_
    parsed_edges = [
        _read_edge(n, edge, len(cities)) for n, edge in enumerate(_iter_rows(edges, "edge", _EDGE_ATTRIBUTES))
    ]
    width, height = (max((city["at"][axis] for city in cities), default=0) for axis in (0, 1))
    return read_board(
        {
            "format": 1,
            "id": name,
            "title": root.get("name") or "AI-MAS map",
            "size": [min(width + _MARGIN, 10_000), min(height + _MARGIN, 10_000)],
            "rules": "europe",
            "options": {
                "pair_tickets": 10,
                "start_tickets": {"regular": 3},
                "start_keep": 2,
                "draw_tickets": {"regular": 3},
                "route_points": _route_points(parsed_edges),
            },
            "cities": cities,
            "routes": _build_routes(parsed_edges, [city["id"] for city in cities]),
            "tickets": [],
        }
    )


def _parse_xml(text: str) -> Xml.Element:
    if len(text) > MAX_TEXT_LENGTH:
        raise InvalidInputError("map", f"has {len(text)} letters, {MAX_TEXT_LENGTH} are allowed", "SIZE-1")
    if re.search("<!(DOCTYPE|ENTITY)", text, re.IGNORECASE):
        raise InvalidInputError("map", "may not declare a document type or entities")
    try:
        root = Xml.fromstring(text)  # noqa: S314  # it declares no entities that could grow
    except Xml.ParseError as error:
        raise InvalidInputError("map", f"is no XML: {error}") from None
    if root.tag != "map":
        raise InvalidInputError("map", f"begins with <{root.tag[:40]}>, not <map>")
    return root


def _find_section(root: Xml.Element, tag: str) -> Xml.Element:
    sections = root.findall(tag)
    if len(sections) != 1:
        raise InvalidInputError("map", f"must have one <{tag}>, and has {len(sections)}")
    return sections[0]


def _iter_rows(section: Xml.Element, tag: str, attributes: set[str]) -> Iterator[Xml.Element]:
    for n, row in enumerate(section):
        if row.tag != tag:
            raise InvalidInputError(f"{tag} {n}", f"is a <{row.tag[:40]}>")
        if set(row.keys()) != attributes:
            raise InvalidInputError(f"{tag} {n}", f"must have {', '.join(sorted(attributes))}, and no more")
        yield row


def _read_city(n: int, node: Xml.Element) -> dict[str, Any]:  # its form is checked by read_board
    at = [_read_integer(f"node {n}", node, axis, 10_000) for axis in ("x", "y")]
    return {"name": (node.get("name") or "").strip(), "at": at}


def _read_edge(n: int, edge: Xml.Element, node_count: int) -> _Edge:
    entry = f"edge {n}"
    one, other = (_read_integer(entry, edge, end, 10_000) for end in ("node1", "node2"))
    for node in (one, other):
        if node >= node_count:
            raise InvalidInputError(entry, f"there is no node {node}; there are {node_count}, from 0")
    if one == other:
        raise InvalidInputError(entry, f"joins node {one} to itself")
    colors = [edge.get("color1") or ""]
    if (second := edge.get("color2") or "") not in NO_SECOND_COLOR:
        colors.append(second)
    for color in colors:
        if color not in COLORS:
            raise InvalidInputError(entry, f"{short_repr(color)} is no colour: one of {' '.join(COLORS)}")
    engines, cars = _read_integer(entry, edge, "eng", 20), _read_integer(entry, edge, "cars", 20)
    if not 1 <= cars + engines <= 20:
        raise InvalidInputError(entry, f"has {cars + engines} spaces; a route has 1 to 20")
    points, tunnel = _read_integer(entry, edge, "value", 1000), _read_integer(entry, edge, "tunnel", 1)
    board_colors = tuple(COLORS[color] for color in colors)
    return _Edge(n, (one, other), board_colors, points, engines, cars + engines, bool(tunnel))


def _read_integer(entry: str, row: Xml.Element, attribute: str, maximum: int) -> int:
    text = row.get(attribute) or ""
    if not re.fullmatch(r"[0-9]{1,6}", text) or int(text) > maximum:
        raise InvalidInputError(
            entry, f"{attribute} must be a whole number from 0 to {maximum}, not {short_repr(text)}"
        )
    return int(text)


def _route_points(edges: list[_Edge]) -> list[int | None]:
    """The points of a route by its length (index 0: one space); the file has them by edge, the rules by
    length. Raises InvalidInputError where two edges disagree."""
    first: dict[int, _Edge] = {}
    for edge in edges:
        earlier = first.setdefault(edge.length, edge)
        if earlier.points != edge.points:
            conflict = f"edge {earlier.number} says {earlier.points}"
            raise InvalidInputError(
                f"edge {edge.number}", f"is worth {edge.points} with {edge.length} spaces; {conflict}"
            )
    return [
        first[length].points if length in first else None for length in range(1, max(first, default=1) + 1)
    ]


def _build_routes(edges: list[_Edge], ids: list[str]) -> list[dict[str, object]]:
    routes: list[dict[str, object]] = []
    route_ids: list[str] = []
    for edge in edges:
        kind = "tunnel" if edge.tunnel else "ferry" if edge.locomotives else "rail"
        between = sorted(ids[end] for end in edge.ends)
        for suffix, color in zip("ab", edge.colors, strict=False):
            route_ids.append(f"{'-'.join(between)}-{suffix}")
            routes.append({"between": between, "length": edge.length, "color": color, "kind": kind})
            routes[-1]["locomotives"] = edge.locomotives
    return [{"id": id_, **route} for id_, route in zip(make_unique(route_ids), routes, strict=True)]
