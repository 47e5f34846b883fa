"""Boards and rulesets for people who make a table, and folds of views: the gateway's port, implemented."""

from __future__ import annotations

from collections.abc import Mapping
from functools import cache

from schemas.errors import InvalidInputError
from schemas.field_types import Seat
from schemas.refusals import CommandRefusedError
from schemas.rule_options import RULE_OPTIONS_SCHEMA
from services.bots.suggestions import InlineSuggester, Suggester
from services.gateway.models.catalog_models import (
    BoardDrawing,
    ListedBoard,
    OptionDescription,
    RulesetDescription,
)
from services.referee.rules import RULESETS
from services.referee.rules.board import Board, board_names, load_board
from services.referee.rules.ruleset import Ruleset
from services.referee.rules.setup.create_game import resolve_rule_options, validated_board
from services.rulebook import read_pages
from services.tables.board_drawing import draw_board
from services.tables.option_meanings import MEANINGS
from services.tables.table_fold import FoldedTable


class BuiltInCatalog:
    """The catalog of what this server has built in. Without a `suggester`, folds think of suggestions on the
    caller's thread."""

    def __init__(self, suggester: Suggester | None = None) -> None:
        self.suggester = suggester or InlineSuggester()

    def close(self) -> None:
        """End the processes of the suggester."""
        self.suggester.close()

    def new_fold(self, game: str, viewer: Seat | None) -> FoldedTable:
        """The fold of a viewer's view (None: the public's) to which nothing was applied."""
        return FoldedTable(game, viewer, self.suggester)

    def boards(self) -> list[ListedBoard]:
        """The built-in boards that can be read."""
        return list(_list_boards())

    def board(self, name: str) -> BoardDrawing | None:
        """A built-in board; None where there is none of that name, or it can't be read."""
        try:
            return draw_board(load_board(name))
        except InvalidInputError:
            return None

    def rulesets(self) -> list[RulesetDescription]:
        """The rulesets, with their options."""
        return list(_describe_rulesets())


@cache
def _list_boards() -> tuple[ListedBoard, ...]:
    boards = []
    for name in board_names():
        try:
            board = load_board(name)
        except InvalidInputError:
            continue
        boards.append(
            ListedBoard(
                id=board.id,
                title=board.title,
                ruleset=board.default_ruleset,
                rulesets=[ruleset.name for ruleset in RULESETS.values() if _is_playable(ruleset, board)],
                cities=len(board.cities),
                routes=len(board.routes),
                tickets=len(board.tickets),
            )
        )
    return tuple(boards)


def _is_playable(ruleset: Ruleset, board: Board) -> bool:
    """Whether a game on this board with these rules could be created, all else as usual."""
    try:
        rule_options = resolve_rule_options(ruleset, board, {})
        validated_board(ruleset, rule_options, board, rule_options.seats_least, starts_with_deal=True)
    except (CommandRefusedError, InvalidInputError):
        return False
    return True


@cache
def _describe_rulesets() -> tuple[RulesetDescription, ...]:
    pages = read_pages()
    return tuple(_describe_ruleset(ruleset, pages) for ruleset in RULESETS.values())


def _describe_ruleset(ruleset: Ruleset, pages: Mapping[str, str]) -> RulesetDescription:
    rule_options = ruleset.rule_options
    schema, defaults = RULE_OPTIONS_SCHEMA.json_schema(), RULE_OPTIONS_SCHEMA.write(rule_options)
    return RulesetDescription(
        name=ruleset.name,
        version=ruleset.version,
        meaning=_aim(pages.get(ruleset.name, "")),
        default_board=ruleset.default_board,
        seats_least=rule_options.seats_least,
        seats_most=rule_options.seats_most,
        policies=sorted(ruleset.bot_policies),
        options=[
            OptionDescription(name=name, type=option_type, default=defaults[name], meaning=MEANINGS[name])
            for name, option_type in schema["properties"].items()
        ],
    )


def _aim(page: str) -> str:
    """The aim of a game: its page's third paragraph, as plain text in one line."""
    paragraphs = page.split("\n\n")
    return " ".join(paragraphs[2].replace("*", "").split()) if len(paragraphs) > 2 else ""
