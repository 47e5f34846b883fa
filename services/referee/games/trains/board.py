"""A board, ready to be played on: its routes by id, their parallels and fares, its tickets."""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping
from contextlib import suppress
from dataclasses import dataclass, replace
from functools import cache, lru_cache
from hashlib import sha256
from importlib import resources
from importlib.resources.abc import Traversable
from itertools import combinations
from typing import Final, TypeAlias

from schemas.errors import InvalidInputError
from schemas.trains.boards.board_ids import BoardIds, did_you_mean
from schemas.trains.boards.form import BOARD_SCHEMA, BoardForm, TicketForm
from schemas.trains.boards.trains import read_trains_map
from schemas.trains.rule_options import RuleOptions
from services.referee.games.state import pickle_by_fields
from services.referee.games.trains.search.longest_trail import Networks

# What a route costs: its length, its colour, and the least number of locomotives in a payment (FERRY-1). Routes
# of one fare are paid for in the same ways. A plain tuple: legal lists look at dozens of them.
Fare: TypeAlias = tuple[int, str, int]
GRAY: Final = "gray"
TRAINS_SUFFIX: Final = ".trains.json"  # of files in the Trains form


@dataclass(frozen=True, slots=True)
class Route:
    """A route between two neighbouring cities, `length` spaces long."""

    id: str
    a: str
    b: str
    length: int
    color: str
    lanes: tuple[str, ...]  # all routes between its cities, which share this: a board may have 1,000
    fare: Fare
    kind: str = "rail"
    locomotives: int = 0

    @property
    def parallels(self) -> tuple[str, ...]:
        """The routes parallel to it."""
        return tuple(route for route in self.lanes if route != self.id)


@dataclass(frozen=True, slots=True)
class Ticket:
    """A ticket: points for joining two cities, from the deck `deck`."""

    id: str
    a: str
    b: str
    points: int
    deck: str


@dataclass(frozen=True, slots=True, eq=False)
class Board:
    """An immutable board. A log records the `digest` of its board's content, and so is never replayed
    on another board by mistake."""

    id: str
    title: str
    digest: str
    cities: Mapping[str, str]  # id to name
    routes: Mapping[str, Route]
    tickets: Mapping[str, Ticket]
    fares: Mapping[Fare, tuple[str, ...]]  # the routes of each fare, shortest fares first
    countries: frozenset[str]  # dead ends: no path goes through them (SCORE-2)
    merchandise: Mapping[str, str]  # city to the colour of its stack
    default_ruleset: str  # the ruleset of a game that names only the board
    rule_options: Mapping[str, object]  # the rule options in which it differs from that ruleset
    form: BoardForm  # what it was built from


pickle_by_fields(Route, Ticket, Board)


def read_board(given: object) -> Board:
    """The built-in board of this name, or the board of a form. Raises InvalidInputError."""
    return load_board(given) if isinstance(given, str) else build_board(BOARD_SCHEMA.read(given))


def load_board(name: str) -> Board:
    """The built-in board of this name. Raises InvalidInputError if there is none, or it can't be read."""
    if name not in board_names():
        known = ", ".join(board_names())
        meant = did_you_mean(name, board_names())
        raise InvalidInputError("board", f"there is no board {name!r}; there is {known}{meant}")
    board = _read_board_file(name)
    if isinstance(board, str):
        raise InvalidInputError("board", f"this server can't read its file of the board {name!r}: {board}")
    return board


@lru_cache(maxsize=16)
def board_ids(board: Board) -> BoardIds:
    """The ids of its cities and routes, to be found by what people write for them."""
    return BoardIds(board.form)


def track_text(board: Board, route: Route) -> str:
    """For people: ", track 2" of the second of several routes that only this tells apart; empty where it is alone."""
    return _track_texts(board, route.lanes[0])[route.id]


@lru_cache(maxsize=16)
def _track_texts(board: Board, first_lane: str) -> Mapping[str, str]:
    """The texts of all routes between two cities, once for all: a board may have 1,000 there."""
    by_looks: dict[tuple[str, str, int, int], list[str]] = {}
    for lane in (board.routes[lane] for lane in board.routes[first_lane].lanes):
        by_looks.setdefault((lane.color, lane.kind, lane.length, lane.locomotives), []).append(lane.id)
    return {
        lane: f", track {number}" if len(alike) > 1 else ""
        for alike in by_looks.values()
        for number, lane in enumerate(alike, 1)
    }


def is_built_in(board: Board) -> bool:
    """Whether its form is a built-in board's, which stays loaded; a game may have tickets of its own on it."""
    built_in = _read_board_file(board.id) if board.id in board_names() else None
    return isinstance(built_in, Board) and built_in.form is board.form


def unreadable_boards() -> dict[str, str]:
    """The built-in boards whose files can't be read, with the reason. Games on the others go on."""
    return {name: board for name in board_names() if isinstance(board := _read_board_file(name), str)}


@cache
def _read_board_file(name: str) -> Board | str:
    """The board, or the reason why its file can't be read: that is asked for once in a process's life."""
    file = _board_files()[name]
    try:
        data = file.read_bytes()
        if file.name.endswith(TRAINS_SUFFIX):
            return build_board(read_trains_map(json.loads(data), name, name.capitalize()))
        return build_board(BOARD_SCHEMA.read_json(data))
    except (OSError, ValueError, RecursionError, InvalidInputError) as error:
        return str(error)


@cache
def board_names() -> tuple[str, ...]:
    """The names of the built-in boards, sorted."""
    return tuple(sorted(_board_files()))


@cache
def _board_files() -> Mapping[str, Traversable]:
    """The files of the built-in boards by name: Ledgerline's own form, or Trains maps."""
    files = resources.files(__package__).joinpath("boards").iterdir()
    return {
        file.name.removesuffix(".json").removesuffix(".trains"): file
        for file in files
        if file.name.endswith(".json")
    }


def build_board(form: BoardForm) -> Board:
    """The board of a validated form. Equal forms give the same object while it is cached."""
    return _build_from_json(json.dumps(BOARD_SCHEMA.write(form), separators=(",", ":")))


@lru_cache(maxsize=16)  # a stranger's takes a megabyte
def _build_from_json(text: str) -> Board:
    form = BOARD_SCHEMA.read_json(text)
    routes = _build_routes(form)
    fares: dict[Fare, tuple[str, ...]] = {}
    for fare in sorted({route.fare for route in routes.values()}):
        fares[fare] = tuple(route.id for route in routes.values() if route.fare == fare)
    tickets = {t.id: Ticket(t.id, *t.between, t.points, t.deck) for t in form.tickets}
    return Board(
        id=form.id,
        title=form.title,
        digest=_compute_digest(form, tickets),
        cities={city.id: city.name for city in form.cities},
        routes=routes,
        tickets=tickets,
        fares=fares,
        countries=frozenset(city.id for city in form.cities if city.country),
        merchandise={city.id: city.merchandise for city in form.cities if city.merchandise},
        default_ruleset=form.rules,
        rule_options=form.options or {},
        form=form,
    )


@lru_cache(maxsize=16)
def with_pair_tickets(board: Board, points: int) -> Board:
    """The board with another set of tickets: one worth `points` for every pair of cities that a path of
    routes joins. Pairs, and the two cities of each, are in the order of the cities' names. `form` stays
    that of the board itself: the pairs follow from it."""
    networks = Networks(((r.a, r.b) for r in board.routes.values()), board.countries)
    tickets: dict[str, Ticket] = {}
    for a, b in combinations(sorted(board.cities, key=lambda city: (board.cities[city], city)), 2):
        if networks.connects(a, b):
            tickets[f"{a}:{b}"] = Ticket(f"{a}:{b}", a, b, points, "regular")
    return replace(board, tickets=tickets, digest=_compute_digest(board.form, tickets))


def as_played(board: Board, rule_options: RuleOptions) -> Board:
    """The board with the tickets that the rule options give it."""
    return with_pair_tickets(board, rule_options.pair_tickets) if rule_options.pair_tickets else board


def with_tickets(board: Board, ticket_forms: Iterable[TicketForm]) -> Board:
    """The board with these tickets in addition to its own."""
    added_tickets = {t.id: Ticket(t.id, *t.between, t.points, t.deck) for t in ticket_forms}
    if not added_tickets:
        return board
    tickets = {**board.tickets, **added_tickets}
    return replace(board, tickets=tickets, digest=_compute_digest(board.form, tickets))


def neighbours(board: Board, city: str) -> set[str]:
    """The cities that a route joins to this one."""
    routes = board.routes.values()
    return {r.b for r in routes if r.a == city} | {r.a for r in routes if r.b == city}


# -- a board under the rule options of a game ---------------------------------------------------


def points_for_route(rule_options: RuleOptions, route: Route) -> int:
    """The points of a route, which depend on its length alone (ROUTE-6)."""
    points = rule_options.route_points[route.length - 1]
    assert points is not None, "a board whose routes score nothing isn't played on"
    return points


def initial_tokens(rule_options: RuleOptions, board: Board) -> dict[str, tuple[int, ...]]:
    """The tokens of every city that has any, the top first (MERCH-1)."""
    stacks = {
        city: tuple(rule_options.merchandise.get(colour, ())) for city, colour in board.merchandise.items()
    }
    return {city: stack for city, stack in stacks.items() if stack}


def closes_parallels(rule_options: RuleOptions, seat_count: int) -> bool:
    """Whether a claim closes the routes parallel to it (DOUBLE-2)."""
    return not rule_options.parallel_owned and seat_count < rule_options.parallel_seats


def ticket_decks(rule_options: RuleOptions) -> tuple[str, ...]:
    """The decks that tickets are offered from, at the start or later, each once."""
    return tuple(dict.fromkeys((*rule_options.start_tickets, *rule_options.draw_tickets)))


# -- building one ------------------------------------------------------------------------------


def _build_routes(form: BoardForm) -> dict[str, Route]:
    route_ids_by_cities: dict[frozenset[str], list[str]] = {}
    for route in form.routes:
        route_ids_by_cities.setdefault(frozenset(route.between), []).append(route.id)
    lanes = {cities: tuple(ids) for cities, ids in route_ids_by_cities.items()}
    return {
        route.id: Route(
            route.id,
            *route.between,
            route.length,
            route.color,
            lanes[frozenset(route.between)],
            (route.length, route.color, route.locomotives),
            route.kind,
            route.locomotives,
        )
        for route in form.routes
    }


def _compute_digest(form: BoardForm, tickets: Mapping[str, Ticket]) -> str:
    """SHA-256, in hex, of what play depends on: routes and tickets in order, countries, merchandise."""
    content = {
        "routes": [[r.id, *r.between, r.length, r.color, r.kind, r.locomotives] for r in form.routes],
        "tickets": [[t.id, t.a, t.b, t.points, t.deck] for t in tickets.values()],
        "countries": sorted(city.id for city in form.cities if city.country),
        "merchandise": sorted([c.id, c.merchandise] for c in form.cities if c.merchandise),
    }
    return sha256(json.dumps(content, separators=(",", ":")).encode()).hexdigest()


def board_reference(board: Board) -> object:
    """The name of a built-in board; for any other board its form, as JSON data."""
    with suppress(InvalidInputError):  # there is none of that name, or it can't be read
        if load_board(board.id).form == board.form:
            return board.id
    return BOARD_SCHEMA.write(board.form, exclude_defaults=True)
