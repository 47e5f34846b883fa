"""Suggestions to a player: what a seat might do, with the values of `searcher`.

They follow from the seat's view and the entry alone, so equal questions get equal answers.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence
from threading import Lock
from typing import Final, TypeAlias

from schemas.commands import Command
from schemas.errors import LedgerlineError
from schemas.field_types import Seat
from services.bots.policy_processes import PolicyProcesses, Thought
from services.bots.searching.candidates import CandidateValue, evaluate_candidates
from services.bots.seat_projection import NO_SEAT_SECRET
from services.bots.seat_random import SeatRandom
from services.referee.rules import GameState, legal

ROLLOUTS: Final = 128  # of a suggestion
LIMIT_S: Final = 10.0  # for one suggestion
MAX_WAIT_S: Final = 20.0  # for those before it
POLL_S: Final = 0.01


# Evaluates the candidates of a seat in a state, after an entry.
Suggester: TypeAlias = Callable[[GameState, Seat, int], Sequence[CandidateValue]]


class NoSuggestionError(LedgerlineError):
    """The search didn't end in time, or broke."""


def evaluate_here(state: GameState, seat: Seat, number: int) -> Sequence[CandidateValue]:
    """The values of a seat's candidates after entry `number`, the best first; none if it has nothing to choose. It thinks
    on the caller's thread, as long as it takes."""
    # not the seat's own stream: a bot's next moves would show in what is suggested to others afterwards
    seat_random = SeatRandom(NO_SEAT_SECRET, number)
    commands = legal(state, seat)
    return evaluate_for_player(state, seat, commands, seat_random) if commands else ()


class ProcessSuggester:
    """Thinks in one process, about one suggestion at a time: a server has other things to do. To be closed."""

    def __init__(self) -> None:
        self._processes = PolicyProcesses[Sequence[CandidateValue]](1)
        self._lock = Lock()

    def close(self) -> None:
        """End the process."""
        self._processes.close()

    def evaluate(self, state: GameState, seat: Seat, number: int) -> Sequence[CandidateValue]:
        """The values of a seat's candidates after entry `number`, the best first; none if it has nothing to choose. Waits
        for others' questions, on any thread. Raises NoSuggestionError."""
        commands = legal(state, seat)
        if not commands:
            return ()
        if not self._lock.acquire(timeout=MAX_WAIT_S):
            raise NoSuggestionError("others are asking too")
        try:
            thought = Thought(evaluate_for_player, state, seat, commands, NO_SEAT_SECRET, number)
            return self._think(thought, (state.game, seat))
        finally:
            self._lock.release()

    def _think(
        self, thought: Thought[Sequence[CandidateValue]], key: tuple[str, Seat]
    ) -> Sequence[CandidateValue]:
        end_s = time.monotonic() + MAX_WAIT_S
        while not self._processes.free_count(1):  # it starts, or was ended
            self._processes.collect()
            if time.monotonic() > end_s:
                raise NoSuggestionError("no process can be started")
            time.sleep(POLL_S)
        self._processes.begin(key, thought, LIMIT_S)
        while not (answers := self._processes.collect()):
            time.sleep(POLL_S)
        (answer,) = answers
        if answer.result is None:
            raise NoSuggestionError(answer.failure)
        return answer.result


def evaluate_for_player(
    state: GameState, seat: Seat, commands: Sequence[Command], seat_random: SeatRandom
) -> Sequence[CandidateValue]:
    """The candidates' values by as many rollouts as a suggestion has."""
    return evaluate_candidates(state, seat, commands, seat_random, ROLLOUTS)
