"""The board that a new game names, or brings along."""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Annotated, Any

from pydantic import AfterValidator, WithJsonSchema

from schemas.field_types import require_json_object


def _validate_board_choice(board: object) -> str | Mapping[str, object]:
    if isinstance(board, dict):
        return require_json_object(board)
    if isinstance(board, str) and re.fullmatch(r"[a-z0-9][a-z0-9_-]{0,39}", board):
        return board
    raise ValueError("must be the name of a board, or a board")


BoardChoice = Annotated[
    Any,
    AfterValidator(_validate_board_choice),
    WithJsonSchema(
        {"anyOf": [{"type": "string", "pattern": "^[a-z0-9][a-z0-9_-]{0,39}$"}, {"type": "object"}]}
    ),
]  # a board's name, or a board in place in the form of schemas/boards/form.py; pydantic checks no more
