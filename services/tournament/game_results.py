"""What a tournament keeps of a game, and its form as CSV and JSON."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, fields
from itertools import chain

from schemas.events import Score, SeatScore
from schemas.trains.events import TrainScore
from services.referee.games import GameState
from services.tournament.schedule import PlannedGame


@dataclass(frozen=True, slots=True)
class SeatResult:
    """One seat's result."""

    policy: str
    place: int  # from 1; shared places are equal
    total: int
    parts: Mapping[str, int]  # the points by source
    made: int = 0  # tickets, in a game that has any
    missed: int = 0
    removed: bool = False  # it left, its time ran out, or it broke a rule of a strict table


@dataclass(frozen=True, slots=True)
class GameResult:
    """One game: its block and seed; its id, if it was logged; every seat in order."""

    block: int
    seed: str
    game: str | None
    seats: tuple[SeatResult, ...]

    def share_won(self, seat: int) -> float:
        """1 for the only winner; an equal part of it for each of several."""
        winners = sum(result.place == 1 for result in self.seats)
        return (self.seats[seat].place == 1) / winners


def result_of(planned: PlannedGame, game: str | None, state: GameState) -> GameResult:
    """The result of a finished game."""
    assert state.result is not None, "the game is over"
    seats = tuple(
        _seat_result(policy, score, seat_state.exit_reason is not None)
        for policy, score, seat_state in zip(planned.policies, state.result.scores, state.seats, strict=True)
    )
    return GameResult(planned.block, planned.seed, game, seats)


def _seat_result(policy: str, score: Score, removed: bool) -> SeatResult:
    if isinstance(score, SeatScore):
        return SeatResult(policy, score.place, score.total, score.parts, removed=removed)
    assert isinstance(score, TrainScore), "no other game counts otherwise"
    parts = {
        "routes": score.routes,
        "tickets": score.tickets,
        "bonuses": score.bonus + score.most,  # for the longest route and for the most tickets
        "stations": score.stations,
        "merchandise": score.merchandise,
    }
    return SeatResult(policy, score.place, score.total, parts, len(score.made), len(score.missed), removed)


def part_names(results: Sequence[GameResult]) -> tuple[str, ...]:
    """The sources of points, in the order in which the games name them."""
    return tuple(dict.fromkeys(part for game in results for seat in game.seats for part in seat.parts))


def csv_fields(results: Sequence[GameResult]) -> tuple[str, ...]:
    """The columns: one for each source of points."""
    seat = (field.name for field in fields(SeatResult))
    columns = (part_names(results) if name == "parts" else (name,) for name in seat)
    return ("block", "seed", "game", "seat", *chain.from_iterable(columns))


def csv_rows(results: Sequence[GameResult]) -> list[dict[str, object]]:
    """A row for each seat of each game."""
    rows = []
    for game in results:
        where: dict[str, object] = {"block": game.block, "seed": game.seed, "game": game.game or ""}
        for seat, result in enumerate(game.seats):
            row = {**where, "seat": seat, **asdict(result), **result.parts}
            del row["parts"]
            rows.append(row)
    return rows
