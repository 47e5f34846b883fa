"""Boards that don't come with the product, in the form in which a command carries them."""

from __future__ import annotations

from typing import Any, Final

from schemas.trains.boards.form import BOARD_SCHEMA
from schemas.trains.boards.trains import read_trains_map

ISLES: Final[dict[str, Any]] = {
    "format": 1,
    "id": "isles",
    "title": "Six isles",
    "size": [300, 200],
    "cities": [
        {"id": place, "name": place.capitalize(), "at": at}
        for place, at in (
            ("ayre", [20, 20]), ("bute", [140, 20]), ("coll", [280, 20]),
            ("dyer", [20, 180]), ("eigg", [140, 180]), ("fara", [280, 180]),
        )
    ],
    "routes": [
        {"id": "ayre-bute", "between": ["ayre", "bute"], "length": 3, "color": "red"},
        {"id": "bute-coll", "between": ["bute", "coll"], "length": 2, "color": "gray"},
        {"id": "bute-coll-2", "between": ["bute", "coll"], "length": 2, "color": "blue"},
        {"id": "ayre-dyer", "between": ["ayre", "dyer"], "length": 4, "color": "green"},
        {"id": "bute-eigg", "between": ["bute", "eigg"], "length": 1, "color": "gray"},
        {"id": "coll-fara", "between": ["coll", "fara"], "length": 5, "color": "black"},
        {"id": "dyer-eigg", "between": ["dyer", "eigg"], "length": 2, "color": "white"},
        {"id": "eigg-fara", "between": ["eigg", "fara"], "length": 6, "color": "gray"},
    ],
    "tickets": [
        {"id": f"{a}:{b}", "between": [a, b], "points": points, "deck": "regular"}
        for a, b, points in (
            ("ayre", "coll", 5), ("ayre", "eigg", 4), ("bute", "dyer", 3), ("coll", "eigg", 3),
            ("dyer", "fara", 8), ("ayre", "fara", 10), ("bute", "fara", 7), ("coll", "dyer", 5),
            ("bute", "coll", 2), ("ayre", "bute", 3), ("eigg", "fara", 6), ("ayre", "dyer", 4),
        )
    ],
    "options": {"cars": 12},
}  # fmt: skip

VALLEY: Final[dict[str, Any]] = BOARD_SCHEMA.write(
    read_trains_map(
        {
            "width": 200,
            "height": 100,
            "cities": [
                [city, [20 * place, 10 * place]]
                for place, city in enumerate(("Ash", "Bow", "Cam", "Dee", "Esk", "Fal", "Gade"))
            ],
            "connections": {
                "Ash": {"Bow": {"red": 3, "blue": 4}, "Cam": {"red": 4}, "Gade": {"white": 3}},
                "Bow": {"Cam": {"green": 3}, "Fal": {"white": 4}},
                "Cam": {"Dee": {"white": 5}, "Fal": {"red": 3}},
                "Dee": {"Esk": {"blue": 3}, "Fal": {"green": 4}},
                "Esk": {"Gade": {"green": 5}},
                "Fal": {"Gade": {"blue": 3}},
            },
        },
        "valley",
        "Valley",
    ),
    exclude_defaults=True,
)
