"""A board's drawing as one SVG picture, for whoever wants no page around it."""

from __future__ import annotations

from typing import Final

from services.gateway.models.catalog_models import BoardDrawing
from services.runtime.html_templates import html_templates

SPACE_HEIGHT: Final = 9.0
FILLS: Final = {
    "purple": "#a56cc1",
    "white": "#f5f3ee",
    "blue": "#3f7fc4",
    "yellow": "#e8c33a",
    "orange": "#e58a2e",
    "red": "#cf4a42",
    "green": "#5a9a4e",
    "black": "#3a3d42",
    "gray": "#b4b8bb",
}

_TEMPLATES: Final = html_templates("services.gateway.routes")


def board_svg(drawing: BoardDrawing) -> str:
    """The board as an SVG document. Its names are escaped."""
    return _TEMPLATES.get_template("board.svg").render(board=drawing, fills=FILLS, height=SPACE_HEIGHT)
