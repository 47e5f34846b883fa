"""P8: who sends much waits first, and what many refused commands cost."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from typing import Any

from schemas.commands import CommandEnvelope
from services.ledger import AppendRequest, AppendResult, DuplicateCommand, RedisLedger, RejectedCommand
from tests.referee.running_referee import (
    IMPOSSIBLE_CLAIM,
    opening_commands,
    partition_of,
    referee_at,
    submit,
)

FLOODED, NEIGHBOUR, *_ = (f"game-{n}" for n in range(100) if partition_of(f"game-{n}") == 0)
ELSEWHERE = next(f"game-{n}" for n in range(100) if partition_of(f"game-{n}") == 1)
FLOOD = 100


class WatchedLedger:
    """A ledger that notes the calls of some of its methods, and each command that is answered."""

    def __init__(self, ledger: RedisLedger) -> None:
        self._ledger, self.calls = ledger, list[str]()
        self.answered: list[tuple[str, str]] = []

    def __getattr__(self, name: str) -> Any:
        return getattr(self._ledger, name)

    def heads(self, games: Sequence[str]) -> dict[str, tuple[int, bytes]]:
        self.calls.append("heads")
        return self._ledger.heads(games)

    def reject_without_entry(self, rejected: Sequence[RejectedCommand]) -> None:
        self.calls.append("reject")
        self.answered += [(each.envelope.game, each.envelope.id) for each in rejected]
        self._ledger.reject_without_entry(rejected)

    def append(self, decided: Iterable[AppendRequest | DuplicateCommand]) -> list[AppendResult]:
        requests = [*decided]
        self.answered += [(request.game, request.command_id) for request in requests]
        return self._ledger.append(requests)


def grab(game: str, number: int) -> CommandEnvelope:
    """A command that is refused."""
    return CommandEnvelope(f"grab-{number}", game, 0, IMPOSSIBLE_CLAIM)


def watched(ledger: RedisLedger, **options: int) -> tuple[WatchedLedger, Callable[[], int]]:
    """A ledger that is watched from now on, with three games, and the step of a referee on it."""
    watching: Any = WatchedLedger(ledger)
    referee = referee_at(watching)
    for game in (FLOODED, NEIGHBOUR, ELSEWHERE):
        submit(ledger, opening_commands(game, **options))
    while referee.step(0):
        pass
    watching.calls.clear()
    watching.answered.clear()
    return watching, lambda: referee.step(0)


def test_P8_games_take_turns_in_a_partition_and_between_partitions(ledger: RedisLedger) -> None:
    # given a game with many commands that wait, before one of its partition and one of another
    watching, step = watched(ledger, refusals_kept=2 * FLOOD)
    submit(ledger, [grab(FLOODED, number) for number in range(FLOOD)])
    submit(ledger, [grab(NEIGHBOUR, 0), grab(ELSEWHERE, 0)])
    step()
    # then each game's first comes before the second of any, and a game's keep their order
    assert {game for game, _ in watching.answered[:3]} == {FLOODED, NEIGHBOUR, ELSEWHERE}
    own = [id_ for game, id_ in watching.answered if game == FLOODED]
    assert own == [f"grab-{number}" for number in range(FLOOD)]


def test_P8_many_commands_that_get_no_entry_are_answered_in_two_round_trips(ledger: RedisLedger) -> None:
    watching, step = watched(ledger, refusals_kept=1)
    submit(ledger, [grab(game, number) for number in range(FLOOD // 2) for game in (FLOODED, ELSEWHERE)])
    step()
    assert watching.calls == ["heads", "reject"]
    answers = [ledger.read_result(FLOODED, 0, f"grab-{number}") for number in range(FLOOD // 2)]
    assert [answer.rule for answer in answers if answer] == [""] + ["RATE-1"] * (FLOOD // 2 - 1)
