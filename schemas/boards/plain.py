"""A board as map collections and puzzle authors write it, with less around it than our own form:

    {"id": "lakes", "width": 300, "height": 200,
     "cities": [{"id": "north", "name": "North", "x": 150, "y": 20, "lat": 47.1, "lon": 8.2}, ..],
     "routes": [{"id": "east-north-a", "between": ["east", "north"], "length": 3, "color": "blue"}, ..],
     "tickets": [{"between": ["north", "west"], "points": 6}, ..]}

Places on the picture, titles and ids of tickets may be missing: no rule depends on them.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Final, TypeGuard

from schemas.boards.ids import unique

SIDE: Final = 1000  # of a picture whose size isn't told
_OF_THE_MAP: Final = {"width", "height", "lat", "lon", "x", "y", "terminals", "merchandise_verified"}
_OTHER_TICKETS: Final = {"extra_tickets", "multi_tickets"}  # which aren't those of the game


def is_plain_map(value: object) -> TypeGuard[Mapping[str, Any]]:
    """Whether this is such a map: it has cities, and the mark of no other form."""
    return isinstance(value, Mapping) and "cities" in value and not value.keys() & {"format", "connections"}


def spelled_out(value: Mapping[str, Any], name: str = "map") -> dict[str, Any]:
    """The same board in our own form, as far as it can be told; reading it checks the rest."""
    size = value.get("size") or [_whole(value.get(side, SIDE)) for side in ("width", "height")]
    known = {key: told for key, told in value.items() if key not in _OF_THE_MAP | _OTHER_TICKETS}
    return {
        "title": value.get("title") or value.get("id") or name,
        "id": name,
        "routes": [],
        "rules": _rules(value),
        **known,
        "format": 1,
        "size": size,
        "cities": _each(value["cities"], _city),
        "tickets": _tickets(value.get("tickets", [])),
    }


def _rules(value: Mapping[str, Any]) -> str:
    """The ruleset that has rules for everything that lies on the map."""

    def told(rows: str, field: str) -> set[object]:
        listed = value.get(rows)
        return (
            {str(row.get(field)) for row in listed if isinstance(row, dict)}
            if isinstance(listed, list)
            else set()
        )

    if told("routes", "kind") & {"ferry", "tunnel"}:
        return "europe"
    return "marklin" if told("tickets", "deck") & {"short", "long"} else "usa"


def _each(rows: object, spell: Any) -> object:
    """The rows, each spelled out; what is no row of objects is left for the reading to refuse."""
    if not isinstance(rows, list):
        return rows
    return [spell(row) if isinstance(row, dict) else row for row in rows]


def _city(city: dict[str, Any]) -> dict[str, Any]:
    spelled = {key: told for key, told in city.items() if key not in _OF_THE_MAP}
    spelled.setdefault("name", city.get("id"))
    spelled.setdefault("at", [_whole(city.get("x", 0)), _whole(city.get("y", 0))])
    if city.get("merchandise") and city.get("merchandise_verified") is False:
        spelled["unverified"] = True
    return spelled


def _tickets(rows: object) -> object:
    """A ticket without an id is called by its cities."""
    if not isinstance(rows, list):
        return rows
    ids = iter(unique(":".join(sorted(map(str, _ends(row)))) for row in rows))
    return _each(rows, lambda row: {"deck": "regular", "id": next(ids), **row})


def _ends(ticket: object) -> list[object]:
    ends = ticket.get("between") if isinstance(ticket, dict) else None
    return ends if isinstance(ends, list) else []


def _whole(number: object) -> object:
    return round(number) if isinstance(number, float) and abs(number) < 1e6 else number
