"""A board, ready to be played on: its routes by id, which are parallel, what each costs."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cache
from hashlib import sha256
from importlib import resources
from typing import Final, NamedTuple

from schemas.boards import BOARD, BoardForm
from schemas.contract import Malformed

GRAY: Final = "gray"


class Fare(NamedTuple):
    """What a route asks of a payment. Routes of one fare are paid alike."""

    length: int
    color: str


class Route(NamedTuple):
    id: str
    a: str
    b: str
    length: int
    color: str
    twins: tuple[str, ...]  # the routes parallel to it
    fare: Fare


class Ticket(NamedTuple):
    id: str
    a: str
    b: str
    points: int
    deck: str


@dataclass(frozen=True, slots=True)
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


@cache
def load(name: str) -> Board:
    """The board of this name that comes with the product. Raises Malformed if there is none."""
    if name not in names():
        raise Malformed("board", f"there is no board {name!r}; there is {', '.join(names())}")
    text = resources.files(__package__).joinpath("boards", f"{name}.json").read_bytes()
    return build(BOARD.read(json.loads(text)))


@cache
def names() -> tuple[str, ...]:
    files = resources.files(__package__).joinpath("boards").iterdir()
    return tuple(sorted(file.name.removesuffix(".json") for file in files if file.name.endswith(".json")))


def build(form: BoardForm) -> Board:
    """A board from its checked form."""
    parallel: dict[frozenset[str], list[str]] = {}
    for route in form.routes:
        parallel.setdefault(frozenset(route.between), []).append(route.id)
    routes = {
        route.id: Route(
            route.id,
            *route.between,
            route.length,
            route.color,
            tuple(twin for twin in parallel[frozenset(route.between)] if twin != route.id),
            Fare(route.length, route.color),
        )
        for route in form.routes
    }
    fares: dict[Fare, tuple[str, ...]] = {}
    for fare in sorted({route.fare for route in routes.values()}):
        fares[fare] = tuple(route.id for route in routes.values() if route.fare == fare)
    return Board(
        id=form.id,
        title=form.title,
        digest=_digest(form),
        cities={city.id: city.name for city in form.cities},
        routes=routes,
        tickets={t.id: Ticket(t.id, *t.between, t.points, t.deck) for t in form.tickets},
        fares=fares,
    )


def _digest(form: BoardForm) -> str:
    """SHA-256 of what play depends on: routes and tickets, in the file's order."""
    plain = {
        "routes": [[r.id, *r.between, r.length, r.color] for r in form.routes],
        "tickets": [[t.id, *t.between, t.points, t.deck] for t in form.tickets],
    }
    return sha256(json.dumps(plain, separators=(",", ":")).encode()).hexdigest()
