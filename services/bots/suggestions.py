"""Suggestions to a player: what a seat might do, with the values of `searcher`.

They follow from the seat's view and the entry alone, so equal questions get equal answers.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import partial
from typing import Final, TypeAlias

from schemas.commands import Command
from schemas.field_types import Seat
from services.bots.searching.any_game import evaluate_commands
from services.bots.searching.candidate_halving import CandidateValue
from services.bots.seat_projection import NO_SEAT_SECRET
from services.bots.seat_random import SeatRandom
from services.referee.games import GameState, legal
from services.runtime.killable_processes import KillableProcess

SUGGESTING: Final = "searcher"  # the policy whose values they are: a game that it can't play has none
ROLLOUTS: Final = 128  # of a suggestion
JUDGING_ROLLOUTS: Final = 64  # of a choice that was made: a game has fifty
LIMIT_S: Final = 10.0  # for one suggestion


# Evaluates the candidates of a seat in a state, after an entry; among them what it did there, if that is to be judged.
Suggester: TypeAlias = Callable[[GameState, Seat, int, Command | None], Sequence[CandidateValue]]


def evaluate_here(
    state: GameState, seat: Seat, number: int, done: Command | None
) -> Sequence[CandidateValue]:
    """The values of a seat's candidates after entry `number`, the best first; none if it has nothing to choose. It thinks
    on the caller's thread, as long as it takes."""
    # not the seat's own stream: a bot's next moves would show in what is suggested to others afterwards
    seat_random = SeatRandom(NO_SEAT_SECRET, number)
    commands = legal(state, seat)
    rollouts = ROLLOUTS if done is None else JUDGING_ROLLOUTS
    return evaluate_commands(state, seat, commands, seat_random, rollouts, done) if commands else ()


class ProcessSuggester:
    """Thinks in one process, about one suggestion at a time: a server has other things to do. To be closed."""

    def __init__(self) -> None:
        self._process = KillableProcess[Sequence[CandidateValue]](__name__)

    def close(self) -> None:
        """End the process."""
        self._process.close()

    def evaluate(
        self, state: GameState, seat: Seat, number: int, done: Command | None
    ) -> Sequence[CandidateValue]:
        """The values of a seat's candidates after entry `number`, the best first; none if it has nothing to choose. Raises
        NoAnswerError."""
        if not legal(state, seat):
            return ()
        return self._process.ask(partial(evaluate_here, state, seat, number, done), LIMIT_S)
