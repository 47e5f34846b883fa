"""Cities by name in a position query: `München` stands for `munchen`, its id.

Every board's city ids are made from the names by `slug`, also those of boards in other forms.
"""

from __future__ import annotations

import re
from typing import Final, TypeVar

from schemas.boards.ids import slug
from schemas.errors import InvalidInputError

T = TypeVar("T")
MAX_NAME_LENGTH: Final = 40
_CITY_ID: Final = re.compile(r"[a-z0-9][a-z0-9.-]{0,39}")
_CITY_KEYED_FIELDS: Final = ("stations", "passengers", "tokens")


def replace_city_names(query: dict[str, object]) -> dict[str, object]:
    """The query with ids for the names of cities. What isn't of its form is left as it is.

    Raises InvalidInputError if a city is there twice, once by its id and once by its name."""
    position = query.get("position")
    converted = dict(query)
    if isinstance(position, dict):
        converted["position"] = _convert_position(position)
    if isinstance(query.get("commands"), list):
        converted["commands"] = _convert_rows(query["commands"], "city", "neighbour", "passenger")
    return converted


def _convert_position(position: dict[str, object]) -> dict[str, object]:
    converted = dict(position)
    for field in _CITY_KEYED_FIELDS:
        if isinstance(by_city := position.get(field), dict):
            converted[field] = _convert_keys(by_city, f"position.{field}")
    if isinstance(stations := converted.get("stations"), dict):
        converted["stations"] = {
            city: _convert_fields(station, "neighbour") for city, station in stations.items()
        }
    if isinstance(rows := position.get("tickets"), list):
        converted["tickets"] = [_convert_rows(row, "between") for row in rows]
    if isinstance(decks := position.get("ticket_decks"), dict):
        converted["ticket_decks"] = {deck: _convert_rows(row, "between") for deck, row in decks.items()}
    return converted


def _convert_keys(by_city: dict[str, object], field_path: str) -> dict[str, object]:
    converted: dict[str, object] = {}
    for name, value in by_city.items():
        if (city := _to_city_id(name)) in converted:
            raise InvalidInputError(f"{field_path}.{name}", f"{city} is there already")
        converted[city] = value
    return converted


def _convert_rows(rows: object, *fields: str) -> object:
    return [_convert_fields(row, *fields) for row in rows] if isinstance(rows, list) else rows


def _convert_fields(row: object, *fields: str) -> object:
    if not isinstance(row, dict):
        return row
    return {field: _convert_value(value) if field in fields else value for field, value in row.items()}


def _convert_value(value: object) -> object:
    return [_to_city_id(name) for name in value] if isinstance(value, list) else _to_city_id(value)


def _to_city_id(name: T) -> T | str:
    if isinstance(name, str) and len(name) <= MAX_NAME_LENGTH and not _CITY_ID.fullmatch(name):
        return slug(name, name)
    return name
