"""What a tournament keeps of a game, and its form as CSV and JSON."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, fields
from itertools import chain

from schemas.events import Score
from services.referee.games import GameState
from services.tournament.schedule import PlannedGame


@dataclass(frozen=True, slots=True)
class SeatResult:
    """One seat's result."""

    policy: str
    place: int  # from 1; shared places are equal
    total: int
    parts: Mapping[str, int]  # the points by source
    shares: Mapping[str, tuple[int, int]]  # by name how many of how many it reached
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
    return SeatResult(policy, score.place, score.total, score.parts, score.shares, removed)


def part_names(results: Sequence[GameResult]) -> tuple[str, ...]:
    """The sources of points, in the order in which the games name them."""
    return tuple(dict.fromkeys(part for game in results for seat in game.seats for part in seat.parts))


def share_names(results: Sequence[GameResult]) -> tuple[str, ...]:
    """What is counted of a seat besides points, where any seat could reach some of it."""
    return tuple(
        dict.fromkeys(
            name for game in results for seat in game.seats for name, (_, all_) in seat.shares.items() if all_
        )
    )


def csv_fields(results: Sequence[GameResult]) -> tuple[str, ...]:
    """The columns: one for each source of points, and two for what else is counted."""
    own = {
        "parts": part_names(results),
        "shares": tuple(column for name in share_names(results) for column in _share_columns(name)),
    }
    columns = (own.get(field.name, (field.name,)) for field in fields(SeatResult))
    return ("block", "seed", "game", "seat", *chain.from_iterable(columns))


def _share_columns(name: str) -> tuple[str, str]:
    return name, f"{name} of"


def csv_rows(results: Sequence[GameResult]) -> list[dict[str, object]]:
    """A row for each seat of each game."""
    rows, names = [], share_names(results)
    for game in results:
        where: dict[str, object] = {"block": game.block, "seed": game.seed, "game": game.game or ""}
        for seat, result in enumerate(game.seats):
            row = {**where, "seat": seat, **asdict(result), **result.parts}
            for name in names:
                row.update(zip(_share_columns(name), result.shares.get(name, (0, 0)), strict=True))
            del row["parts"], row["shares"]
            rows.append(row)
    return rows
