"""A board from a file: our own form, a plain map, a Trains map, or an AI-MAS map."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Final

from schemas.boards.aimas import read_aimas_map
from schemas.boards.form import BoardForm, read_board
from schemas.boards.ids import slug
from schemas.boards.plain import is_plain_map, to_board_form
from schemas.boards.trains import read_trains_map
from schemas.errors import InvalidInputError
from services.documents.reader import build_unique_dict, read_text

MAX_BOARD_BYTES: Final = 2_000_000


def read_board_file(path: str | Path) -> BoardForm:
    """The board in this file, whose form is recognised by its content. A form without an id for the
    board takes the file's name.

    Raises InvalidInputError, naming the file and the entry."""
    try:
        return read_board_text(
            read_text(Path(path), MAX_BOARD_BYTES), slug(Path(path).name.split(".")[0], "map")
        )
    except InvalidInputError as error:
        raise InvalidInputError("board", f"{path}: {error}", error.rule) from None


def read_board_text(text: str, name: str) -> BoardForm:
    """The board in this text. Raises InvalidInputError, naming the entry."""
    if text.lstrip().startswith("<"):
        return read_aimas_map(text, name)
    value = _read_json(text)
    if isinstance(value, dict) and "connections" in value and "format" not in value:
        return read_trains_map(value, name)
    return read_board(to_board_form(value, name) if is_plain_map(value) else value)


def _read_json(text: str) -> object:
    try:
        return json.loads(text, object_pairs_hook=build_unique_dict)
    except json.JSONDecodeError as error:
        reason = f"is neither JSON nor XML: {error.msg} in line {error.lineno}, column {error.colno}"
        raise InvalidInputError("", reason) from None
    except ValueError:  # json raises it for nothing else
        raise InvalidInputError("", "holds a number of thousands of digits") from None
    except RecursionError:
        raise InvalidInputError("", "is nested without end") from None
