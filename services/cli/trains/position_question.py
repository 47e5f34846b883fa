"""The question that `ask` takes about a position: made from a game, and the board that it names."""

from __future__ import annotations

import json
from collections.abc import Mapping
from pathlib import Path
from typing import Final

from schemas.commands import Command
from schemas.errors import InvalidInputError
from schemas.field_types import is_json_value
from schemas.trains.boards.board_ids import BoardIds
from schemas.trains.boards.form import BoardForm
from schemas.trains.commands import BuildStation, ClaimRoute, MovePassenger
from schemas.trains.positions import POSITION_SCHEMA
from schemas.trains.rule_options import RULE_OPTIONS_SCHEMA
from services.referee.games import RULESETS
from services.referee.games.trains.board import Board, board_ids, board_names, board_reference, load_board
from services.referee.games.trains.setup.opening import resolve_rule_options
from services.referee.games.trains.setup.position import state_as_position
from services.referee.games.trains.train_state import TrainGame
from services.trains.board_files import read_board_file, read_board_text

DEFAULT_RULESET: Final = "usa"  # of a question that names neither rules nor board


def position_json(state: TrainGame) -> dict[str, object]:
    """The position as JSON, without fields that say nothing."""
    fields = POSITION_SCHEMA.write(state_as_position(state))
    return {
        name: value
        for name, value in fields.items()
        if value is not None and value is not False and value != []
    }


def position_question(state: TrainGame) -> dict[str, object]:
    """The question about this position, with no commands yet: rules, board and options as the game has them."""
    usual = RULE_OPTIONS_SCHEMA.write(resolve_rule_options(RULESETS[state.ruleset.name], state.own.board, {}))
    options = RULE_OPTIONS_SCHEMA.write(state.rule_options)
    return {
        "ruleset": state.ruleset.name,
        "board": board_reference(state.own.board),
        "seats": len(state.seats),
        "options": {name: value for name, value in options.items() if value != usual[name]},
        "position": position_json(state),
        "commands": [],
        "legal": True,
    }


def read_question_board(board: str | Mapping[str, object] | None, folder: Path) -> BoardForm | str | None:
    """A board of the question or of a file; or a name or None, which the rules look up.

    Raises InvalidInputError."""
    text = board if isinstance(board, str | None) else json.dumps(board)
    if text is None or text in board_names():
        return text
    if text.lstrip().startswith(("<", "{")):
        try:
            return read_board_text(text, "board")
        except InvalidInputError as error:
            raise InvalidInputError("board", str(error), error.rule) from None
    return read_board_file(folder / text) if "/" in text or "." in text else text


def question_ids(question: Mapping[str, object], folder: Path) -> BoardIds | None:
    """The ids of the board of a question that isn't checked yet; None where the board can't be read, which is refused
    later, with the reason."""
    board, ruleset = question.get("board"), question.get("ruleset", DEFAULT_RULESET)
    if board is None and isinstance(ruleset, str) and ruleset in RULESETS:
        board = RULESETS[ruleset].default_board
    if not isinstance(board, str | dict) or not is_json_value(board):
        return None
    try:
        form = read_question_board(board, folder)
        return BoardIds(form) if isinstance(form, BoardForm) else board_ids(load_board(str(form)))
    except InvalidInputError:
        return None


def ids_meant(command: Command, board: Board) -> list[str]:
    """Ids of the board to suggest for the first one in a command that the board doesn't have."""
    ids = board_ids(board)
    routes, cities = _named_places(command)
    for route in routes:
        if route not in ids.routes:
            return ids.routes_meant(route)
    for city in cities:
        if city not in ids.cities:
            return ids.cities_meant(city)
    return []


def _named_places(command: Command) -> tuple[list[str], list[str]]:
    """The routes and the cities that a command names."""
    match command:
        case ClaimRoute(route, _, passenger):
            return [route], [passenger] if passenger else []
        case BuildStation(city, _, neighbour):
            return [], [city, neighbour] if neighbour else [city]
        case MovePassenger(city, path):
            return [*path], [city]
        case _:
            return [], []
