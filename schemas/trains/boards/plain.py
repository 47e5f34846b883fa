"""A board as map collections and puzzle authors write it, with fewer fields than the product's form:

    {"id": "lakes", "width": 300, "height": 200,
     "cities": [{"id": "north", "name": "North", "x": 150, "y": 20, "lat": 47.1, "lon": 8.2}, ..],
     "routes": [{"id": "east-north-a", "between": ["east", "north"], "length": 3, "color": "blue"}, ..],
     "tickets": [{"between": ["north", "west"], "points": 6}, ..]}

Points on the picture, titles and ids of tickets may be missing: no rule depends on them.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Final, TypeGuard

from schemas.trains.boards.board_ids import make_unique

DEFAULT_SIDE: Final = 1000  # of a picture whose size isn't given
_MAP_ONLY_KEYS: Final = {"width", "height", "lat", "lon", "x", "y", "terminals", "merchandise_verified"}
_OTHER_TICKET_KEYS: Final = {"extra_tickets", "multi_tickets"}  # which aren't those of the game


def is_plain_map(value: object) -> TypeGuard[Mapping[str, object]]:
    """Whether this is such a map: it has cities, and no field that only another form has."""
    return isinstance(value, Mapping) and "cities" in value and not value.keys() & {"format", "connections"}


def to_board_form(value: Mapping[str, object], name: str = "map") -> dict[str, object]:
    """Convert such a map into the form of schemas/trains/boards/form.py, unchecked: `read_board` checks it."""
    size = value.get("size") or [_round_float(value.get(side, DEFAULT_SIDE)) for side in ("width", "height")]
    board_fields = {
        key: field_value
        for key, field_value in value.items()
        if key not in _MAP_ONLY_KEYS | _OTHER_TICKET_KEYS
    }
    return {
        "title": value.get("title") or value.get("id") or name,
        "id": name,
        "routes": [],
        "rules": _guess_ruleset(value),
        **board_fields,
        "format": 1,
        "size": size,
        "cities": _convert_rows(value["cities"], _convert_city),
        "tickets": _convert_tickets(value.get("tickets", [])),
    }


def _guess_ruleset(value: Mapping[str, object]) -> str:
    """The ruleset that has rules for everything on the map."""

    def field_values(key: str, field: str) -> set[object]:
        entries = value.get(key)
        return (
            {str(row.get(field)) for row in entries if isinstance(row, dict)}
            if isinstance(entries, list)
            else set()
        )

    if field_values("routes", "kind") & {"ferry", "tunnel"}:
        return "europe"
    return "marklin" if field_values("tickets", "deck") & {"short", "long"} else "usa"


def _convert_rows(rows: object, convert: Callable[[dict[str, object]], dict[str, object]]) -> object:
    """The rows, each converted; what is no list of objects is left for `read_board` to refuse."""
    if not isinstance(rows, list):
        return rows
    return [convert(row) if isinstance(row, dict) else row for row in rows]


def _convert_city(city: dict[str, object]) -> dict[str, object]:
    converted = {key: value for key, value in city.items() if key not in _MAP_ONLY_KEYS}
    converted.setdefault("name", city.get("id"))
    converted.setdefault("at", [_round_float(city.get("x", 0)), _round_float(city.get("y", 0))])
    if city.get("merchandise") and city.get("merchandise_verified") is False:
        converted["unverified"] = True
    return converted


def _convert_tickets(rows: object) -> object:
    """A ticket without an id is named by its cities."""
    if not isinstance(rows, list):
        return rows
    ids = iter(make_unique(":".join(sorted(map(str, _ticket_ends(row)))) for row in rows))
    return _convert_rows(rows, lambda row: {"deck": "regular", "id": next(ids), **row})


def _ticket_ends(ticket: object) -> list[object]:
    ends = ticket.get("between") if isinstance(ticket, dict) else None
    return ends if isinstance(ends, list) else []


def _round_float(number: object) -> object:
    return round(number) if isinstance(number, float) and abs(number) < 1e6 else number
