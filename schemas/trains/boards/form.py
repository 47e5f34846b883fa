"""The form of a board: cities, routes between them, tickets. Data, checked on reading."""

from __future__ import annotations

from reprlib import repr as short_repr
from typing import Annotated, Final, Literal

from pydantic import Field, model_validator

from schemas.contract import Schema, contract
from schemas.errors import InvalidInputError
from schemas.field_types import Bool, Int, JsonObject, Name, Slug, Text
from schemas.trains.field_types import CityId, CityName, Color, RouteId, TicketId

MAX_CITIES: Final = 500
MAX_ROUTES: Final = 1000

Coordinate = Annotated[Int, Field(ge=0, le=10_000)]
Remark = Annotated[Text, Field(min_length=1, max_length=400)]
RouteKind = Literal["rail", "ferry", "tunnel"]


@contract()
class CityForm:
    """A country is a dead end: routes and tickets may end there, and no path goes through."""

    id: CityId
    name: CityName
    at: tuple[Coordinate, Coordinate]
    country: Bool = False
    merchandise: Slug | None = None  # the colour of its stack
    unverified: Bool = False  # no source confirms its merchandise


@contract()
class RouteForm:
    """A set of spaces between two neighbouring cities. Parallel routes join the same two."""

    id: RouteId
    between: tuple[CityId, CityId]
    length: Annotated[Int, Field(ge=1, le=20)]
    color: Color | Literal["gray"]
    kind: RouteKind = "rail"
    locomotives: Annotated[Int, Field(ge=0, le=20)] = 0  # the least that a payment must have


@contract()
class TicketForm:
    id: TicketId
    between: tuple[CityId, CityId]
    points: Annotated[Int, Field(ge=1, le=100)]
    deck: Slug


@contract()
class BoardForm:
    """A board file. Sizes are those of its picture, in the same units as the cities' places.

    A board with too few cities to play on is still a board: a game on it is refused when it is created."""

    format: Literal[1]
    id: Slug
    title: Name
    size: tuple[Coordinate, Coordinate]
    cities: Annotated[tuple[CityForm, ...], Field(max_length=MAX_CITIES)]
    routes: Annotated[tuple[RouteForm, ...], Field(max_length=MAX_ROUTES)]
    tickets: Annotated[tuple[TicketForm, ...], Field(max_length=2000)]
    rules: Slug = "usa"  # the ruleset that it is usually played with
    options: JsonObject | None = None  # rule options that differ from that ruleset's
    unverified: Annotated[tuple[Remark, ...], Field(max_length=50)] = ()  # what no source confirms
    not_built: Annotated[tuple[Remark, ...], Field(max_length=50)] = ()  # official rules that aren't played

    @model_validator(mode="after")
    def _validate(self) -> BoardForm:
        _check_cities(self)
        _check_ends(self, "route", self.routes)
        _check_ends(self, "ticket", self.tickets)
        for route in self.routes:
            if route.locomotives > route.length:
                raise ValueError(
                    f"route {route.id}: asks for more locomotives than its {route.length} spaces"
                )
        connected_cities = {city for route in self.routes for city in route.between}
        for ticket in self.tickets:
            for city in ticket.between:
                if city not in connected_cities:
                    raise ValueError(f"ticket {ticket.id}: no route leads to {city}")
        return self


def _check_cities(form: BoardForm) -> None:
    seen_ids: set[str] = set()
    for city in form.cities:
        if city.id in seen_ids:
            raise ValueError(f"city {city.id} is there twice")
        seen_ids.add(city.id)
        if city.at[0] > form.size[0] or city.at[1] > form.size[1]:
            raise ValueError(f"city {city.id} is off the picture")
        if city.country and city.merchandise:
            raise ValueError(f"city {city.id}: a country has no merchandise")
        if city.unverified and not city.merchandise:
            raise ValueError(f"city {city.id}: has no merchandise that could be unverified")


def _check_ends(form: BoardForm, kind: str, entries: tuple[RouteForm, ...] | tuple[TicketForm, ...]) -> None:
    cities = {city.id for city in form.cities}
    seen_ids: set[str] = set()
    for entry in entries:
        if entry.id in seen_ids:
            raise ValueError(f"{kind} {entry.id} is there twice")
        seen_ids.add(entry.id)
        for city in entry.between:
            if city not in cities:
                raise ValueError(f"{kind} {entry.id}: there is no city {city}")
        if entry.between[0] == entry.between[1]:
            raise ValueError(f"{kind} {entry.id} joins a city to itself")


BOARD_SCHEMA: Schema[BoardForm] = Schema(BoardForm, "board")


def read_board(value: object) -> BoardForm:
    """The board in a JSON-like value. Raises InvalidInputError, naming the entry by its id."""
    try:
        return BOARD_SCHEMA.read(value)
    except InvalidInputError as error:
        raise InvalidInputError(_with_entry_id(value, error.field), error.reason, error.rule) from None


def _with_entry_id(value: object, field: str) -> str:
    """A field like routes.7.length with the id of that route, if it has one."""
    match field.split("."):
        case [("cities" | "routes" | "tickets") as rows, index, *_] if index.isdecimal():
            entry = value[rows][int(index)] if isinstance(value, dict) else None
            if isinstance(entry, dict) and isinstance(entry.get("id"), str):
                return f"{field} ({short_repr(entry['id'])})"
    return field
