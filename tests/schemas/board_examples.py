"""A small valid board in each of the three forms."""

from __future__ import annotations

import json
from typing import Any

OURS: dict[str, Any] = {
    "format": 1,
    "id": "lakes",
    "title": "Three lakes",
    "size": [300, 200],
    "cities": [
        {"id": "north", "name": "North", "at": [150, 20], "country": True},
        {"id": "east", "name": "East", "at": [280, 120], "merchandise": "red", "unverified": True},
        {"id": "west", "name": "West", "at": [20, 120]},
    ],
    "routes": [
        {
            "id": "n-e",
            "between": ["north", "east"],
            "length": 2,
            "color": "gray",
            "kind": "ferry",
            "locomotives": 1,
        },
        {"id": "e-w", "between": ["east", "west"], "length": 4, "color": "blue"},
    ],
    "tickets": [{"id": "n:w", "between": ["north", "west"], "points": 6, "deck": "regular"}],
    "rules": "marklin",
    "options": {"cars": 20},
}
TRAINS: dict[str, Any] = {
    "width": 200,
    "height": 100,
    "cities": [["Bern", [10, 20]], ["Aarau", [30, 40]], ["St. Gallen", [30, 40]], ["Alone", [0, 100]]],
    "connections": {
        "Bern": {"Aarau": {"white": 5, "red": 3}},
        "St. Gallen": {"Aarau": {"blue": 4}},
        "Alone": {},
    },
}
NODES = '<nodes><node name="Wien" x="5" y="4"/><node name="Zürich" x="9" y="40"/><node name="Zurich" x="1" y="2"/></nodes>'
EDGE = '<edge node1="0" node2="1" color1="r" color2="*" value="4" eng="0" cars="3" tunnel="1"/>'
FERRY = '<edge node1="2" node2="1" color1="n" color2="none" value="4" eng="1" cars="2" tunnel="0"/>'
AIMAS = f'<?xml version="1.0"?>\n<map name="Alps">{NODES}<edges>{EDGE}{FERRY}</edges></map>'


def changed(value: Any, *path: Any, to: Any) -> str:
    """The JSON of a copy in which one place holds something else."""
    copy = json.loads(json.dumps(value))
    inner = copy
    for step in path[:-1]:
        inner = inner[step]
    inner[path[-1]] = to
    return json.dumps(copy)
