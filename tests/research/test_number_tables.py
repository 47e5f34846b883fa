"""docs/how-to/research.md says what each number of actions and observations means, as the code has it."""

from __future__ import annotations

import ledgerline
from schemas.commands import Command
from schemas.trains.commands import (
    BuildStation,
    ClaimRoute,
    DrawMarket,
    DrawTickets,
    KeepTickets,
    MovePassenger,
)
from services.referee.games.trains.board import load_board
from services.research.parts_form import ROW_SIZE, CandidateActions
from services.research.trains import FEATURES
from tests.research.number_tables import MEANINGS, PAGE, with_tables


def test_the_tables_of_the_page_are_those_of_the_code() -> None:
    assert tuple(MEANINGS) == FEATURES and len(FEATURES) == ROW_SIZE
    page = PAGE.read_text()
    assert with_tables(page) == page, "python -m tests.research.number_tables writes it"


def test_a_command_has_the_numbers_of_the_page() -> None:
    # given
    actions = ledgerline.env("marklin", seats=2).actions
    assert isinstance(actions, CandidateActions)
    board = load_board("germany")
    cities, routes = list(board.cities), list(board.routes)
    expected: list[tuple[Command, dict[str, int]]] = [
        (DrawMarket(0), {"command": 5, "slot": 1}),
        (DrawTickets({"short": 3, "long": 1}), {"command": 6, "tickets": 13}),
        (KeepTickets((0, 2)), {"command": 7, "tickets": 5}),
        (ClaimRoute(routes[0], {"white": 2, "locomotive": 1, "locomotive4": 3}, cities[0]), {
            "command": 8, "route": 1, "city": 1, "colour": 2, "coloured": 2, "locomotives": 1, "plus_fours": 3,
        }),
        (BuildStation(cities[-1], {"black": 1}), {
            "command": 14, "city": len(cities), "colour": 8, "coloured": 1,
        }),
        (MovePassenger(cities[0], (routes[-1], routes[1])), {"command": 15, "city": 1, "route": 2, "routes": 2}),
    ]  # fmt: skip
    # when
    rows = actions.rows([command for command, _ in expected])
    # then
    for row, (_, numbers) in zip(rows.tolist(), expected, strict=False):
        assert dict(zip(FEATURES, row, strict=True)) == dict.fromkeys(FEATURES, 0) | numbers
