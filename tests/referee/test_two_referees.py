"""P2, P3, P5, P7, P10: two referees on the same games, killed at any call, and one truth.

A ledger that may end its user's life stands between a referee and the real ledger: before a
call, after it (a lost reply), or amid a batch. A referee that died is followed by another of
a new name. Now and then the rival gets to act just before an append, so that it conflicts.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Sequence
from random import Random
from typing import Any

import pytest

from schemas.commands import ClaimRoute, CommandEnvelope
from services.ledger import AppendRequest, AppendResult, DuplicateCommand, RedisLedger
from services.referee.rules import GameState, fold
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

SEEDS = {"fake": range(30), "engine": range(100, 106)}
STEPS_MOST = 4_000
DEADLY = 0.03  # of all calls, before and after each
GAMES = {"game-a": 2, "game-b": 3}


class Killed(BaseException):
    """The referee's process is gone, at this very call."""


class Mortal:
    """A ledger whose user may die at every call, before it or after it."""

    def __init__(self, ledger: RedisLedger, dice: Random, rival: Callable[[], None]) -> None:
        self._ledger, self._dice, self._rival = ledger, dice, rival

    def __getattr__(self, name: str) -> Callable[..., Any]:
        def call(*told: Any) -> Any:
            self._may_die()
            answer = getattr(self._ledger, name)(*told)
            self._may_die()
            return answer

        return call

    def append(self, verdicts: Sequence[AppendRequest | DuplicateCommand]) -> list[AppendResult]:
        self._may_die()
        self._rival()
        if self._dice.random() < DEADLY:
            self._ledger.append(verdicts[: self._dice.randint(0, len(verdicts))])
            raise Killed
        return self._ledger.append(verdicts)

    def _may_die(self) -> None:
        if self._dice.random() < DEADLY:
            raise Killed


class World:
    """Two referees and the players, moved on one step at a time in any order."""

    def __init__(self, seed: int, ledger: RedisLedger) -> None:
        self.dice, self.ledger, self.clock = Random(seed), ledger, Clock()
        self.players = Players(ledger, self.dice)
        self.count = 0
        self.deaths = 0
        self.amid = False  # a rival acts: its own appends have no rival
        self.referees = [self.new(0), self.new(1)]

    def new(self, place: int) -> Referee:
        self.count += 1
        mortal: Any = Mortal(self.ledger, self.dice, lambda: self.interfere(1 - place))
        referee = referee_at(mortal, f"referee-{self.count}", self.clock)
        referee.max_deliveries = STEPS_MOST  # they die so often that no letter is to blame
        return referee

    def interfere(self, place: int) -> None:
        """Now and then, the other referee acts at this very moment."""
        if self.amid or self.dice.random() < 0.7:
            return
        self.amid = True
        try:
            self.act(place)
        finally:
            self.amid = False

    def act(self, place: int) -> None:
        referee = self.referees[place]
        steps: list[Callable[[], object]] = [
            lambda: referee.step(0),
            lambda: referee.reclaim(0),
            referee.process_due_games,
        ]
        step = self.dice.choice(steps)
        try:
            step()
        except Killed:
            self.deaths += 1
            self.referees[place] = self.new(place)

    def play(self) -> None:
        """The players' step: letters sent more than once, senseless ones, notes left lying."""
        dice = self.dice
        ledger = self.ledger
        turns = ledger.take_tasks("bots", 16, 0) + ledger.reclaim_tasks("bots", 0)
        turns += ledger.redelivered_tasks("bots", 0)
        for turn in (taken.task for taken in turns):
            if letter := self.players.envelope_for(turn):
                for _ in range(dice.choice((1, 1, 1, 2, 5))):
                    self.players.send(letter)
            if dice.random() < 0.1:
                senseless = ClaimRoute("no-such-route", {"red": 1})
                self.players.send(
                    CommandEnvelope(f"senseless-{dice.random()}", turn.game, turn.seat, senseless)
                )
        self.ledger.acknowledge_tasks([turn for turn in turns if dice.random() < 0.9])

    def run(self) -> None:
        """Steps until every game is over and nothing is on its way any more."""
        for game, seats in GAMES.items():
            self.players.sent += (letters := opening_commands(game, seats, cars=9))
            submit(self.ledger, letters * 2)
        for _ in range(STEPS_MOST):
            self.clock.now += self.dice.randint(0, 50)
            self.dice.choice((self.play, lambda: self.act(0), lambda: self.act(1)))()
            if not left_in_streams(self.ledger._client):
                return


def cards(table: GameState) -> int:
    hands = sum(place.cards for place in table.seats)
    return hands + len(table.deck) + sum(table.discards.values()) + len([c for c in table.market if c])


def any_schedule_leaves_one_truth(seed: int, ledger: RedisLedger) -> None:
    world = World(seed, ledger)
    world.run()
    assert left_in_streams(ledger._client) == {}
    assert dead_letter_reasons(ledger._client) == []
    assert world.deaths > 5
    sent = {(letter.game, letter.seat, letter.id) for letter in world.players.sent}
    verdicts: Counter[tuple[str, int | None, str]] = Counter()
    for game, seats in GAMES.items():
        table = fold(ledger.read_entries(game))
        assert table.result
        assert cards(table) == 110
        assert view_problems(ledger, game, seats) == []
        verdicts.update((game, entry.seat, entry.id) for entry in entries(ledger, game))
    assert set(verdicts) <= sent
    assert set(verdicts.values()) == {1}
    for game, seat, id_ in sent:
        answer = ledger.read_result(game, seat, id_)
        assert answer is not None
        assert (answer.sequence > 0) == ((game, seat, id_) in verdicts)


@pytest.mark.parametrize("connection", ["fake"], indirect=True)
@pytest.mark.parametrize("seed", long_after(10, SEEDS["fake"]))
def test_P2_P3_any_schedule_leaves_one_truth(seed: int, ledger: RedisLedger) -> None:
    any_schedule_leaves_one_truth(seed, ledger)


@pytest.mark.parametrize("connection", ["engine"], indirect=True)
@pytest.mark.parametrize("seed", long_after(3, SEEDS["engine"]))
def test_P2_P3_any_schedule_leaves_one_truth_on_an_engine(seed: int, ledger: RedisLedger) -> None:
    any_schedule_leaves_one_truth(seed, ledger)
