"""A small Trains map for examples, and games on it.

    Ash =red 3, blue 4= Bow -green 3- Cam -white 5- Dee -blue 3- Esk,  Ash -red 4- Cam

Its five cities make ten destinations, enough for three seats."""

from __future__ import annotations

from typing import Any, Final

from schemas.trains.boards.form import BOARD_SCHEMA
from schemas.trains.boards.trains import read_trains_map
from tests.rules.given import Scene, given, started

ASH_BOW_RED, ASH_BOW_BLUE, ASH_CAM = "ash-bow-red", "ash-bow-blue", "ash-cam-red"
BOW_CAM, CAM_DEE, DEE_ESK = "bow-cam-green", "cam-dee-white", "dee-esk-blue"

CONNECTIONS: Final = {
    "Ash": {"Bow": {"red": 3, "blue": 4}, "Cam": {"red": 4}},
    "Bow": {"Cam": {"green": 3}},
    "Cam": {"Dee": {"white": 5}},
    "Dee": {"Esk": {"blue": 3}},
}


def trains_board(connections: dict[str, dict[str, dict[str, int]]], *cities: str) -> dict[str, Any]:
    """The board, as a command carries it, of these cities in a row and their connections."""
    cities_at = [[city, [10 * n, 10]] for n, city in enumerate(cities)]
    map_form = {"width": 200, "height": 100, "cities": cities_at, "connections": connections}
    board: dict[str, Any] = BOARD_SCHEMA.write(read_trains_map(map_form))
    return board


SMALL: Final = trains_board(CONNECTIONS, "Ash", "Bow", "Cam", "Dee", "Esk")


def trains_game(seats: int = 2, **fields: Any) -> Scene:
    """A game on the small map whose destinations are chosen, everything else as named."""
    return given(seats, rules="trains", board=SMALL, **fields)


def choosing_destinations(seats: int = 2, **fields: Any) -> Scene:
    """The same game just dealt, the first seat choosing its destinations."""
    return started(seats, rules="trains", **{"board": SMALL, **fields})
