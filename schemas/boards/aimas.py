"""The map of the AI-MAS competition as XML:

    <map name="Europe"><nodes><node name="Wien" x="517" y="402"/>..</nodes>
    <edges><edge node1="0" node2="1" color1="r" color2="0" value="4" eng="0" cars="3" tunnel="0"/>..</edges></map>

A node's number is its place in the list, from 0, and so is an edge's here. `value` is the
route's points, `eng` the locomotives that it asks for, `cars` its other spaces. The file has
no tickets: every pair of joined cities is one.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from reprlib import repr as brief
from typing import Any, Final, NamedTuple
from xml.etree import ElementTree as Xml

from schemas.boards.form import BoardForm, read_board
from schemas.boards.ids import slug, unique
from schemas.contract import Malformed

TEXT_MOST: Final = 2_000_000  # letters
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
NO_SECOND: Final = ("0", "none")
_MARGIN: Final = 20  # of the picture, around the outermost cities
_NODE: Final = {"name", "x", "y"}
_EDGE: Final = {"node1", "node2", "color1", "color2", "value", "eng", "cars", "tunnel"}


class _Edge(NamedTuple):
    number: int
    ends: tuple[int, int]
    colors: tuple[str, ...]
    points: int
    locomotives: int
    length: int
    tunnel: bool


def read_aimas_map(text: str, name: str = "map") -> BoardForm:
    """The board that an AI-MAS map spells. Raises Malformed, naming the node or edge by its number."""
    root = _parsed(text)
    nodes, edges = _part(root, "nodes"), _part(root, "edges")
    cities = [_city(n, node) for n, node in enumerate(_rows(nodes, "node", _NODE))]
    for city, id_ in zip(cities, unique(slug(city["name"], "city") for city in cities), strict=True):
        city["id"] = id_
    rows = [_edge(n, edge, len(cities)) for n, edge in enumerate(_rows(edges, "edge", _EDGE))]
    wide, high = (max((city["at"][axis] for city in cities), default=0) for axis in (0, 1))
    return read_board(
        {
            "format": 1,
            "id": name,
            "title": root.get("name") or "AI-MAS map",
            "size": [min(wide + _MARGIN, 10_000), min(high + _MARGIN, 10_000)],
            "rules": "europe",
            "options": {
                "pair_tickets": 10,
                "start_tickets": {"regular": 3},
                "start_keep": 2,
                "draw_tickets": {"regular": 3},
                "route_points": _points(rows),
            },
            "cities": cities,
            "routes": _routes(rows, [city["id"] for city in cities]),
            "tickets": [],
        }
    )


def _parsed(text: str) -> Xml.Element:
    if len(text) > TEXT_MOST:
        raise Malformed("map", f"has {len(text)} letters, {TEXT_MOST} are allowed", "SIZE-1")
    if re.search("<!(DOCTYPE|ENTITY)", text, re.IGNORECASE):
        raise Malformed("map", "may not declare a document type or entities")
    try:
        root = Xml.fromstring(text)  # noqa: S314  # it declares no entities that could grow
    except Xml.ParseError as error:
        raise Malformed("map", f"is no XML: {error}") from None
    if root.tag != "map":
        raise Malformed("map", f"begins with <{root.tag[:40]}>, not <map>")
    return root


def _part(root: Xml.Element, tag: str) -> Xml.Element:
    parts = root.findall(tag)
    if len(parts) != 1:
        raise Malformed("map", f"must have one <{tag}>, and has {len(parts)}")
    return parts[0]


def _rows(part: Xml.Element, tag: str, attributes: set[str]) -> Iterator[Xml.Element]:
    for n, row in enumerate(part):
        if row.tag != tag:
            raise Malformed(f"{tag} {n}", f"is a <{row.tag[:40]}>")
        if set(row.keys()) != attributes:
            raise Malformed(f"{tag} {n}", f"must have {', '.join(sorted(attributes))}, and no more")
        yield row


def _city(n: int, node: Xml.Element) -> dict[str, Any]:
    at = [_number(f"node {n}", node, axis, 10_000) for axis in ("x", "y")]
    return {"name": (node.get("name") or "").strip(), "at": at}


def _edge(n: int, edge: Xml.Element, nodes: int) -> _Edge:
    what = f"edge {n}"
    one, other = (_number(what, edge, end, 10_000) for end in ("node1", "node2"))
    for node in (one, other):
        if node >= nodes:
            raise Malformed(what, f"there is no node {node}; there are {nodes}, from 0")
    if one == other:
        raise Malformed(what, f"joins node {one} to itself")
    colors = [edge.get("color1") or ""]
    if (second := edge.get("color2") or "") not in NO_SECOND:
        colors.append(second)
    for color in colors:
        if color not in COLORS:
            raise Malformed(what, f"{brief(color)} is no colour: one of {' '.join(COLORS)}")
    engines, cars = _number(what, edge, "eng", 20), _number(what, edge, "cars", 20)
    if not 1 <= cars + engines <= 20:
        raise Malformed(what, f"has {cars + engines} spaces; a route has 1 to 20")
    points, tunnel = _number(what, edge, "value", 1000), _number(what, edge, "tunnel", 1)
    known = tuple(COLORS[color] for color in colors)
    return _Edge(n, (one, other), known, points, engines, cars + engines, bool(tunnel))


def _number(what: str, row: Xml.Element, attribute: str, most: int) -> int:
    text = row.get(attribute) or ""
    if not re.fullmatch(r"[0-9]{1,6}", text) or int(text) > most:
        raise Malformed(what, f"{attribute} must be a whole number from 0 to {most}, not {brief(text)}")
    return int(text)


def _points(edges: list[_Edge]) -> list[int | None]:
    """What a route of each length is worth; the file says it per edge, the rules per length."""
    first: dict[int, _Edge] = {}
    for edge in edges:
        before = first.setdefault(edge.length, edge)
        if before.points != edge.points:
            said = f"edge {before.number} says {before.points}"
            raise Malformed(
                f"edge {edge.number}", f"is worth {edge.points} with {edge.length} spaces; {said}"
            )
    return [
        first[length].points if length in first else None for length in range(1, max(first, default=1) + 1)
    ]


def _routes(edges: list[_Edge], ids: list[str]) -> list[dict[str, object]]:
    routes: list[dict[str, object]] = []
    wanted: list[str] = []
    for edge in edges:
        kind = "tunnel" if edge.tunnel else "ferry" if edge.locomotives else "rail"
        between = sorted(ids[end] for end in edge.ends)
        for letter, color in zip("ab", edge.colors, strict=False):
            wanted.append(f"{'-'.join(between)}-{letter}")
            routes.append({"between": between, "length": edge.length, "color": color, "kind": kind})
            routes[-1]["locomotives"] = edge.locomotives
    return [{"id": id_, **route} for id_, route in zip(unique(wanted), routes, strict=True)]
