"""Cities as people write them in a question: `München` stands for `munchen`, the id that it makes.

The ids of every board are made of its cities' names like that, also those of other people's maps.
"""

from __future__ import annotations

import re
from typing import Any, Final

from schemas.boards.ids import slug
from schemas.contract import Malformed

NAME_MOST: Final = 40
_ID: Final = re.compile(r"[a-z0-9][a-z0-9.-]{0,39}")
_BY_CITY: Final = ("stations", "passengers", "tokens")


def with_ids(question: dict[str, Any]) -> dict[str, Any]:
    """The question with ids for the names of cities. What isn't of its form is left as it is.

    Raises Malformed if a city stands twice, once by its id and once by its name."""
    position = question.get("position")
    spelled = dict(question)
    if isinstance(position, dict):
        spelled["position"] = _position(position)
    if isinstance(question.get("commands"), list):
        spelled["commands"] = _in_fields(question["commands"], "city", "neighbour", "passenger")
    return spelled


def _position(position: dict[str, Any]) -> dict[str, Any]:
    spelled = dict(position)
    for field in _BY_CITY:
        if isinstance(position.get(field), dict):
            spelled[field] = _in_keys(position[field], f"position.{field}")
    if isinstance(stations := spelled.get("stations"), dict):
        spelled["stations"] = {city: _fields(station, "neighbour") for city, station in stations.items()}
    if isinstance(rows := position.get("tickets"), list):
        spelled["tickets"] = [_in_fields(row, "between") for row in rows]
    if isinstance(decks := position.get("ticket_decks"), dict):
        spelled["ticket_decks"] = {deck: _in_fields(row, "between") for deck, row in decks.items()}
    return spelled


def _in_keys(by_city: dict[str, Any], entry: str) -> dict[str, Any]:
    spelled: dict[str, Any] = {}
    for name, value in by_city.items():
        if (city := _id(name)) in spelled:
            raise Malformed(f"{entry}.{name}", f"{city} is there already")
        spelled[city] = value
    return spelled


def _in_fields(rows: object, *fields: str) -> object:
    return [_fields(row, *fields) for row in rows] if isinstance(rows, list) else rows


def _fields(row: object, *fields: str) -> object:
    if not isinstance(row, dict):
        return row
    return {field: _spelled(told) if field in fields else told for field, told in row.items()}


def _spelled(told: object) -> object:
    return [_id(name) for name in told] if isinstance(told, list) else _id(told)


def _id(name: Any) -> Any:
    fits = isinstance(name, str) and len(name) <= NAME_MOST and not _ID.fullmatch(name)
    return slug(name, name) if fits else name
