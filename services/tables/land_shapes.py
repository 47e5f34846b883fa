"""The ground of built-in boards: land as an SVG path, from the files in `land/`.

deploy/board_land.py makes them from Natural Earth's outlines (public domain)."""

from __future__ import annotations

import json
from functools import cache
from importlib import resources
from typing import Final

Rings = list[list[tuple[float, float]]]
FOLDER: Final = "land"


def land_path(board: str, scale: float, dx: float, dy: float) -> str:
    """The land of a built-in board, scaled and moved; empty where there is none."""
    return "".join(
        "M" + "L".join(f"{x * scale + dx:.0f} {y * scale + dy:.0f}" for x, y in ring) + "Z"
        for ring in _read_rings(board)
    )


@cache
def _read_rings(board: str) -> Rings:
    """The outlines in the board's own units. A board of somebody's own has its id only by chance, so only names
    of files in the folder are read."""
    folder = resources.files(__package__).joinpath(FOLDER)
    if not folder.is_dir():
        return []
    file = next((file for file in folder.iterdir() if file.name == f"{board}.json"), None)
    if file is None:
        return []
    rings: Rings = json.loads(file.read_bytes())["rings"]
    return rings
