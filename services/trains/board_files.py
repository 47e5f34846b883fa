"""A board from a file: our own form, a plain map, a Trains map, or an AI-MAS map with its tickets beside it."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Final

from schemas.errors import InvalidInputError
from schemas.trains.boards.aimas import read_aimas_map, with_listed_tickets
from schemas.trains.boards.board_ids import slug
from schemas.trains.boards.form import BoardForm, read_board
from schemas.trains.boards.plain import is_plain_map, to_board_form
from schemas.trains.boards.trains import read_trains_map
from services.documents import read_json, read_text

MAX_BOARD_BYTES: Final = 2_000_000
TICKETS_SUFFIX: Final = ".tickets.json"  # of the file beside an AI-MAS map, in place of the map's own suffix


def read_board_file(path: str | Path) -> BoardForm:
    """The board in this file, whose form is recognised by its content. A form without an id for the
    board takes the file's name. The tickets of an AI-MAS map NAME.xml are in NAME.tickets.json, if that is there.

    Raises InvalidInputError, naming the file and the entry."""
    board_path = Path(path)
    with _naming(board_path):
        text = read_text(board_path, MAX_BOARD_BYTES)
        form = read_board_text(text, slug(board_path.name.split(".")[0], "map"))
    ticket_path = board_path.with_suffix(TICKETS_SUFFIX)
    if not _is_xml(text) or not ticket_path.exists():
        return form
    with _naming(ticket_path):
        return with_listed_tickets(form, read_json(read_text(ticket_path, MAX_BOARD_BYTES)))


def read_board_text(text: str, name: str) -> BoardForm:
    """The board in this text. Raises InvalidInputError, naming the entry."""
    if _is_xml(text):
        return read_aimas_map(text, name)
    value = read_json(text, "is neither JSON nor XML")
    if isinstance(value, dict) and "connections" in value and "format" not in value:
        return read_trains_map(value, name)
    return read_board(to_board_form(value, name) if is_plain_map(value) else value)


@contextmanager
def _naming(path: Path) -> Iterator[None]:
    """Errors inside name this file."""
    try:
        yield
    except InvalidInputError as error:
        raise InvalidInputError("board", f"{path}: {error}", error.rule) from None


def _is_xml(text: str) -> bool:
    return text.lstrip().startswith("<")
