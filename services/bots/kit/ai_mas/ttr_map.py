"""The map as an AI-MAS class sees it: nodes and edges by position, with owners; and its XML form."""

from __future__ import annotations

from typing import Final, NamedTuple
from xml.etree import ElementTree as Xml

from schemas.field_types import Seat
from schemas.rule_options import RuleOptions
from services.bots.kit.ai_mas.ttr_codes import COLOR_CHARACTERS, TTRCons
from services.referee.rules import GameState
from services.referee.rules.board import Board, Route, points_for_route
from services.referee.rules.moves.tunnels import TUNNEL_KIND

TRACKS_MOST: Final = 2  # of an edge


class TTRNode(NamedTuple):
    """A city, and whose station stands there."""

    name: str
    x: float
    y: float
    station: Seat | None
    id: str  # in commands of the ordinary kit


class TTREdge(NamedTuple):
    """A route, or two parallel ones, between two nodes (positions, from 0). The owners are seats."""

    node1: int
    node2: int
    color1: str  # a character; * is gray
    color2: str  # of the second track; 0 where there is none
    value: int  # points
    eng: int  # locomotives that it asks for
    cars: int  # its other spaces
    tunnel: bool
    owner1: Seat | None
    owner2: Seat | None
    routes: tuple[str, ...]  # the ids of its tracks, in commands of the ordinary kit


class TTRMap:
    """The nodes in the order of the board, and the edges between them."""

    def __init__(self, state: GameState) -> None:
        self.nodes = [
            TTRNode(city.name, *city.at, state.station_owners.get(city.id), city.id)
            for city in state.board.form.cities
        ]
        self._positions = {node.id: place for place, node in enumerate(self.nodes)}
        self.edges = [
            self._edge(tracks, state, points_for_route(state.rule_options, tracks[0]))
            for tracks in tracks_of(state.board)
        ]

    def _edge(self, tracks: list[Route], state: GameState, value: int) -> TTREdge:
        first, colors = tracks[0], [COLOR_CHARACTERS[track.color] for track in tracks]
        owners = [state.route_owners.get(track.id) for track in tracks]
        return TTREdge(
            self._positions[first.a],
            self._positions[first.b],
            colors[0],
            colors[1] if len(colors) == TRACKS_MOST else TTRCons.NONE,
            value,
            first.locomotives,
            first.length - first.locomotives,
            first.kind == TUNNEL_KIND,
            owners[0],
            owners[1] if len(owners) == TRACKS_MOST else None,
            tuple(track.id for track in tracks),
        )

    def position(self, node: int | str) -> int | None:
        """The position of a node that a call names by its position, its name or its id; None where there is none."""
        if isinstance(node, int):
            return node if 0 <= node < len(self.nodes) else None
        named = (place for place, each in enumerate(self.nodes) if node in (each.name, each.id))
        return next(named, None)

    def tracks(self, node1: int | str, node2: int | str) -> list[str]:
        """The ids of the routes that join two nodes, in their order; empty where there is none."""
        ends = {self.position(node1), self.position(node2)}
        return [route for edge in self.edges if {edge.node1, edge.node2} == ends for route in edge.routes]

    def edge_of(self, route: str) -> TTREdge:
        """The edge that a route is a track of. Raises StopIteration where there is none."""
        return next(edge for edge in self.edges if route in edge.routes)


def tracks_of(board: Board) -> list[list[Route]]:
    """The routes of a board, parallel ones that differ in nothing but their colour together, two at most."""
    found: dict[tuple[object, ...], list[list[Route]]] = {}
    edges: list[list[Route]] = []
    for route in board.routes.values():
        alike = found.setdefault(
            (frozenset((route.a, route.b)), route.fare[0], route.locomotives, route.kind), []
        )
        if not alike or len(alike[-1]) == TRACKS_MOST:
            alike.append([])
            edges.append(alike[-1])
        alike[-1].append(route)
    return edges


def write_map(board: Board, rule_options: RuleOptions) -> str:
    """The board as XML of the competition's form, which `--board` reads again (docs/boards.md). Its edges name their
    cities; where two cities have one name, their positions."""
    cities = board.form.cities
    names = [city.name for city in cities]
    references = {
        city.id: city.name if names.count(city.name) == 1 else str(place) for place, city in enumerate(cities)
    }
    root = Xml.Element("map", name=board.title)
    nodes, edges = Xml.SubElement(root, "nodes"), Xml.SubElement(root, "edges")
    for city in cities:
        x, y = (str(round(axis)) for axis in city.at)
        Xml.SubElement(nodes, "node", name=city.name, x=x, y=y)
    for tracks in tracks_of(board):
        first, colors = tracks[0], [COLOR_CHARACTERS[track.color] for track in tracks]
        Xml.SubElement(
            edges,
            "edge",
            node1=references[first.a],
            node2=references[first.b],
            color1=colors[0],
            color2=colors[1] if len(colors) == TRACKS_MOST else TTRCons.NONE,
            value=str(points_for_route(rule_options, first)),
            eng=str(first.locomotives),
            cars=str(first.length - first.locomotives),
            tunnel=str(int(first.kind == TUNNEL_KIND)),
        )
    Xml.indent(root, " ")
    return Xml.tostring(root, encoding="unicode") + "\n"
