"""Tables for people: how the seats stand, and how a game ended."""

from __future__ import annotations

import sys
from typing import Final

from rich.console import Console
from rich.table import Table as Grid

from services.referee.rules import Table
from services.text.events import document, state

WIDTH: Final = 110  # where nobody says how wide the paper is
out: Final = Console(highlight=False, soft_wrap=True, width=None if sys.stdout.isatty() else WIDTH)


def standing_table(table: Table) -> Grid:
    """How the seats stand during a game, as far as the viewer may know."""
    grid = Grid("seat", "name", "points", "cars", "cards", "tickets", title=f"{table.game}: {state(table)}")
    for seat, place in enumerate(table.places):
        mark = "> " if seat == table.turn else "  "
        row = (place.name or "(free)", place.points, place.cars, place.cards, len(place.tickets))
        grid.add_row(f"{mark}{seat}", *(str(cell) for cell in row))
    market = ", ".join(card or "-" for card in table.market)
    grid.caption = (f"market: {market}; " if table.market else "") + f"deck: {len(table.deck)}"
    return grid


def final_table(table: Table) -> Grid:
    """The final reckoning, the winner first."""
    told = document(table, 0, 0)
    more = [name for name in ("most", "stations", "merchandise") if any(seat[name] for seat in told["seats"])]
    headings = ("place", "seat", "name", "routes", "made", "missed", "tickets", "longest", *more, "total")
    grid = Grid(
        *headings, title=f"{table.game}: {told['ruleset']} on {table.board.title}, ended: {told['ended']}"
    )
    for seat in sorted(told["seats"], key=lambda s: (s["place"], s["seat"])):
        longest = f"{seat['longest']}{' (+' + str(seat['bonus']) + ')' if seat['bonus'] else ''}"
        cells = (
            seat["place"], seat["seat"], seat["name"], seat["routes"], len(seat["made"]), len(seat["missed"]),
            f"{seat['tickets']:+}", longest, *(f"+{seat[name]}" for name in more), seat["total"],
        )  # fmt: skip
        grid.add_row(*(str(cell) for cell in cells))
    return grid


def progress(table: Table) -> float:
    """How far a game has come, from 0 to 1: by the cars of the seat that has the fewest."""
    if table.over or not table.places:
        return 1.0 if table.over else 0.0
    used = table.figures.cars - min(place.cars for place in table.places)
    return min(1.0, used / table.figures.cars)
