"""Tables of a game for a terminal: how the seats stand, and how a game ended."""

from __future__ import annotations

from collections.abc import Callable
from typing import Final, NamedTuple

from rich.table import Table

from schemas.events import SeatScore
from services.referee.games.state import GameState
from services.text.formatting import SEAT_LETTERS, part_text
from services.text.sentences import game_status


class OwnTables(NamedTuple):
    """How a family of games is shown that doesn't describe its states in parts."""

    standings: Callable[[GameState], Table]
    final_scores: Callable[[GameState], Table]
    progress: Callable[[GameState], float]  # of a game that is played, from 0 to 1


OWN_TABLES: Final[dict[type, OwnTables]] = {}  # by the class of the game's own state


def standings_table(state: GameState) -> Table:
    """The standings during a game, as far as the viewer may know them."""
    own = OWN_TABLES.get(type(state.own))
    return own.standings(state) if own else _standings_in_parts(state)


def _standings_in_parts(state: GameState) -> Table:
    """A column for each part of the table that seats have: a number, or how many cards."""
    assert state.ruleset.describe is not None
    parts = [*state.ruleset.describe(state, None)]
    names = [*dict.fromkeys(part.name for part in parts if part.seat is not None)]
    table = Table("seat", "name", *names, title=f"{state.game}: {game_status(state)}")
    for seat, seat_state in enumerate(state.seats):
        cells = {part.name: part_text(part) for part in parts if part.seat == seat}
        mark = "> " if seat == state.turn else "  "
        table.add_row(
            f"{mark}{SEAT_LETTERS[seat]}",
            seat_state.name or "(free)",
            *(cells.get(name, "") for name in names),
        )
    table.caption = "; ".join(f"{part.name}: {part_text(part)}" for part in parts if part.seat is None)
    return table


def final_score_table(state: GameState) -> Table:
    """The final scores, the winner first."""
    own = OWN_TABLES.get(type(state.own))
    return own.final_scores(state) if own else _scores_in_parts(state)


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
        cells = (
            score.place,
            SEAT_LETTERS[score.seat],
            state.seats[score.seat].name,
            *score.parts.values(),
            score.total,
        )
        table.add_row(*map(str, cells))
    return table


def game_progress(state: GameState) -> float:
    """The part of a game that is over, from 0 to 1, as its family counts it; 0 to the end where none does."""
    if state.result or not state.seats:
        return 1.0 if state.result else 0.0
    own = OWN_TABLES.get(type(state.own))
    return own.progress(state) if own else 0.0
