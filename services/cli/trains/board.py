"""`ledgerline board`: what is on a board, with the ids that questions, commands and logs name things by.

Commands that play games take a board with the option `--board`.
"""

from __future__ import annotations

import os.path
from pathlib import Path
from reprlib import repr as short_repr
from typing import Annotated

import typer
from rich.table import Table

from schemas.errors import InvalidInputError
from schemas.trains.boards.form import BOARD_SCHEMA
from services.cli.options import JsonOption
from services.cli.output import console, print_json, print_line, there_are
from services.documents import write_bytes
from services.referee.games import RULESETS
from services.referee.games.trains.board import Board, board_names, build_board, load_board, with_pair_tickets
from services.referee.games.trains.setup.opening import resolve_rule_options
from services.tables.trains.board_drawing import board_svg, draw_board
from services.trains.ai_mas import write_map
from services.trains.board_files import read_board_file

app = typer.Typer()


@app.command()
def board(
    name: Annotated[
        str, typer.Argument(help="A built-in board, or a file in any form that a board may have.")
    ],
    svg: Annotated[Path | None, typer.Option(help="Draw the board into this file.")] = None,
    as_json: JsonOption = False,
    as_xml: Annotated[
        bool, typer.Option("--xml", help="Print it as a map of AI-MAS, which has no tickets.")
    ] = False,
) -> None:
    """List a board's cities, routes and tickets with their ids. As JSON it is a board file."""
    if as_json and as_xml:
        raise InvalidInputError("--xml", "goes without --json")
    played = read_board(name)
    if svg is not None:
        write_bytes(svg, board_svg(draw_board(played)).encode(), "--svg")
    if as_xml:
        for line in board_xml(played).splitlines():
            print_line(line)
        return
    if as_json:
        print_json(board_json(played))
        return
    for table in (_city_table(played), _route_table(played), _ticket_table(played)):
        console.print(table)
    if svg is not None:
        print_line(f"{svg} is its picture.")


def read_board(name: str) -> Board:
    """The board of this name, or of this file, with the tickets that its usual rules make of it.

    Raises InvalidInputError."""
    is_file = name not in board_names() and ("/" in name or "." in name)
    found = build_board(read_board_file(name)) if is_file else load_board(name)
    ruleset = RULESETS.get(found.default_ruleset)
    if ruleset is None:
        raise InvalidInputError(
            "board.rules", f"{found.default_ruleset!r} isn't one of {', '.join(RULESETS)}"
        )
    points = resolve_rule_options(ruleset, found, {}).pair_tickets
    return with_pair_tickets(found, points) if points else found


def board_json(played: Board) -> dict[str, object]:
    """The board as a board file has it, with its tickets."""
    tickets = [
        {"id": ticket.id, "between": [ticket.a, ticket.b], "points": ticket.points, "deck": ticket.deck}
        for ticket in played.tickets.values()
    ]
    return {**BOARD_SCHEMA.write(played.form), "tickets": tickets}


def board_xml(played: Board) -> str:
    """The board as a map of AI-MAS, with the points of its usual rules. Raises InvalidInputError for what it can't say."""
    try:
        return write_map(played, resolve_rule_options(RULESETS[played.default_ruleset], played, {}))
    except InvalidInputError as error:
        raise InvalidInputError("--xml", str(error)) from None


def _city_table(played: Board) -> Table:
    table = Table(
        "city", "name", "", title=f"{played.title} ({played.id}), usually played by {played.default_ruleset}"
    )
    for city, name in played.cities.items():
        table.add_row(city, name, "country" if city in played.countries else played.merchandise.get(city, ""))
    return table


def _route_table(played: Board) -> Table:
    table = Table("route", "spaces", "colour", "kind", "locomotives", "parallel to")
    for route in played.routes.values():
        locomotives = str(route.locomotives or "")
        table.add_row(
            route.id, str(route.length), route.color, route.kind, locomotives, ", ".join(route.parallels)
        )
    return table


def _ticket_table(played: Board) -> Table:
    table = Table("ticket", "between", "points", "deck")
    for ticket in played.tickets.values():
        between = f"{played.cities[ticket.a]} - {played.cities[ticket.b]}"
        table.add_row(ticket.id, between, str(ticket.points), ticket.deck)
    return table


def read_played_board(board: str) -> tuple[object, str]:
    """A board's name, or the form in its file as JSON; and the ruleset that it is usually played with."""
    if board in board_names():
        return board, load_board(board).default_ruleset
    if Path(board).suffix or os.path.exists(board):  # noqa: PTH110 - Path's own raises for a name too long
        form = read_board_file(Path(board))
        return BOARD_SCHEMA.write(form, exclude_defaults=True), form.rules
    raise InvalidInputError(
        "--board", f"{short_repr(board)} is neither a file nor a board{there_are(board, board_names())}"
    )
