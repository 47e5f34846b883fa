"""The one form of a board: cities, routes between them, tickets. Data, checked on reading."""

from __future__ import annotations

from typing import Annotated, Literal

from pydantic import Field, model_validator

from schemas.contract import Shape, contract
from schemas.words import CityId, Color, Int, Name, RouteId, TicketId, Word

Coordinate = Annotated[Int, Field(ge=0, le=10_000)]


@contract()
class CityForm:
    id: CityId
    name: Name
    at: tuple[Coordinate, Coordinate]


@contract()
class RouteForm:
    """A set of spaces between two neighbouring cities. Parallel routes join the same two."""

    id: RouteId
    between: tuple[CityId, CityId]
    length: Annotated[Int, Field(ge=1, le=20)]
    color: Color | Literal["gray"]


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
    routes: Annotated[tuple[RouteForm, ...], Field(min_length=1, max_length=1000)]
    tickets: Annotated[tuple[TicketForm, ...], Field(max_length=1000)]

    @model_validator(mode="after")
    def _names_fit(self) -> BoardForm:
        cities = {city.id for city in self.cities}
        if len(cities) < len(self.cities):
            raise ValueError("two cities have the same id")
        seen: set[str] = set()
        entries: tuple[RouteForm | TicketForm, ...] = (*self.routes, *self.tickets)
        for entry in entries:
            what = f"{'route' if isinstance(entry, RouteForm) else 'ticket'} {entry.id}"
            if (key := f"{type(entry).__name__}:{entry.id}") in seen:
                raise ValueError(f"{what} is there twice")
            seen.add(key)
            for city in entry.between:
                if city not in cities:
                    raise ValueError(f"{what}: there is no city {city}")
            if entry.between[0] == entry.between[1]:
                raise ValueError(f"{what} joins a city to itself")
        return self


BOARD: Shape[BoardForm] = Shape(BoardForm, "board")
