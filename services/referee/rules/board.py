"""A board, ready to be played on: its routes by id, which are parallel, what each costs."""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, replace
from functools import cache, lru_cache
from hashlib import sha256
from importlib import resources
from importlib.resources.abc import Traversable
from itertools import combinations
from typing import Final, NamedTuple

from schemas.boards.form import BOARD, BoardForm, TicketForm
from schemas.boards.trains import read_trains_map
from schemas.contract import Malformed
from schemas.rule_options import Parameters
from services.referee.rules.search.connectivity import Networks

GRAY: Final = "gray"
TRAINS: Final = ".trains.json"  # how the name of a file in the Trains form ends


class Fare(NamedTuple):
    """What a route asks of a payment. Routes of one fare are paid alike."""

    length: int
    color: str
    locomotives: int = 0  # the least there must be


class Route(NamedTuple):
    id: str
    a: str
    b: str
    length: int
    color: str
    twins: tuple[str, ...]  # the routes parallel to it
    fare: Fare
    kind: str = "rail"
    locomotives: int = 0


class Ticket(NamedTuple):
    id: str
    a: str
    b: str
    points: int
    deck: str


@dataclass(frozen=True, slots=True, eq=False)
class Board:
    """A board that can't change. `digest` names its content: a log that was played on it
    records the digest, and so can never be replayed on another by mistake."""

    id: str
    title: str
    digest: str
    cities: Mapping[str, str]  # id to name
    routes: Mapping[str, Route]
    tickets: Mapping[str, Ticket]
    fares: Mapping[Fare, tuple[str, ...]]  # the routes of each fare, shortest fares first
    countries: frozenset[str]  # dead ends: no path goes through them
    merchandise: Mapping[str, str]  # city to the colour of its stack
    rules: str  # the ruleset that it is usually played with
    options: Mapping[str, object]  # the figures that it sets otherwise than that ruleset
    form: BoardForm  # what it was built from


@cache
def load(name: str) -> Board:
    """The board of this name that comes with the product. Raises Malformed if there is none."""
    if name not in names():
        raise Malformed("board", f"there is no board {name!r}; there is {', '.join(names())}")
    file = _files()[name]
    if file.name.endswith(TRAINS):
        return build(read_trains_map(json.loads(file.read_bytes()), name, name.capitalize()))
    return build(BOARD.read_json(file.read_bytes()))


@cache
def names() -> tuple[str, ...]:
    """The names of the boards that come with the product."""
    return tuple(sorted(_files()))


@cache
def _files() -> Mapping[str, Traversable]:
    """The board files by their board's name: in our form, or Trains maps."""
    files = resources.files(__package__).joinpath("boards").iterdir()
    return {
        file.name.removesuffix(".json").removesuffix(".trains"): file
        for file in files
        if file.name.endswith(".json")
    }


def build(form: BoardForm) -> Board:
    """A board from its checked form. Equal forms give the very same board."""
    return _built(json.dumps(BOARD.write(form), separators=(",", ":")))


@lru_cache(maxsize=64)
def _built(text: str) -> Board:
    form = BOARD.read_json(text)
    routes = _routes(form)
    fares: dict[Fare, tuple[str, ...]] = {}
    for fare in sorted({route.fare for route in routes.values()}):
        fares[fare] = tuple(route.id for route in routes.values() if route.fare == fare)
    tickets = {t.id: Ticket(t.id, *t.between, t.points, t.deck) for t in form.tickets}
    return Board(
        id=form.id,
        title=form.title,
        digest=_digest(form, tickets),
        cities={city.id: city.name for city in form.cities},
        routes=routes,
        tickets=tickets,
        fares=fares,
        countries=frozenset(city.id for city in form.cities if city.country),
        merchandise={city.id: city.merchandise for city in form.cities if city.merchandise},
        rules=form.rules,
        options=form.options or {},
        form=form,
    )


@lru_cache(maxsize=64)
def with_pairs(board: Board, points: int) -> Board:
    """The same board with another set of tickets: every pair of cities that a path of routes
    joins, each worth `points`. Pairs, and the cities of each, stand in the order of their names.
    The form stays that of the board itself: the pairs follow from it."""
    networks = Networks(((r.a, r.b) for r in board.routes.values()), board.countries)
    tickets: dict[str, Ticket] = {}
    for a, b in combinations(sorted(board.cities, key=lambda city: (board.cities[city], city)), 2):
        if networks.joins(a, b):
            tickets[f"{a}:{b}"] = Ticket(f"{a}:{b}", a, b, points, "regular")
    return replace(board, tickets=tickets, digest=_digest(board.form, tickets))


def with_tickets(board: Board, forms: Iterable[TicketForm]) -> Board:
    """The same board with these tickets besides its own."""
    more = {t.id: Ticket(t.id, *t.between, t.points, t.deck) for t in forms}
    if not more:
        return board
    tickets = {**board.tickets, **more}
    return replace(board, tickets=tickets, digest=_digest(board.form, tickets))


def neighbours(board: Board, city: str) -> set[str]:
    """The cities that a route joins to this one."""
    routes = board.routes.values()
    return {r.b for r in routes if r.a == city} | {r.a for r in routes if r.b == city}


# -- what a board comes to with a game's figures ---------------------------------------------


def worth(figures: Parameters, route: Route) -> int:
    """The points of a route, as its length has them."""
    points = figures.route_points[route.length - 1]
    assert points is not None, "a board whose routes score nothing isn't played on"
    return points


def full_stacks(figures: Parameters, board: Board) -> dict[str, tuple[int, ...]]:
    """The tokens of every city that has any, the top first (MERCH-1)."""
    stacks = {city: tuple(figures.merchandise.get(colour, ())) for city, colour in board.merchandise.items()}
    return {city: stack for city, stack in stacks.items() if stack}


def parallels_close(figures: Parameters, seats: int) -> bool:
    """Whether a claim closes the routes parallel to it (DOUBLE-2)."""
    return not figures.parallel_owned and seats < figures.parallel_seats


def ticket_decks(figures: Parameters) -> tuple[str, ...]:
    """The decks that tickets are offered from, at the start or later."""
    return tuple(dict.fromkeys((*figures.start_tickets, *figures.draw_tickets)))


# -- building one ------------------------------------------------------------------------------


def _routes(form: BoardForm) -> dict[str, Route]:
    parallel: dict[frozenset[str], list[str]] = {}
    for route in form.routes:
        parallel.setdefault(frozenset(route.between), []).append(route.id)
    return {
        route.id: Route(
            route.id,
            *route.between,
            route.length,
            route.color,
            tuple(twin for twin in parallel[frozenset(route.between)] if twin != route.id),
            Fare(route.length, route.color, route.locomotives),
            route.kind,
            route.locomotives,
        )
        for route in form.routes
    }


def _digest(form: BoardForm, tickets: Mapping[str, Ticket]) -> str:
    """SHA-256 of what play depends on: routes and tickets in their order, dead ends, merchandise."""
    plain = {
        "routes": [[r.id, *r.between, r.length, r.color, r.kind, r.locomotives] for r in form.routes],
        "tickets": [[*ticket] for ticket in tickets.values()],
        "countries": sorted(city.id for city in form.cities if city.country),
        "merchandise": sorted([c.id, c.merchandise] for c in form.cities if c.merchandise),
    }
    return sha256(json.dumps(plain, separators=(",", ":")).encode()).hexdigest()
