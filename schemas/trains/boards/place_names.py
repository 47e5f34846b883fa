"""Cities and routes by name in a position query: `München` stands for `munchen`, `Miami-Atlanta` for its route.

A name is looked up on the board as it stands there, with the blanks that it begins or ends with, then normalised
(`board_ids`). Any other is taken for the id that `slug` makes of it, which the board then doesn't have.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from functools import partial
from typing import Final, TypeAlias

from schemas.errors import InvalidInputError
from schemas.trains.boards.board_ids import MAX_TEXT_LENGTH, BoardIds, slug

ToId: TypeAlias = Callable[[object], object]  # a name to its id; anything else to itself
MAX_NAME_LENGTH: Final = 40
_ID: Final = re.compile(r"[a-z0-9][a-z0-9.-]*")
_CITY_KEYED_FIELDS: Final = ("stations", "passengers", "tokens")


def replace_names(query: dict[str, object], ids: BoardIds | None) -> dict[str, object]:
    """The query with ids for the names of cities and routes; without a board only their form is normalised. What
    isn't of its form is left as it is.

    Raises InvalidInputError if a city or a route is there twice, once by its id and once by its name."""
    to_city = partial(_to_id, ids.city if ids else _no_id, MAX_NAME_LENGTH)
    to_route = partial(_to_id, ids.route if ids else _no_id, MAX_TEXT_LENGTH)
    position = query.get("position")
    converted = dict(query)
    if isinstance(position, dict):
        converted["position"] = _convert_position(position, to_city, to_route)
    if isinstance(query.get("commands"), list):
        with_cities = _convert_rows(query["commands"], to_city, "city", "neighbour", "passenger")
        converted["commands"] = _convert_rows(with_cities, to_route, "route", "path")
    return converted


def _convert_position(position: dict[str, object], to_city: ToId, to_route: ToId) -> dict[str, object]:
    converted = dict(position)
    for field in _CITY_KEYED_FIELDS:
        if isinstance(by_city := position.get(field), dict):
            converted[field] = _convert_keys(by_city, to_city, f"position.{field}")
    if isinstance(owners := position.get("routes"), dict):
        converted["routes"] = _convert_keys(owners, to_route, "position.routes")
    if isinstance(stations := converted.get("stations"), dict):
        converted["stations"] = {
            city: _convert_fields(station, to_city, "neighbour") for city, station in stations.items()
        }
    if isinstance(rows := position.get("tickets"), list):
        converted["tickets"] = [_convert_rows(row, to_city, "between") for row in rows]
    if isinstance(decks := position.get("ticket_decks"), dict):
        converted["ticket_decks"] = {
            deck: _convert_rows(row, to_city, "between") for deck, row in decks.items()
        }
    return converted


def _convert_keys(by_name: dict[str, object], to_id: ToId, field_path: str) -> dict[str, object]:
    converted: dict[str, object] = {}
    for name, value in by_name.items():
        if (key := str(to_id(name))) in converted:
            raise InvalidInputError(f"{field_path}.{name}", f"{key} is there already")
        converted[key] = value
    return converted


def _convert_rows(rows: object, to_id: ToId, *fields: str) -> object:
    return [_convert_fields(row, to_id, *fields) for row in rows] if isinstance(rows, list) else rows


def _convert_fields(row: object, to_id: ToId, *fields: str) -> object:
    if not isinstance(row, dict):
        return row
    return {field: _convert_value(value, to_id) if field in fields else value for field, value in row.items()}


def _convert_value(value: object, to_id: ToId) -> object:
    return [to_id(name) for name in value] if isinstance(value, list) else to_id(value)


def _to_id(find: Callable[[str], str | None], max_length: int, name: object) -> object:
    if not isinstance(name, str) or len(name) > max_length:
        return name
    return find(name) or (name if _ID.fullmatch(name) else slug(name, name, max_length))


def _no_id(name: str) -> None:
    """Without a board nothing is found."""
