"""What a tournament keeps of a game, and its form as CSV and JSON."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import asdict, dataclass

from services.referee.games import GameState
from services.referee.games.trains.scoring import train_scores
from services.tournament.schedule import PlannedGame


@dataclass(frozen=True, slots=True)
class SeatResult:
    """One seat's result; points by source."""

    policy: str
    place: int  # from 1; shared places are equal
    total: int
    routes: int
    tickets: int
    bonuses: int  # for the longest route and for the most tickets
    stations: int
    merchandise: int
    made: int  # tickets
    missed: int
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
        SeatResult(
            policy=policy,
            place=score.place,
            total=score.total,
            routes=score.routes,
            tickets=score.tickets,
            bonuses=score.bonus + score.most,
            stations=score.stations,
            merchandise=score.merchandise,
            made=len(score.made),
            missed=len(score.missed),
            removed=seat_state.exit_reason is not None,
        )
        for policy, score, seat_state in zip(
            planned.policies, train_scores(state.result), state.seats, strict=True
        )
    )
    return GameResult(planned.block, planned.seed, game, seats)


CSV_FIELDS = ("block", "seed", "game", "seat", *SeatResult.__slots__)


def csv_rows(results: Sequence[GameResult]) -> list[dict[str, object]]:
    """A row for each seat of each game."""
    return [
        {"block": game.block, "seed": game.seed, "game": game.game or "", "seat": seat, **asdict(result)}
        for game in results
        for seat, result in enumerate(game.seats)
    ]
