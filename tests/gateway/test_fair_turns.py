"""Whoever used little of what is scarce comes next."""

from __future__ import annotations

import asyncio
from collections.abc import Iterator
from threading import Event
from typing import cast

import pytest

from services.gateway.games.finished_games import FinishedGameReader, FinishedGames
from services.ledger.async_ledger import AsyncLedger
from services.runtime import executors
from services.runtime.executors import HALF_LIFE_S, FairThreadPool, FairTurns

PATIENCE_S = 60.0


class SteppedClock:
    """A clock in seconds that a test moves on."""

    now_s = 0.0

    def __call__(self) -> float:
        return self.now_s


@pytest.fixture
def pool() -> Iterator[FairThreadPool]:
    """Two threads."""
    made = FairThreadPool("test", 2)
    yield made
    made.shutdown()


def drained(turns: FairTurns[int], seconds: float = 1.0) -> list[int]:
    """All that waits, in its order, where each takes so long."""
    order = []
    while taken := turns.take():
        asker, thing = taken
        turns.charge(asker, seconds)
        order.append(thing)
    return order


def test_who_asks_for_much_waits_for_those_who_ask_for_little() -> None:
    turns = FairTurns[int](SteppedClock())
    for number in range(6):
        turns.put(("many",), number)
    turns.put(("one",), 6)
    turns.put(("two",), 7)
    turns.put(("two",), 8)
    assert len(turns) == 9
    assert drained(turns) == [0, 6, 7, 1, 8, 2, 3, 4, 5]
    assert turns.take() is None


def test_of_a_creators_tables_the_one_that_used_least_comes_next_after_other_creators() -> None:
    turns = FairTurns[int](SteppedClock())
    turns.charge(("many", "first"), 1.0)
    for number, table in enumerate(("first", "second", "third")):
        turns.put(("many", table), number)
    turns.put(("one", "only"), 3)
    turns.charge(("one", "another"), 0.5)
    assert drained(turns, 0.25) == [3, 1, 2, 0]


def test_half_of_a_use_is_forgotten_after_a_while() -> None:
    clock = SteppedClock()
    turns = FairTurns[int](clock)
    turns.charge(("early",), 3.0)
    clock.now_s = HALF_LIFE_S
    turns.charge(("late",), 2.0)
    assert (turns.used_s(("early",)), turns.used_s(("late",)), turns.used_s(("never",))) == (1.5, 2.0, 0.0)
    turns.put(("late",), 1)
    turns.put(("early",), 2)
    assert drained(turns) == [2, 1]


def test_only_those_who_used_most_are_remembered(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(executors, "MAX_REMEMBERED", 10)
    turns = FairTurns[int](SteppedClock())
    for number in range(1, 100):
        turns.charge((number,), float(number))
    assert turns.used_s((99,)) == 99.0 and turns.used_s((1,)) == 0.0


def test_one_call_of_each_asker_is_run_at_a_time(pool: FairThreadPool) -> None:
    go_on = Event()
    held = [pool.submit("many", lambda: go_on.wait(PATIENCE_S)) for _ in range(4)]
    assert pool.submit("one", lambda: "there").result(PATIENCE_S) == "there"
    assert not any(each.done() for each in held)
    go_on.set()
    assert all(each.result(PATIENCE_S) for each in held)


def test_what_waits_at_the_end_is_cancelled_and_nothing_is_waited_for(pool: FairThreadPool) -> None:
    begun, go_on = Event(), Event()

    def hold() -> bool:
        begun.set()
        return go_on.wait(PATIENCE_S)

    running = pool.submit("one", hold)
    waiting = pool.submit("one", lambda: True)
    assert begun.wait(PATIENCE_S)
    pool.shutdown()
    assert waiting.cancelled() and pool.submit("two", lambda: True).cancelled()
    go_on.set()
    assert running.result(PATIENCE_S)


class HeldAudits:
    """Reads no file, and notes whose audits it is asked for; the first waits until it may go on."""

    def __init__(self) -> None:
        self.games, self.begun, self.go_on = list[str](), Event(), Event()

    async def read_stored_game(self, game: str) -> None:
        """Know no file."""

    def audit(self, game: str, number: int | None, stored: object) -> dict[str, object]:
        self.games.append(game)
        self.begun.set()
        assert self.go_on.wait(PATIENCE_S)
        return {"game": game}


def test_who_asks_for_many_audits_waits_for_who_asks_for_one() -> None:
    held = HeldAudits()
    finished = FinishedGames(cast("AsyncLedger", held), cast("FinishedGameReader", held))

    async def ask_all() -> None:
        many = [asyncio.create_task(finished.audit("theirs", None, "many")) for _ in range(4)]
        await asyncio.to_thread(held.begun.wait, PATIENCE_S)
        one = asyncio.create_task(finished.audit("mine", None, "one"))
        for _ in range(10):  # until it waits, too
            await asyncio.sleep(0)
        held.go_on.set()
        await asyncio.gather(*many, one)

    asyncio.run(ask_all())
    finished.close()
    assert held.games == ["theirs", "mine", *["theirs"] * 3]
