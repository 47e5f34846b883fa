"""Cities by name in a position query: `München` stands for `munchen`, its id.

A name is looked up on the board as it stands there, with the blanks that it begins or ends with. Any other
is taken for the id that `slug` makes of it, as the ids of built-in boards and of other people's maps are made.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Callable, Mapping
from functools import partial
from typing import Final, TypeAlias

from schemas.boards.form import BoardForm
from schemas.boards.ids import slug
from schemas.errors import InvalidInputError

ToId: TypeAlias = Callable[[object], object]  # a city's name to its id; anything else to itself
MAX_NAME_LENGTH: Final = 40
_CITY_ID: Final = re.compile(r"[a-z0-9][a-z0-9.-]{0,39}")
_CITY_KEYED_FIELDS: Final = ("stations", "passengers", "tokens")


def unique_city_names(form: BoardForm) -> dict[str, str]:
    """The id of each city by its name, where no other city has that name or has it for its id."""
    counts = Counter(city.name for city in form.cities) + Counter(city.id for city in form.cities)
    return {city.name: city.id for city in form.cities if counts[city.name] == 1}


def replace_city_names(query: dict[str, object], ids_by_name: Mapping[str, str]) -> dict[str, object]:
    """The query with ids for the names of cities. What isn't of its form is left as it is.

    Raises InvalidInputError if a city is there twice, once by its id and once by its name."""
    to_id = partial(_to_city_id, ids_by_name)
    position = query.get("position")
    converted = dict(query)
    if isinstance(position, dict):
        converted["position"] = _convert_position(position, to_id)
    if isinstance(query.get("commands"), list):
        converted["commands"] = _convert_rows(query["commands"], to_id, "city", "neighbour", "passenger")
    return converted


def _convert_position(position: dict[str, object], to_id: ToId) -> dict[str, object]:
    converted = dict(position)
    for field in _CITY_KEYED_FIELDS:
        if isinstance(by_city := position.get(field), dict):
            converted[field] = _convert_keys(by_city, to_id, f"position.{field}")
    if isinstance(stations := converted.get("stations"), dict):
        converted["stations"] = {
            city: _convert_fields(station, to_id, "neighbour") for city, station in stations.items()
        }
    if isinstance(rows := position.get("tickets"), list):
        converted["tickets"] = [_convert_rows(row, to_id, "between") for row in rows]
    if isinstance(decks := position.get("ticket_decks"), dict):
        converted["ticket_decks"] = {
            deck: _convert_rows(row, to_id, "between") for deck, row in decks.items()
        }
    return converted


def _convert_keys(by_city: dict[str, object], to_id: ToId, field_path: str) -> dict[str, object]:
    converted: dict[str, object] = {}
    for name, value in by_city.items():
        if (city := str(to_id(name))) in converted:
            raise InvalidInputError(f"{field_path}.{name}", f"{city} is there already")
        converted[city] = value
    return converted


def _convert_rows(rows: object, to_id: ToId, *fields: str) -> object:
    return [_convert_fields(row, to_id, *fields) for row in rows] if isinstance(rows, list) else rows


def _convert_fields(row: object, to_id: ToId, *fields: str) -> object:
    if not isinstance(row, dict):
        return row
    return {field: _convert_value(value, to_id) if field in fields else value for field, value in row.items()}


def _convert_value(value: object, to_id: ToId) -> object:
    return [to_id(name) for name in value] if isinstance(value, list) else to_id(value)


def _to_city_id(ids_by_name: Mapping[str, str], name: object) -> object:
    if not isinstance(name, str):
        return name
    if name in ids_by_name:
        return ids_by_name[name]
    return name if _CITY_ID.fullmatch(name) or len(name) > MAX_NAME_LENGTH else slug(name, name)
