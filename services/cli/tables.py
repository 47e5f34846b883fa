"""Tables of a game for a terminal: how the seats stand, and how a game ended."""

from __future__ import annotations

from rich.table import Table

from services.referee.rules import GameState
from services.text.game_summary import game_status, game_summary_json


def standings_table(state: GameState) -> Table:
    """The standings during a game, as far as the viewer may know them."""
    table = Table(
        "seat", "name", "points", "cars", "cards", "tickets", title=f"{state.game}: {game_status(state)}"
    )
    for seat, seat_state in enumerate(state.seats):
        mark = "> " if seat == state.turn else "  "
        row = (
            seat_state.name or "(free)",
            seat_state.own.running_score,
            seat_state.own.cars,
            seat_state.own.cards,
            len(seat_state.own.tickets),
        )
        table.add_row(f"{mark}{seat}", *(str(cell) for cell in row))
    market = ", ".join(card or "-" for card in state.own.market)
    table.caption = (f"market: {market}; " if state.own.market else "") + f"deck: {len(state.own.deck)}"
    return table


def final_score_table(state: GameState) -> Table:
    """The final scores, the winner first."""
    summary = game_summary_json(state, 0, 0)
    optional_columns = [
        name for name in ("most", "stations", "merchandise") if any(seat[name] for seat in summary["seats"])
    ]
    headings = ("place", "seat", "name", "routes", "made", "missed", "tickets", "longest")
    table = Table(
        *(*headings, *optional_columns, "total"),
        title=f"{state.game}: {summary['ruleset']} on {state.own.board.title}, ended: {summary['ended']}",
    )
    for seat in sorted(summary["seats"], key=lambda s: (s["place"], s["seat"])):
        longest = f"{seat['longest']}{' (+' + str(seat['bonus']) + ')' if seat['bonus'] else ''}"
        cells = (
            seat["place"], seat["seat"], seat["name"], seat["routes"], len(seat["made"]), len(seat["missed"]),
            f"{seat['tickets']:+}", longest, *(f"+{seat[name]}" for name in optional_columns), seat["total"],
        )  # fmt: skip
        table.add_row(*(str(cell) for cell in cells))
    return table


def game_progress(state: GameState) -> float:
    """The part of a game that is over, from 0 to 1: by the cars of the seat that has the fewest."""
    if state.result or not state.seats:
        return 1.0 if state.result else 0.0
    used = state.rule_options.cars - min(seat_state.own.cars for seat_state in state.seats)
    return min(1.0, used / state.rule_options.cars)
