"""The map of the AI-MAS competition as XML:

    <map name="Europe"><nodes><node name="Wien" x="517" y="402"/>..</nodes>
    <edges><edge node1="Wien" node2="Praha" color1="r" color2="0" value="4" eng="0" cars="3" tunnel="0"/>..</edges></map>

An edge refers to its cities by their names, or by their positions in the list of nodes, from 0; messages number
nodes and edges by position. `x` and `y` may be missing, and are rounded; attributes that aren't known are ignored.
`value` is the route's points, `eng` the locomotives that it asks for, `cars` its other spaces. The file has no tickets: every
pair of joined cities is one, unless a file beside it lists them, as JSON:

    {"long": [["Edinburgh", "Athina", 21], ..], "short": [["Paris", "Wien", 8], ..]}

Each is two cities, by name or by position as in the map's edges, and its points. Long tickets are those that each
seat gets one of at the start; short ones are what the rules of `europe` call regular. A list may be missing.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from math import cos, pi, sin
from reprlib import repr as short_repr
from typing import Final, NamedTuple, TypedDict
from xml.etree import ElementTree as Xml

from schemas.errors import InvalidInputError
from schemas.trains.boards.board_ids import make_unique, slug
from schemas.trains.boards.form import BOARD_SCHEMA, MAX_CITIES, MAX_ROUTES, BoardForm, read_board

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
_CIRCLE_RADIUS: Final = 480  # of a board whose cities have no places
_AXES: Final = ("x", "y")
_MAX_PLACE: Final = 10_000
_MAX_NAME_LENGTH: Final = 40
_NODE_ATTRIBUTES: Final = {"name"}
_EDGE_ATTRIBUTES: Final = {"node1", "node2", "color1", "color2", "value", "eng", "cars", "tunnel"}


class NodeNames:
    """The names of a map's nodes, looked up as an edge or a ticket refers to them."""

    def __init__(self, names: Sequence[str]) -> None:
        self.count = len(names)
        self._positions: dict[str, list[int]] = {}
        for position, name in enumerate(names):
            self._positions.setdefault(name.strip(), []).append(position)

    def find(self, entry: str, reference: str) -> int:
        """The position of the node that is called so, or else of the one at that position, from 0.

        Raises InvalidInputError for `entry` where there is none, or where several have the name."""
        name = reference.strip()
        match self._positions.get(name, ()):
            case (position,):
                return position
            case (_, *_) as namesakes:
                reason = f"{len(namesakes)} nodes are called {short_repr(name)}: refer to one by its position"
                raise InvalidInputError(entry, reason)
        if not re.fullmatch(r"[0-9]{1,6}", name):
            raise InvalidInputError(entry, f"there is no node {short_repr(name)}")
        if int(name) >= self.count:
            raise InvalidInputError(entry, f"there is no node {name}; there are {self.count}, from 0")
        return int(name)


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
    nodes = [*_iter_rows(_find_section(root, "nodes", MAX_CITIES), "node", _NODE_ATTRIBUTES)]
    edges = [*_iter_rows(_find_section(root, "edges", MAX_ROUTES), "edge", _EDGE_ATTRIBUTES)]
    names, points = [_read_name(f"node {n}", node) for n, node in enumerate(nodes)], _read_points(nodes)
    ids = make_unique(slug(city, "city") for city in names)
    node_names = NodeNames(names)
    parsed_edges = [_read_edge(n, edge, node_names) for n, edge in enumerate(edges)]
    width, height = (max((point[axis] for point in points), default=0) for axis in (0, 1))
    return read_board(
        {
            "format": 1,
            "id": name,
            "title": _read_name("map", root) if root.get("name") else "AI-MAS map",
            "size": [min(width + _MARGIN, _MAX_PLACE), min(height + _MARGIN, _MAX_PLACE)],
            "rules": "europe",
            "options": {
                "pair_tickets": 10,
                "start_tickets": {"regular": 3},
                "start_keep": 2,
                "draw_tickets": {"regular": 3},
                "route_points": _route_points(parsed_edges),
            },
            "cities": [
                {"id": id_, "name": city, "at": at} for id_, city, at in zip(ids, names, points, strict=True)
            ],
            "routes": _build_routes(parsed_edges, ids),
            "tickets": [],
        }
    )


def _parse_xml(text: str) -> Xml.Element:
    if len(text) > MAX_TEXT_LENGTH:
        raise InvalidInputError("map", f"has {len(text)} letters, {MAX_TEXT_LENGTH} are allowed", "SIZE-1")
    if re.search("<!(DOCTYPE|ENTITY)", text, re.IGNORECASE):
        raise InvalidInputError("map", "may not declare a document type or entities")
    try:
        root = Xml.fromstring(text.lstrip())  # noqa: S314  # it declares no entities that could grow
    except Xml.ParseError as error:
        raise InvalidInputError("map", f"is no XML: {error}") from None
    if root.tag != "map":
        raise InvalidInputError("map", f"begins with <{root.tag[:40]}>, not <map>")
    return root


def _find_section(root: Xml.Element, tag: str, max_rows: int) -> Xml.Element:
    sections = root.findall(tag)
    if len(sections) != 1:
        raise InvalidInputError("map", f"must have one <{tag}>, and has {len(sections)}")
    if len(sections[0]) > max_rows:
        raise InvalidInputError(tag, f"there are {len(sections[0])}, {max_rows} at most")
    return sections[0]


def _iter_rows(section: Xml.Element, tag: str, attributes: set[str]) -> Iterator[Xml.Element]:
    for n, row in enumerate(section):
        if row.tag != tag:
            raise InvalidInputError(f"{tag} {n}", f"is a <{row.tag[:40]}>")
        if missing := attributes.difference(row.keys()):
            raise InvalidInputError(f"{tag} {n}", f"has no {', '.join(sorted(missing))}")
        yield row


def _read_name(entry: str, row: Xml.Element) -> str:
    name = (row.get("name") or "").strip()
    if not 1 <= len(name) <= _MAX_NAME_LENGTH or not name.isprintable():
        reason = f"name must have 1 to {_MAX_NAME_LENGTH} characters that can be seen, not {short_repr(name)}"
        raise InvalidInputError(entry, reason)
    return name


def _read_points(nodes: list[Xml.Element]) -> list[list[int]]:
    """The place of each node, [x, y]; all of them lie on a circle, the first on top, where any has no place."""
    points = [
        [_read_place(f"node {n}", node, axis) for axis in _AXES if node.get(axis) is not None]
        for n, node in enumerate(nodes)
    ]
    if all(len(point) == len(_AXES) for point in points):
        return points
    centre, angle = _CIRCLE_RADIUS + _MARGIN, 2 * pi / len(nodes)
    return [
        [centre + round(_CIRCLE_RADIUS * sin(n * angle)), centre - round(_CIRCLE_RADIUS * cos(n * angle))]
        for n in range(len(nodes))
    ]


def _read_edge(n: int, edge: Xml.Element, node_names: NodeNames) -> _Edge:
    entry = f"edge {n}"
    one, other = (node_names.find(f"{entry}: {end}", edge.get(end) or "") for end in ("node1", "node2"))
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


def _read_place(entry: str, row: Xml.Element, axis: str) -> int:
    text = (row.get(axis) or "").strip()
    if not re.fullmatch(r"[0-9]{1,6}(\.[0-9]{1,20})?", text) or float(text) > _MAX_PLACE:
        raise InvalidInputError(
            entry, f"{axis} must be a number from 0 to {_MAX_PLACE}, not {short_repr(text)}"
        )
    return round(float(text))


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


# -- tickets, from a file of their own ---------------------------------------------------------


DECKS: Final = {"long": "long", "short": "regular"}  # by the name of the list
MAX_POINTS: Final = 100
_INVENTED: Final = ("pair_tickets", "start_tickets", "start_keep", "draw_tickets")


class ListedTicket(TypedDict):
    """A ticket of the file, as a board's form has it but for its id."""

    between: list[str]
    points: int
    deck: str


def with_listed_tickets(form: BoardForm, value: object) -> BoardForm:
    """The board of an AI-MAS map with these tickets in place of the invented ones; the rules of `europe` then say
    how many are offered.

    Raises InvalidInputError, naming the entry that is wrong."""
    if not isinstance(value, dict) or not value or value.keys() - DECKS.keys():
        raise InvalidInputError("tickets", "must be an object with the lists long and short, and no more")
    tickets = [*_iter_tickets(form, value)]
    if not any(ticket["deck"] == "regular" for ticket in tickets):
        raise InvalidInputError("short", "must list tickets: they are drawn during the game")
    ids = make_unique(":".join(ticket["between"]) for ticket in tickets)
    options = {name: option for name, option in (form.options or {}).items() if name not in _INVENTED}
    if not any(ticket["deck"] == "long" for ticket in tickets):
        options["start_tickets"] = {"regular": 3}
    return read_board(
        {
            **BOARD_SCHEMA.write(form, exclude_defaults=True),
            "options": options,
            "tickets": [{"id": id_, **ticket} for id_, ticket in zip(ids, tickets, strict=True)],
        }
    )


def _iter_tickets(form: BoardForm, lists: dict[str, object]) -> Iterator[ListedTicket]:
    node_names = NodeNames([city.name for city in form.cities])
    for name, rows in lists.items():
        if not isinstance(rows, list):
            raise InvalidInputError(name, f"must be a list of [city, city, points], not {short_repr(rows)}")
        for n, row in enumerate(rows):
            entry = f"{name}.{n}"
            one, other, points = _read_row(entry, row)
            between = sorted(form.cities[node_names.find(entry, city)].id for city in (one, other))
            if between[0] == between[1]:
                raise InvalidInputError(entry, "joins a city to itself")
            yield {"between": between, "points": points, "deck": DECKS[name]}


def _read_row(entry: str, row: object) -> tuple[str, str, int]:
    """The two cities as they are referred to, and the points."""
    match row:
        case [str() | int() as one, str() | int() as other, int() as points] if bool not in map(type, row):
            if not 1 <= points <= MAX_POINTS:
                reason = f"the points are 1 to {MAX_POINTS}, not {short_repr(points)}"
                raise InvalidInputError(entry, reason)
            return str(one), str(other), points
    raise InvalidInputError(entry, f"must be [city, city, points], not {short_repr(row)}")
