"""A bot's own dice. They follow from its seat's luck and how often it has moved, so that
the same game is played the same way again, whichever worker plays it."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import TypeVar

from services.referee.rules.shuffle import random_words

T = TypeVar("T")


class SeatRandom:
    """Fair choices for one move."""

    def __init__(self, seat_secret: str, move_number: int) -> None:
        self._words: Iterator[int] = random_words(seat_secret, move_number)

    def choice(self, choices: Sequence[T]) -> T:
        """One of these, each as likely as any other."""
        size = len(choices)
        fair = (1 << 32) - (1 << 32) % size
        while (word := next(self._words)) >= fair:
            pass
        return choices[word % size]
