"""The games of a tournament: who plays whom in which deal, and what is kept of each, as CSV and JSON.

Every deal is played by the same policies in every seating. One deal in all its seatings is a seed block, the unit of
measurement: games of one block share their luck, games of two don't.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, fields
from itertools import chain, combinations
from typing import NamedTuple

from schemas.errors import InvalidInputError
from schemas.events import Score
from services.referee.games import GameState


class PlannedGame(NamedTuple):
    """One game: its block, its seed, and the policy of each seat."""

    block: int
    seed: str
    policies: tuple[str, ...]


def plan_games(policies: Sequence[str], seats: int, games: int, seed: str) -> list[PlannedGame]:
    """At least so many games, in whole blocks. Raises InvalidInputError."""
    if len(set(policies)) != len(policies):
        raise InvalidInputError("--policies", "names a policy twice")
    if seats < 2:
        raise InvalidInputError("--seats", "at least two seats play")
    seatings = list_seatings(policies, seats)
    blocks = -(-games // len(seatings))
    return [PlannedGame(block, f"{seed}/{block}", seating) for block in range(blocks) for seating in seatings]


def list_seatings(policies: Sequence[str], seats: int) -> list[tuple[str, ...]]:
    """Every table of so many policies in every rotation, once; fewer policies take the seats in turn."""
    if len(policies) < seats:
        tables = [tuple(policies[seat % len(policies)] for seat in range(seats))]
    else:
        tables = list(combinations(policies, seats))
    rotations = (table[turn:] + table[:turn] for table in tables for turn in range(seats))
    return list(dict.fromkeys(rotations))


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
