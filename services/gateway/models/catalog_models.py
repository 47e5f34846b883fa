"""Answers about boards and rulesets."""

from __future__ import annotations

from typing import Annotated

from pydantic import Field

from services.gateway.models.contract_schemas import refers_to
from services.gateway.models.response_models import ResponseModel


class Label(ResponseModel):
    """Where a city's name stands: the middle of its baseline, and how wide it is written."""

    x: float
    y: float
    width: float


class DrawnCity(ResponseModel):
    """A city at its place."""

    id: str
    name: str
    x: float
    y: float
    country: bool = Field(description="a dead end: no path goes through")
    merchandise: str | None = Field(description="the colour of its stack")
    label: Label


class CarSpace(ResponseModel):
    """One space of a route: the middle of a rectangle, its length, and its direction in degrees."""

    x: float
    y: float
    angle: float
    length: float


class DrawnRoute(ResponseModel):
    """A route with its car spaces. Parallel routes lie side by side."""

    id: str
    a: str
    b: str
    length: int
    color: str
    kind: str
    locomotives: int
    title: str
    spaces: list[CarSpace]


class BoardDrawing(ResponseModel):
    """A board, ready to be drawn: all that stands on it has its place."""

    id: str
    title: str
    ruleset: str = Field(description="the one that it is usually played with")
    width: float
    height: float
    land: str = Field(description="the ground as an SVG path; empty where the board has none")
    cities: list[DrawnCity]
    routes: list[DrawnRoute]


class ListedBoard(ResponseModel):
    """A built-in board."""

    id: str
    title: str
    ruleset: str = Field(description="the one that it is usually played with")
    rulesets: list[str] = Field(description="all that it can be played with")
    cities: int
    routes: int
    tickets: int


class BoardList(ResponseModel):
    """The built-in boards."""

    boards: list[ListedBoard]


class OptionDescription(ResponseModel):
    """A rule option: its type as JSON Schema, its defaults in this ruleset, and what it means."""

    name: str
    type: Annotated[dict[str, object], refers_to("OptionType")]
    default: Annotated[object, refers_to("OptionValue")] = Field(description="at a table of bots alone")
    default_with_people: Annotated[object, refers_to("OptionValue")] = Field(
        description="at a table with a seat for a person, which other people's programs take too"
    )
    meaning: str


class RulesetDescription(ResponseModel):
    """A ruleset and what may be chosen in it."""

    name: str
    version: int
    meaning: str
    default_board: str | None = Field(description="null where the game is played on no board")
    seats_least: int
    seats_most: int
    policies: list[str] = Field(description="of the bots that can play it")
    options: list[OptionDescription]


class ClockPreset(ResponseModel):
    """A way to limit time, by name: what a creation's `clock` may be."""

    name: str
    title: str
    meaning: str
    options: dict[str, int | None]


class RulesetList(ResponseModel):
    """The rulesets, and the clock presets that suit all of them."""

    rulesets: list[RulesetDescription]
    clocks: list[ClockPreset]
