"""The one form of a board: cities, routes between them, tickets. Data, checked on reading."""

from __future__ import annotations

from reprlib import repr as brief
from typing import Annotated, Literal

from pydantic import Field, model_validator

from schemas.contract import Malformed, Shape, contract
from schemas.field_types import Bool, CityId, Color, Int, Name, Plain, RouteId, Text, TicketId, Word

Coordinate = Annotated[Int, Field(ge=0, le=10_000)]
Remark = Annotated[Text, Field(min_length=1, max_length=400)]
Kind = Literal["rail", "ferry", "tunnel"]


@contract()
class CityForm:
    """A country is a dead end: routes and tickets may end there, and no path goes through."""

    id: CityId
    name: Name
    at: tuple[Coordinate, Coordinate]
    country: Bool = False
    merchandise: Word | None = None  # the colour of its stack
    unverified: Bool = False  # no source confirms its merchandise


@contract()
class RouteForm:
    """A set of spaces between two neighbouring cities. Parallel routes join the same two."""

    id: RouteId
    between: tuple[CityId, CityId]
    length: Annotated[Int, Field(ge=1, le=20)]
    color: Color | Literal["gray"]
    kind: Kind = "rail"
    locomotives: Annotated[Int, Field(ge=0, le=20)] = 0  # the least that a payment must have


@contract()
class TicketForm:
    id: TicketId
    between: tuple[CityId, CityId]
    points: Annotated[Int, Field(ge=1, le=100)]
    deck: Word


@contract()
class BoardForm:
    """A board file. Sizes are those of its picture, in the same units as the cities' places."""

    format: Literal[1]
    id: Word
    title: Name
    size: tuple[Coordinate, Coordinate]
    cities: Annotated[tuple[CityForm, ...], Field(min_length=2, max_length=500)]
    routes: Annotated[tuple[RouteForm, ...], Field(max_length=1000)]
    tickets: Annotated[tuple[TicketForm, ...], Field(max_length=2000)]
    rules: Word = "usa"  # the ruleset that it is usually played with
    options: Plain | None = None  # figures that it sets otherwise than that ruleset
    unverified: Annotated[tuple[Remark, ...], Field(max_length=50)] = ()  # what no source confirms
    not_built: Annotated[tuple[Remark, ...], Field(max_length=50)] = ()  # official rules that aren't played

    @model_validator(mode="after")
    def _fits(self) -> BoardForm:
        _check_cities(self)
        _check_ends(self, "route", self.routes)
        _check_ends(self, "ticket", self.tickets)
        for route in self.routes:
            if route.locomotives > route.length:
                raise ValueError(
                    f"route {route.id}: asks for more locomotives than its {route.length} spaces"
                )
        joined = {city for route in self.routes for city in route.between}
        for ticket in self.tickets:
            for city in ticket.between:
                if city not in joined:
                    raise ValueError(f"ticket {ticket.id}: no route leads to {city}")
        return self


def _check_cities(form: BoardForm) -> None:
    seen: set[str] = set()
    for city in form.cities:
        if city.id in seen:
            raise ValueError(f"city {city.id} is there twice")
        seen.add(city.id)
        if city.at[0] > form.size[0] or city.at[1] > form.size[1]:
            raise ValueError(f"city {city.id} is off the picture")
        if city.country and city.merchandise:
            raise ValueError(f"city {city.id}: a country has no merchandise")
        if city.unverified and not city.merchandise:
            raise ValueError(f"city {city.id}: has no merchandise that could be unverified")


def _check_ends(form: BoardForm, what: str, entries: tuple[RouteForm, ...] | tuple[TicketForm, ...]) -> None:
    cities = {city.id for city in form.cities}
    seen: set[str] = set()
    for entry in entries:
        if entry.id in seen:
            raise ValueError(f"{what} {entry.id} is there twice")
        seen.add(entry.id)
        for city in entry.between:
            if city not in cities:
                raise ValueError(f"{what} {entry.id}: there is no city {city}")
        if entry.between[0] == entry.between[1]:
            raise ValueError(f"{what} {entry.id} joins a city to itself")


BOARD: Shape[BoardForm] = Shape(BoardForm, "board")


def read_board(value: object) -> BoardForm:
    """The board that a JSON-like value spells. Raises Malformed, naming the entry by its id."""
    try:
        return BOARD.read(value)
    except Malformed as error:
        raise Malformed(_named(value, error.field), error.why, error.rule) from None


def _named(value: object, field: str) -> str:
    """A field like routes.7.length with the id of that route, if it says one."""
    match field.split("."):
        case [("cities" | "routes" | "tickets") as rows, place, *_] if place.isdecimal():
            entry = value[rows][int(place)] if isinstance(value, dict) else None
            if isinstance(entry, dict) and isinstance(entry.get("id"), str):
                return f"{field} ({brief(entry['id'])})"
    return field
