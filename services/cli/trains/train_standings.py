"""Train games in a terminal: how the seats stand, how a game ended, and how much of it is over."""

from __future__ import annotations

from rich.table import Table

from services.cli.tables.game_tables import OWN_TABLES, OwnTables
from services.referee.games.trains.train_state import TrainGame, TrainState
from services.text.formatting import SEAT_LETTERS
from services.text.sentences import game_status, game_summary_json


def _train_standings(state: TrainGame) -> Table:
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
        table.add_row(f"{mark}{SEAT_LETTERS[seat]}", *(str(cell) for cell in row))
    market = ", ".join(card or "-" for card in state.own.market)
    table.caption = (f"market: {market}; " if state.own.market else "") + f"deck: {len(state.own.deck)}"
    return table


def _train_scores(state: TrainGame) -> Table:
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
            seat["place"], SEAT_LETTERS[seat["seat"]], seat["name"], seat["routes"], len(seat["made"]), len(seat["missed"]),
            f"{seat['tickets']:+}", longest, *(f"+{seat[name]}" for name in optional_columns), seat["total"],
        )  # fmt: skip
        table.add_row(*(str(cell) for cell in cells))
    return table


def _train_progress(state: TrainGame) -> float:
    """By the cars of the seat that has the fewest."""
    whole: int = state.rule_options.cars
    return min(1.0, (whole - min(seat_state.own.cars for seat_state in state.seats)) / whole)


OWN_TABLES[TrainState] = OwnTables(_train_standings, _train_scores, _train_progress)
