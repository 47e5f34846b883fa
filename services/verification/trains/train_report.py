"""A train game on the arbiter's page: market, deck and hands as each viewer knew them, the scores, and the map.

The map is a board with what lies on it, as the shapes of an SVG (report/templates/board.html).
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Sequence
from math import cos, radians, sin
from typing import Final, NamedTuple

from schemas.commands import Command
from schemas.field_types import Seat
from schemas.trains import commands as train_commands
from services.gateway.models.trains import CarSpace, DrawnRoute
from services.referee.games.state import SeatState
from services.referee.games.trains.board import build_board
from services.referee.games.trains.train_state import TrainGame, TrainState
from services.tables.trains.board_drawing import draw_board
from services.text.formatting import format_cards, pluralize, seat_name, seat_title
from services.text.sentences import game_summary_json, sender_name
from services.text.trains import city_name, tickets_suffix
from services.verification.report.page import OWN_REPORTS, Cells, OwnReport

MAX_NEXT_CARDS: Final = 5  # cards of the deck that are shown: a draw takes no more of them


def _map_of(state: TrainGame, before: TrainGame, command: Command | None) -> BoardMap:
    return board_map(state, *_marked_places(before, command))


def _marked_places(before: TrainGame, command: Command | None) -> tuple[Sequence[str], Sequence[str]]:
    """The routes and the cities that the command names."""
    match command:
        case train_commands.ClaimRoute(route=route, passenger=passenger):
            return (route,), (passenger,) if passenger else ()
        case train_commands.PayTunnel() | train_commands.DeclineTunnel() if before.own.tunnel:
            return (before.own.tunnel.route,), ()
        case train_commands.BuildStation(city=name):
            return (), (name,)
        case train_commands.MovePassenger(city=name, path=path):
            return path, (name,)
    return (), ()


def _known_rows(states: Sequence[TrainGame]) -> Iterable[tuple[str, Cells]]:
    """The rows of the market, of the deck, and of each seat."""
    yield "Market", [[_market_text(state)] for state in states]
    yield "Deck", [[_deck_text(state)] for state in states]
    for seat in range(len(states[0].seats)):
        yield sender_name(states[0], seat), [_holding(state, seat) for state in states]


def _market_text(state: TrainGame) -> str:
    return ", ".join(card or "-" for card in state.own.market) or "none"


def _deck_text(state: TrainGame) -> str:
    table = state.own
    text = pluralize(len(table.deck), "card")
    next_cards = [card for card in reversed(table.deck[-MAX_NEXT_CARDS:]) if card is not None]
    return f"{text}; next: {', '.join(next_cards)}" if next_cards else text


def _holding(state: TrainGame, seat: Seat) -> list[str]:
    seat_state = state.seats[seat]
    own = seat_state.own
    parts = [
        f"{pluralize(own.cards, 'card')}{_hand_text(seat_state)}",
        f"{pluralize(len(own.tickets), 'ticket')}{tickets_suffix(state, own.tickets)}",
    ]
    if own.offer:
        parts.append(f"is offered {len(own.offer)}{tickets_suffix(state, own.offer)}")
    return parts


def _hand_text(seat_state: SeatState) -> str:
    """The cards that the viewer knows of, and how many more there are."""
    known_cards = {card: n for card, n in seat_state.own.hand.items() if card is not None and n > 0}
    hidden = seat_state.own.cards - sum(known_cards.values())
    parts = [format_cards(known_cards)] if known_cards else []
    parts += [f"{hidden} hidden"] if hidden else []
    return f": {', '.join(parts)}" if known_cards else ""


def _seat_counts(seat_state: SeatState) -> tuple[int, ...]:
    lists = (seat_state.own.tickets, seat_state.own.offer, seat_state.own.routes)
    return (
        seat_state.own.running_score,
        seat_state.own.cars,
        seat_state.own.cards,
        *(len(values) for values in lists),
    )


def _result_rows(state: TrainGame) -> tuple[Sequence[str], Sequence[tuple[str, Sequence[object]]]]:
    """The heading and the rows of the scores, the first place first."""
    summary = game_summary_json(state, 0, 0)
    extra_columns = [
        name for name in ("most", "stations", "merchandise") if any(seat[name] for seat in summary["seats"])
    ]
    rows = list[tuple[str, Sequence[object]]]()
    for seat in sorted(summary["seats"], key=lambda seat: (seat["place"], seat["seat"])):
        tickets = f"{seat['tickets']:+} ({len(seat['made'])} made, {len(seat['missed'])} missed)"
        bonus = f"{seat['longest']}" + (f" (+{seat['bonus']})" if seat["bonus"] else "")
        name = f"{seat['place']}. {seat['name'] or 'free'} ({seat_title(seat['seat'])})"
        cells = (seat["routes"], tickets, bonus, *(seat[name] for name in extra_columns), seat["total"])
        rows.append((name, cells))
    return ("place", "routes", "tickets", "longest", *extra_columns, "total"), rows


OWN_REPORTS[TrainState] = OwnReport(
    _known_rows,
    ("points", "cars", "cards", "tickets", "offered", "routes"),
    _seat_counts,
    _result_rows,
    _map_of,
)


class Point(NamedTuple):
    x: float
    y: float


class RouteShape(NamedTuple):
    """A route on the map: its spaces as the commands of an SVG path."""

    title: str
    kind: str
    color: str
    path: str
    owner: int | None  # the seat that claimed it
    badge: Point  # of the owner's letter
    ferries: Sequence[CarSpace]  # the spaces that take locomotives


class Piece(NamedTuple):
    """A station or a passenger of a seat."""

    title: str
    seat: int
    at: Point


class Label(NamedTuple):
    """A city's name, at the middle of its baseline, and how wide it is written."""

    text: str
    at: Point
    width: float


class BoardMap(NamedTuple):
    """The shapes of a map, in the order in which they are drawn."""

    title: str
    view_box: str
    marked_routes: Sequence[str]  # as commands of an SVG path
    marked_cities: Sequence[Point]
    routes: Sequence[RouteShape]
    cities: Sequence[Point]
    stations: Sequence[Piece]
    passengers: Sequence[Piece]
    names: Sequence[Label]


def board_map(state: TrainGame, marked: Collection[str] = (), cities: Collection[str] = ()) -> BoardMap:
    """The map: routes in their colours, claimed ones in their owner's with its number, stations, passengers.

    The `marked` routes and the `cities` have a halo; ids that the board doesn't have are left out."""
    table = state.own
    board, drawing = table.board, draw_board(build_board(table.board.form))  # drawn once for all folds
    points = {city.id: Point(city.x, city.y) for city in drawing.cities}
    routes = {route.id: route for route in drawing.routes}

    def piece(what: str, seat: int, city: str, offset: int = 0) -> Piece:
        title = f"{seat_name(state, seat)} has a {what} in {city_name(state, city)}"
        return Piece(title, seat, Point(points[city].x + offset, points[city].y - offset))

    return BoardMap(
        title=f"Map of {board.title}: {len(table.route_owners)} of {len(board.routes)} routes claimed",
        view_box=f"0 0 {drawing.width} {drawing.height}",
        marked_routes=[
            "".join(_line(*_ends([space])) for space in routes[name].spaces)
            for name in marked
            if name in routes
        ],
        marked_cities=[points[name] for name in cities if name in points],
        routes=[_route_shape(state, route) for route in drawing.routes],
        cities=[*points.values()],
        stations=[piece("station", seat, city) for city, seat in table.station_owners.items()],
        passengers=[piece("passenger", seat, city, 9) for city, seat in table.passenger_owners.items()],
        names=[
            Label(city_name(state, city.id), Point(city.label.x, city.label.y), city.label.width)
            for city in drawing.cities
        ],
    )


def _route_shape(state: TrainGame, route: DrawnRoute) -> RouteShape:
    table = state.own
    owner, parallels = table.route_owners.get(route.id), table.board.routes[route.id].parallels
    lane = sum(other < route.id for other in parallels) + 1
    space = route.spaces[len(route.spaces) * lane // (len(parallels) + 2)]  # not beside others' badges
    return RouteShape(
        title=route.title
        + ("" if owner is None else f"; {seat_name(state, owner)} ({seat_title(owner)}) has it"),
        kind=route.kind,
        color=route.color,
        path="".join(_line(*_ends([space])) for space in route.spaces),
        owner=owner,
        badge=Point(space.x, space.y),
        ferries=route.spaces[: route.locomotives],
    )


def _ends(spaces: Sequence[CarSpace]) -> tuple[Point, Point]:
    """The begin of the first of these spaces in a row, and the end of the last."""

    def end(space: CarSpace, sign: int) -> Point:
        along, angle = sign * space.length / 2, radians(space.angle)
        return Point(round(space.x + along * cos(angle), 1), round(space.y + along * sin(angle), 1))

    return end(spaces[0], -1), end(spaces[-1], 1)


def _line(a: Point, b: Point) -> str:
    return f"M{a.x} {a.y}L{b.x} {b.y}"
