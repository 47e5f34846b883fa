"""Tables of a game for a terminal: how the seats stand, and how a game ended."""

from __future__ import annotations

from rich.table import Table

from schemas.events import SeatScore
from services.referee.games.state import GameState
from services.referee.games.trains.train_state import TrainGame
from services.text.formatting import part_text
from services.text.game_summary import game_status, game_summary_json


def standings_table(state: GameState) -> Table:
    """The standings during a game, as far as the viewer may know them."""
    return _train_standings(state) if state.ruleset.describe is None else _standings_in_parts(state)


def _standings_in_parts(state: GameState) -> Table:
    """A column for each part of the table that seats have: a number, or how many cards."""
    assert state.ruleset.describe is not None
    parts = [*state.ruleset.describe(state, None)]
    names = [*dict.fromkeys(part.name for part in parts if part.seat is not None)]
    table = Table("seat", "name", *names, title=f"{state.game}: {game_status(state)}")
    for seat, seat_state in enumerate(state.seats):
        cells = {part.name: part_text(part) for part in parts if part.seat == seat}
        mark = "> " if seat == state.turn else "  "
        table.add_row(f"{mark}{seat}", seat_state.name or "(free)", *(cells.get(name, "") for name in names))
    table.caption = "; ".join(f"{part.name}: {part_text(part)}" for part in parts if part.seat is None)
    return table


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
        table.add_row(f"{mark}{seat}", *(str(cell) for cell in row))
    market = ", ".join(card or "-" for card in state.own.market)
    table.caption = (f"market: {market}; " if state.own.market else "") + f"deck: {len(state.own.deck)}"
    return table


def final_score_table(state: GameState) -> Table:
    """The final scores, the winner first."""
    return _train_scores(state) if state.ruleset.describe is None else _scores_in_parts(state)


def _scores_in_parts(state: GameState) -> Table:
    result = state.result
    assert result is not None, "the game is over"
    scores = sorted(
        (score for score in result.scores if isinstance(score, SeatScore)), key=lambda s: (s.place, s.seat)
    )
    table = Table(
        *("place", "seat", "name", *scores[0].parts, "total"),
        title=f"{state.game}: {state.ruleset.name}, ended: {result.reason}",
    )
    for score in scores:
        cells = (score.place, score.seat, state.seats[score.seat].name, *score.parts.values(), score.total)
        table.add_row(*map(str, cells))
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
            seat["place"], seat["seat"], seat["name"], seat["routes"], len(seat["made"]), len(seat["missed"]),
            f"{seat['tickets']:+}", longest, *(f"+{seat[name]}" for name in optional_columns), seat["total"],
        )  # fmt: skip
        table.add_row(*(str(cell) for cell in cells))
    return table


def game_progress(state: GameState) -> float:
    """The part of a game that is over, from 0 to 1: by the cars of the seat that has the fewest;
    0 to the end where a game has none."""
    if state.result or not state.seats:
        return 1.0 if state.result else 0.0
    if state.ruleset.describe is not None:
        return 0.0
    used: int = state.rule_options.cars - min(seat_state.own.cars for seat_state in state.seats)
    whole: int = state.rule_options.cars
    return min(1.0, used / whole)
