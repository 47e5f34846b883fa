"""The random source of a bot. It follows from the seat's secret and the number of its moves, so that the
same game is played the same way again by any worker."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from typing import TypeVar

from schemas.commands import Command
from schemas.field_types import Seat
from services.referee.games import GameState
from services.referee.games.shuffle import random_words

T = TypeVar("T")


class SeatRandom:
    """Uniform choices for one move."""

    def __init__(self, seat_secret: str, move_number: int) -> None:
        self._words: Iterator[int] = random_words(seat_secret, move_number)

    def choice(self, choices: Sequence[T]) -> T:
        """One of these, each with the same probability."""
        size = len(choices)
        fair = (1 << 32) - (1 << 32) % size
        while (word := next(self._words)) >= fair:
            pass
        return choices[word % size]


def think(
    policy: Callable[[GameState, Seat, Sequence[Command], SeatRandom], T],
    state: GameState,
    seat: Seat,
    commands: Sequence[Command],
    source: tuple[str, int],
) -> T:
    """Ask a policy, with the random stream of this secret and number: what a process of its own is given to do."""
    return policy(state, seat, commands, SeatRandom(*source))
