"""Boards and rulesets for people who make a table, and folds of views: the gateway's port, implemented."""

from __future__ import annotations

from collections.abc import Mapping
from functools import cached_property

from schemas.field_types import Seat
from services.bots.suggestions import ProcessSuggester, evaluate_here
from services.gateway.models.response_models import OptionDescription, RulesetDescription
from services.gateway.models.trains import BoardDrawing, ListedBoard
from services.gateway.tables.table_port import WITH_PEOPLE
from services.referee.games import RULESETS
from services.referee.games.state import Ruleset, written_options
from services.rulebook import read_pages, title_of
from services.tables.table_fold import FoldedTable
from services.tables.trains.train_tables import KeptDrawings, draw_picture, find_drawing, list_boards


class BuiltInCatalog:
    """The boards and rulesets of this server. Without a `suggester`, folds think of suggestions on the caller's thread."""

    def __init__(self, suggester: ProcessSuggester | None = None) -> None:
        self.suggester, self.drawings = suggester, KeptDrawings()

    def close(self) -> None:
        """End the processes of suggester and drawings."""
        self.drawings.close()
        if self.suggester:
            self.suggester.close()

    def new_fold(self, game: str, viewer: Seat | None) -> FoldedTable:
        """The fold of a viewer's view (None: the public's) to which nothing was applied."""
        evaluate = self.suggester.evaluate if self.suggester else evaluate_here
        return FoldedTable(game, viewer, evaluate, self.drawings)

    def boards(self) -> list[ListedBoard]:
        """The built-in boards that can be read."""
        return list(list_boards())

    def board(self, name: str) -> BoardDrawing | None:
        """A built-in board; None if it can't be read, or there is none of that name."""
        return find_drawing(name)

    def board_picture(self, name: str) -> str | None:
        """A built-in board as SVG; None as above."""
        return draw_picture(name) if self.board(name) else None

    def rulesets(self) -> list[RulesetDescription]:
        """The rulesets, with their options."""
        return self._rulesets

    @cached_property
    def _rulesets(self) -> list[RulesetDescription]:
        pages = read_pages()
        return [_describe_ruleset(ruleset, pages) for ruleset in RULESETS.values()]


def _describe_ruleset(ruleset: Ruleset, pages: Mapping[str, str]) -> RulesetDescription:
    rule_options = ruleset.rule_options
    schema, defaults = ruleset.options_schema.json_schema(), written_options(ruleset)
    with_people = {**defaults, **WITH_PEOPLE}
    return RulesetDescription(
        name=ruleset.name,
        title=title_of(ruleset.name),
        version=ruleset.version,
        meaning=_aim(pages.get(ruleset.name, "")),
        default_board=ruleset.default_board or None,
        seats_least=rule_options.seats_least,
        seats_most=rule_options.seats_most,
        policies=sorted(ruleset.bot_policies),
        options=[
            OptionDescription(
                name=name,
                type={
                    key: value for key, value in option_type.items() if key not in ("default", "description")
                },
                default=defaults[name],
                default_with_people=with_people[name],
                meaning=option_type["description"],
            )
            for name, option_type in schema["properties"].items()
        ],
    )


def _aim(page: str) -> str:
    """The aim of a game: its page's third paragraph, as plain text in one line."""
    paragraphs = page.split("\n\n")
    return " ".join(paragraphs[2].replace("*", "").split()) if len(paragraphs) > 2 else ""
