"""The table as an AI-MAS class sees it: nodes and edges by position, players, missions and cards; a map's XML form."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Final, NamedTuple
from xml.etree import ElementTree as Xml

from schemas.errors import InvalidInputError
from schemas.field_types import Seat
from schemas.trains.field_types import LOCOMOTIVE
from schemas.trains.rule_options import RuleOptions
from services.referee.games.trains.board import Board, Route, board_ids, points_for_route
from services.referee.games.trains.moves.tunnels import TUNNEL_KIND
from services.referee.games.trains.train_state import TrainGame
from services.trains.ai_mas.ttr_codes import COLOR_CHARACTERS, TTRCons

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

    def __init__(self, state: TrainGame) -> None:
        table = state.own
        self.nodes = [
            TTRNode(city.name, *city.at, table.station_owners.get(city.id), city.id)
            for city in table.board.form.cities
        ]
        self.edges = _edges_of(table.board, state.rule_options, table.route_owners)
        self._ids = board_ids(table.board)

    def position(self, node: int | str) -> int | None:
        """The position of a node that a call names by its position, its id or its name, with or without accents; None for
        another node."""
        if isinstance(node, int):
            return node if 0 <= node < len(self.nodes) else None
        city = self._ids.city(node)
        return next((place for place, each in enumerate(self.nodes) if each.id == city), None)

    def tracks(self, node1: int | str, node2: int | str) -> list[str]:
        """The ids of the routes that join two nodes, in their order."""
        ends = {self.position(node1), self.position(node2)}
        return [route for edge in self.edges if {edge.node1, edge.node2} == ends for route in edge.routes]

    def edge_of(self, route: str) -> TTREdge:
        """The edge that a route is a track of. Raises StopIteration for another board's."""
        return next(edge for edge in self.edges if route in edge.routes)


def _edges_of(board: Board, rule_options: RuleOptions, owners: Mapping[str, Seat]) -> list[TTREdge]:
    """The routes of a board as edges: two parallel ones are one, if they differ in nothing but their colour."""
    found: dict[tuple[object, ...], list[list[Route]]] = {}
    all_tracks: list[list[Route]] = []
    for route in board.routes.values():
        key = frozenset((route.a, route.b)), route.fare[0], route.locomotives, route.kind
        alike = found.setdefault(key, [])
        if not alike or len(alike[-1]) == TRACKS_MOST:
            alike.append([])
            all_tracks.append(alike[-1])
        alike[-1].append(route)
    positions = {city: place for place, city in enumerate(board.cities)}
    return [_edge(tracks, positions, rule_options, owners) for tracks in all_tracks]


def _edge(
    tracks: Sequence[Route],
    positions: Mapping[str, int],
    rule_options: RuleOptions,
    owners: Mapping[str, Seat],
) -> TTREdge:
    first, is_double = tracks[0], len(tracks) == TRACKS_MOST
    return TTREdge(
        positions[first.a],
        positions[first.b],
        COLOR_CHARACTERS[first.color],
        COLOR_CHARACTERS[tracks[1].color] if is_double else TTRCons.NONE,
        points_for_route(rule_options, first),
        first.locomotives,
        first.length - first.locomotives,
        first.kind == TUNNEL_KIND,
        owners.get(first.id),
        owners.get(tracks[1].id) if is_double else None,
        tuple(track.id for track in tracks),
    )


def write_map(board: Board, rule_options: RuleOptions) -> str:
    """The board as XML of the competition's form, which `--board` reads (docs/boards.md). Edges name their cities, or their
    positions if two cities have one name. Raises InvalidInputError, naming the city or route that the form can't say."""
    _require_known_routes(board, rule_options)
    references = _references(board)
    root = Xml.Element("map", name=board.title)
    nodes, edges = Xml.SubElement(root, "nodes"), Xml.SubElement(root, "edges")
    for city in board.form.cities:
        x, y = map(str, city.at)
        Xml.SubElement(nodes, "node", name=city.name, x=x, y=y)
    for edge in _edges_of(board, rule_options, {}):
        Xml.SubElement(
            edges,
            "edge",
            node1=references[edge.node1],
            node2=references[edge.node2],
            color1=edge.color1,
            color2=edge.color2,
            value=str(edge.value),
            eng=str(edge.eng),
            cars=str(edge.cars),
            tunnel=str(int(edge.tunnel)),
        )
    Xml.indent(root, " ")
    return Xml.tostring(root, encoding="unicode") + "\n"


def _require_known_routes(board: Board, rule_options: RuleOptions) -> None:
    """Refuses routes without points, and those whose kind their locomotives don't tell."""
    points = dict(enumerate(rule_options.route_points, 1))
    for route in board.routes.values():
        kind = TUNNEL_KIND if route.kind == TUNNEL_KIND else "ferry" if route.locomotives else "rail"
        if points.get(route.length) is None:
            raise InvalidInputError(f"route {route.id}", f"{route.length} spaces have no points to write")
        if kind != route.kind:
            reason = f"is a {route.kind} of {route.locomotives} locomotives, which the AI-MAS form can't say"
            raise InvalidInputError(f"route {route.id}", reason)


def _references(board: Board) -> list[str]:
    """By what edges refer to each city: its name, without blanks at the ends, or its position if others have that name.

    Refuses countries, merchandise, a name that is blank, and a position that is another city's name."""
    names = [city.name.strip() for city in board.form.cities]
    references = []
    for place, (city, name) in enumerate(zip(board.form.cities, names, strict=True)):
        reference = name if names.count(name) == 1 else str(place)
        has_more = "is a country" if city.country else "has merchandise" if city.merchandise else ""
        if reference != name and reference in names:
            has_more = f"shares its name, and another city is called {reference}, as its position"
        if has_more or not name:
            reason = f"{has_more or 'has no name'}, which the AI-MAS form can't say"
            raise InvalidInputError(f"city {city.id}", reason)
        references.append(reference)
    return references


# -- players ---------------------------------------------------------------------------------


class TTRMission(NamedTuple):
    """A ticket: two cities by name, and its points."""

    source: str
    destination: str
    points: int
    id: str  # in commands of the ordinary kit


class TTRCard(NamedTuple):
    """A train card, by the character of its colour; e is an engine. A kind that europe hasn't has its own name."""

    color: str


class TTRTunnel(NamedTuple):
    """A tunnel that waits for its extra: the payment so far, as `claim_route` names it, and the cards to be added."""

    node1: int
    node2: int
    color: str  # of the wagon cards; e where only engines pay
    wagons: int
    engines: int
    cards: int


def tunnel_of(state: TrainGame) -> TTRTunnel | None:
    """The tunnel that is open; None without one."""
    table = state.own
    if table.tunnel is None:
        return None
    edge = TTRMap(state).edge_of(table.tunnel.route)
    engines = table.tunnel.cards.get(LOCOMOTIVE, 0)
    wagons = {card: count for card, count in table.tunnel.cards.items() if card != LOCOMOTIVE}
    color = COLOR_CHARACTERS[next(iter(wagons), LOCOMOTIVE)]
    return TTRTunnel(edge.node1, edge.node2, color, sum(wagons.values()), engines, table.tunnel.extra)


class TTRPlayer(NamedTuple):
    """A player. Of the others, `hand` and `missions` are empty: only their numbers are known."""

    seat: Seat
    name: str
    wagons: int
    stations: int  # that it may still build
    points: int  # of its routes
    cards: int  # how many it holds
    mission_count: int
    remaining_ms: int | None  # of its clock, at the last entry; None without one
    hand: tuple[TTRCard, ...]
    missions: tuple[TTRMission, ...]


def player_of(state: TrainGame, seat: Seat, viewer: Seat) -> TTRPlayer:
    """A player as this viewer sees it."""
    seat_state, options, is_own = state.seats[seat], state.rule_options, seat == viewer
    hand = {card: count for card, count in seat_state.own.hand.items() if is_own and card is not None}
    return TTRPlayer(
        seat,
        seat_state.name,
        seat_state.own.cars,
        len(options.station_costs) - len(seat_state.own.stations),
        seat_state.own.running_score,
        seat_state.own.cards,
        len(seat_state.own.tickets),
        None if options.clock_ms is None else max(0, seat_state.clock_ms),
        tuple(
            TTRCard(COLOR_CHARACTERS.get(card, card)) for card, count in hand.items() for _ in range(count)
        ),
        missions_of(state, seat_state.own.tickets) if is_own else (),
    )


def missions_of(state: TrainGame, tickets: Iterable[str | None]) -> tuple[TTRMission, ...]:
    """The tickets that can be seen among these."""
    table = state.own
    known = (table.board.tickets[ticket] for ticket in tickets if ticket is not None)
    cities = table.board.cities
    return tuple(TTRMission(cities[each.a], cities[each.b], each.points, each.id) for each in known)
