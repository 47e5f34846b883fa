"""P2, P3, P5, P7, P10: two referees on the same games, killed at any call, and one log.

A ledger that may kill its referee stands before the real one: it does so before a call, after it (a
lost reply), or in the middle of a batch. A referee that died is replaced by one with another name.
Now and then the rival acts just before an append, so that it conflicts.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable
from random import Random
from typing import Any

import pytest

from schemas.commands import CommandEnvelope
from schemas.trains.commands import ClaimRoute
from services.ledger import AppendRequest, AppendResult, DuplicateCommand, RedisLedger
from services.referee.games import fold
from services.referee.games.trains.train_state import TrainGame
from services.referee.worker import Referee
from tests.long_runs import long_after
from tests.referee.running_referee import (
    Clock,
    Players,
    dead_letter_reasons,
    entries,
    left_in_streams,
    opening_commands,
    referee_at,
    submit,
    view_problems,
)

SEEDS = {"fake": (0, 1), "engine": (*range(100, 106), *range(2, 30))}  # the fake takes three times the CPU
MAX_STEPS = 4_000
CRASH_PROBABILITY = 0.03  # of all calls, before and after each
GAMES = {"game-a": 2, "game-b": 3}


DELIVERING = ("take", "reclaim", "redelivered", "renew")


class Killed(BaseException):
    """The referee's process is killed at this call."""


class CrashingLedger:
    """A ledger whose referee may be killed at every call, before it or after it."""

    def __init__(self, ledger: RedisLedger, random: Random, rival: Callable[[], None]) -> None:
        self._ledger, self._random, self._rival = ledger, random, rival

    commands = property(lambda self: self)  # these crash as well

    def __getattr__(self, name: str) -> Callable[..., Any]:
        def call(*args: Any) -> Any:
            self._may_crash()
            asked = self._ledger.commands if name in DELIVERING else self._ledger
            answer = getattr(asked, name)(*args)
            self._may_crash()
            return answer

        return call

    def append(self, decided: Iterable[AppendRequest | DuplicateCommand]) -> list[AppendResult]:
        self._may_crash()
        decisions = [*decided]
        self._rival()
        if self._random.random() < CRASH_PROBABILITY:
            self._ledger.append(decisions[: self._random.randint(0, len(decisions))])
            raise Killed
        return self._ledger.append(decisions)

    def _may_crash(self) -> None:
        if self._random.random() < CRASH_PROBABILITY:
            raise Killed


class World:
    """Two referees and the players, one step at a time in any order."""

    def __init__(self, seed: int, ledger: RedisLedger) -> None:
        self.random, self.ledger, self.clock = Random(seed), ledger, Clock()
        self.players = Players(ledger, self.random)
        self.count = 0
        self.crashes = 0
        self.is_rival_acting = False  # a rival acts: its own appends have no rival
        self.referees = [self.start_referee(0), self.start_referee(1)]

    def start_referee(self, index: int) -> Referee:
        self.count += 1
        crashing: Any = CrashingLedger(self.ledger, self.random, lambda: self.interfere(1 - index))
        referee = referee_at(crashing, f"referee-{self.count}", self.clock)
        referee.max_deliveries = MAX_STEPS  # they are killed so often that no command is to blame
        return referee

    def interfere(self, index: int) -> None:
        """Now and then, the other referee acts at this moment."""
        if self.is_rival_acting or self.random.random() < 0.7:
            return
        self.is_rival_acting = True
        try:
            self.act(index)
        finally:
            self.is_rival_acting = False

    def act(self, index: int) -> None:
        referee = self.referees[index]
        steps: list[Callable[[], object]] = [
            lambda: referee.step(0),
            lambda: referee.reclaim(0),
            referee.process_due_games,
        ]
        step = self.random.choice(steps)
        try:
            step()
        except Killed:
            self.crashes += 1
            self.referees[index] = self.start_referee(index)

    def play(self) -> None:
        """The players' step: commands sent more than once, impossible ones, tasks left unacknowledged."""
        random = self.random
        ledger = self.ledger
        deliveries = ledger.take_tasks("bots", 16, 0) + ledger.reclaim_tasks("bots", 0)
        deliveries += ledger.redelivered_tasks("bots", 0)
        for task in (delivery.task for delivery in deliveries):
            if envelope := self.players.envelope_for(task):
                for _ in range(random.choice((1, 1, 1, 2, 5))):
                    self.players.send(envelope)
            if random.random() < 0.1:
                impossible = ClaimRoute("no-such-route", {"red": 1})
                self.players.send(
                    CommandEnvelope(f"impossible-{random.random()}", task.game, task.seat, impossible)
                )
        self.ledger.acknowledge_tasks([delivery for delivery in deliveries if random.random() < 0.9])

    def run(self) -> None:
        """Step until every game is over and no stream has anything left."""
        for game, seats in GAMES.items():
            self.players.sent += (envelopes := opening_commands(game, seats, cars=9))
            submit(self.ledger, envelopes * 2)
        for _ in range(MAX_STEPS):
            self.clock.now += self.random.randint(0, 50)
            self.random.choice((self.play, lambda: self.act(0), lambda: self.act(1)))()
            if not left_in_streams(self.ledger._client):
                return


def cards(state: TrainGame) -> int:
    in_hands = sum(seat_state.own.cards for seat_state in state.seats)
    return (
        in_hands
        + len(state.own.deck)
        + sum(state.own.discards.values())
        + len([c for c in state.own.market if c])
    )


def any_schedule_leaves_one_log(seed: int, ledger: RedisLedger) -> None:
    world = World(seed, ledger)
    world.run()
    assert left_in_streams(ledger._client) == {}
    assert dead_letter_reasons(ledger._client) == []
    assert world.crashes > 5
    sent = {(envelope.game, envelope.seat, envelope.id) for envelope in world.players.sent}
    decisions: Counter[tuple[str, int | None, str]] = Counter()
    for game, seats in GAMES.items():
        state = fold(ledger.read_entries(game))
        assert state.result
        assert cards(state) == 110
        assert view_problems(ledger, game, seats) == []
        decisions.update((game, entry.seat, entry.id) for entry in entries(ledger, game))
    assert set(decisions) <= sent
    assert set(decisions.values()) == {1}
    for game, seat, id_ in sent:
        answer = ledger.read_result(game, seat, id_)
        assert answer is not None
        assert (answer.sequence > 0) == ((game, seat, id_) in decisions)


@pytest.mark.long
@pytest.mark.parametrize("connection", ["fake"], indirect=True)
@pytest.mark.parametrize("seed", SEEDS["fake"])
def test_P2_P3_any_schedule_leaves_one_log(seed: int, ledger: RedisLedger) -> None:
    any_schedule_leaves_one_log(seed, ledger)


@pytest.mark.parametrize("connection", ["engine"], indirect=True)
@pytest.mark.parametrize("seed", long_after(2, SEEDS["engine"]))
def test_P2_P3_any_schedule_leaves_one_log_on_an_engine(seed: int, ledger: RedisLedger) -> None:
    any_schedule_leaves_one_log(seed, ledger)
