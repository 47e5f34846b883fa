"""Boards and rulesets for people who make a table, and folds of views: the gateway's port, implemented."""

from __future__ import annotations

from collections.abc import Mapping
from functools import cache, cached_property
from typing import Final

from schemas.commands import CreateGame, SeatPlan
from schemas.errors import InvalidInputError
from schemas.field_types import Seat
from schemas.refusals import CommandRefusedError
from services.bots.suggestions import ProcessSuggester, evaluate_here
from services.gateway.models.catalog_models import (
    BoardDrawing,
    ListedBoard,
    OptionDescription,
    RulesetDescription,
)
from services.gateway.tables.board_svg import board_svg
from services.gateway.tables.clock_presets import WITH_PEOPLE
from services.referee.games import RULESETS
from services.referee.games.state import Ruleset, written_options
from services.referee.games.trains.board import Board, board_names, load_board
from services.rulebook import read_pages
from services.tables.board_drawing import draw_board
from services.tables.kept_drawings import KeptDrawings
from services.tables.table_fold import FoldedTable


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
        return list(_list_boards())

    def board(self, name: str) -> BoardDrawing | None:
        """A built-in board; None if it can't be read, or there is none of that name."""
        try:
            return draw_board(load_board(name))
        except InvalidInputError:
            return None

    def board_picture(self, name: str) -> str | None:
        """A built-in board as SVG; None as above."""
        return _draw_picture(name) if self.board(name) else None

    def rulesets(self) -> list[RulesetDescription]:
        """The rulesets, with their options."""
        return self._rulesets

    @cached_property
    def _rulesets(self) -> list[RulesetDescription]:
        pages = read_pages()
        return [_describe_ruleset(ruleset, pages) for ruleset in RULESETS.values()]


@cache
def _draw_picture(name: str) -> str:
    return board_svg(draw_board(load_board(name)))


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
    seats = (SeatPlan(),) * ruleset.rule_options.seats_least
    try:
        ruleset.open_game(ruleset, CreateGame(seats, ruleset.name, board.id))
    except CommandRefusedError:
        return False
    return True


def _describe_ruleset(ruleset: Ruleset, pages: Mapping[str, str]) -> RulesetDescription:
    rule_options = ruleset.rule_options
    schema, defaults = ruleset.options_schema.json_schema(), written_options(ruleset)
    with_people = {**defaults, **WITH_PEOPLE}
    return RulesetDescription(
        name=ruleset.name,
        version=ruleset.version,
        meaning=_aim(pages.get(ruleset.name, "")),
        default_board=ruleset.default_board or None,
        seats_least=rule_options.seats_least,
        seats_most=rule_options.seats_most,
        policies=sorted(ruleset.bot_policies),
        options=[
            OptionDescription(
                name=name,
                type={key: value for key, value in option_type.items() if key != "default"},
                default=defaults[name],
                default_with_people=with_people[name],
                meaning=MEANINGS.get(name, ""),
            )
            for name, option_type in schema["properties"].items()
        ],
    )


def _aim(page: str) -> str:
    """The aim of a game: its page's third paragraph, as plain text in one line."""
    paragraphs = page.split("\n\n")
    return " ".join(paragraphs[2].replace("*", "").split()) if len(paragraphs) > 2 else ""


# What each rule option means, for people who make a table.
MEANINGS: Final[Mapping[str, str]] = {
    "seats_least": "The fewest seats that a table may have.",
    "seats_most": "The most seats that a table may have.",
    "order": "Who begins: the turns go by seat, or by age from the oldest or the youngest.",
    "cars": "Train cars of each seat.",
    "cards": "The whole deck, by kind.",
    "hand": "Cards that each seat is dealt.",
    "market": "Cards that lie face up.",
    "flush": "So many of a kind face up sweep the market.",
    "flush_most": "Reshuffles for sweeps in a row, at most.",
    "start_tickets": "Tickets offered at the start, by deck.",
    "start_named": "Starting tickets in a mix of decks that the seat names; 0: the decks are given.",
    "start_keep": "How many of them must be kept.",
    "start_keep_most": "How many of them may be kept; null: all.",
    "start_return": "Where starting tickets go that are given back.",
    "draw_tickets": "Tickets offered later, by deck.",
    "draw_named": "Later tickets in a mix of decks that the seat names; 0: the decks are given.",
    "draw_keep": "How many of those must be kept.",
    "pair_tickets": "Every two cities are a ticket worth this; null: the board's tickets.",
    "route_points": "Points of a route by its spaces: of 1, of 2, and so on.",
    "points_at_once": "Routes score when they are claimed, else at the end.",
    "parallel_seats": "With fewer seats than this, a claim closes the routes beside it.",
    "parallel_owned": "One seat may own two routes side by side, and none ever closes.",
    "last_cars": "A seat that ends its turn with so few cars begins the last turns.",
    "last_turns": "Who has a last turn: all, or all others.",
    "longest_bonus": "Points for the longest route.",
    "most_tickets_bonus": "Points for the most tickets made.",
    "tunnel_cards": "Cards that are turned up for a tunnel.",
    "station_costs": "Cards for the first station, the second, and so on; none: no stations.",
    "station_points": "Points for each station that isn't built.",
    "passengers": "Passengers of each seat.",
    "merchandise": "The tokens at a city of each colour, the highest first.",
    "plus_four_least": 'Routes of so many spaces and more take a "+4" card.',
    "play_off": "A shared first place is played off in the best of so many games; 0: it stays shared.",
    "clock_ms": "Milliseconds of each seat for the whole game; null: no such limit.",
    "move_ms": "Milliseconds for one move; null: no such limit, and a game that nobody plays on never ends.",
    "strict": "An illegal command removes its seat.",
    "refusals_kept": "Refused commands of a seat that are kept in the log, each turn.",
}
