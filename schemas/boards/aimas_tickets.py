"""The tickets of an AI-MAS map, which stand in a file of their own beside it, as JSON:

    {"long": [["Edinburgh", "Athina", 21], ..], "short": [["Paris", "Wien", 8], ..]}

Each is two cities, by name or by position as in the map's edges, and its points. Long tickets are those that each
seat gets one of at the start; short ones are what the rules of `europe` call regular. A list may be missing.
"""

from __future__ import annotations

from collections.abc import Iterator
from reprlib import repr as short_repr
from typing import Any, Final

from schemas.boards.aimas import NodeNames
from schemas.boards.form import BOARD_SCHEMA, BoardForm, read_board
from schemas.boards.ids import make_unique
from schemas.errors import InvalidInputError

DECKS: Final = {"long": "long", "short": "regular"}  # by the name of the list
MAX_POINTS: Final = 100
_INVENTED: Final = ("pair_tickets", "start_tickets", "start_keep", "draw_tickets")


def with_listed_tickets(form: BoardForm, value: object) -> BoardForm:
    """The board of an AI-MAS map with these tickets in place of the invented ones; the rules of `europe` then say
    how many are offered.

    Raises InvalidInputError, naming the entry that is wrong."""
    if not isinstance(value, dict) or not value or value.keys() - DECKS.keys():
        raise InvalidInputError("tickets", "must be an object with the lists long and short, and no more")
    tickets = [*_iter_tickets(form, value)]
    if not any(ticket["deck"] == "regular" for ticket in tickets):
        raise InvalidInputError("short", "must list tickets: they are drawn during the game")
    ids = make_unique(":".join(ticket["between"]) for ticket in tickets)
    options = {name: option for name, option in (form.options or {}).items() if name not in _INVENTED}
    if not any(ticket["deck"] == "long" for ticket in tickets):
        options["start_tickets"] = {"regular": 3}
    return read_board(
        {
            **BOARD_SCHEMA.write(form, exclude_defaults=True),
            "options": options,
            "tickets": [{"id": id_, **ticket} for id_, ticket in zip(ids, tickets, strict=True)],
        }
    )


def _iter_tickets(
    form: BoardForm, lists: dict[str, object]
) -> Iterator[dict[str, Any]]:  # read_board checks them
    node_names = NodeNames([city.name for city in form.cities])
    for name, rows in lists.items():
        if not isinstance(rows, list):
            raise InvalidInputError(name, f"must be a list of [city, city, points], not {short_repr(rows)}")
        for n, row in enumerate(rows):
            entry = f"{name}.{n}"
            one, other, points = _read_row(entry, row)
            between = sorted(form.cities[node_names.find(entry, city)].id for city in (one, other))
            if between[0] == between[1]:
                raise InvalidInputError(entry, "joins a city to itself")
            yield {"between": between, "points": points, "deck": DECKS[name]}


def _read_row(entry: str, row: object) -> tuple[str, str, int]:
    """The two cities as they are referred to, and the points."""
    match row:
        case [str() | int() as one, str() | int() as other, int() as points] if bool not in map(type, row):
            if not 1 <= points <= MAX_POINTS:
                reason = f"the points are 1 to {MAX_POINTS}, not {short_repr(points)}"
                raise InvalidInputError(entry, reason)
            return str(one), str(other), points
    raise InvalidInputError(entry, f"must be [city, city, points], not {short_repr(row)}")
