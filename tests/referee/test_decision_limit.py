"""P8: a decision that never ends is interrupted, counted, and a dead letter at its third delivery."""

from __future__ import annotations

from collections.abc import Iterator
from threading import Event, Thread
from typing import Any

import pytest

from schemas.commands import CommandEnvelope, CreateGame, Leave, SeatPlan, StartGame
from schemas.trains.commands import DrawBlind, KeepTickets
from services.ledger import CommandResult, RedisLedger
from services.ledger.engine import keys
from services.referee.decision_limit import STUCK_LIMITS, TICKS, DecisionLimit, DecisionTooLongError
from services.referee.leases import GameClock, Lease
from services.referee.worker import Referee
from services.runtime.worker_loop import Heartbeat
from tests.conftest import ALL, PARTITIONS
from tests.referee.endless_rules import (
    ENDLESS,
    endless,
    lose_one_interruption,
    never_give_way,
    playable,
    spin,
)
from tests.referee.running_referee import (
    GAME,
    NEIGHBOUR_GAME,
    NOON,
    Clock,
    answer_of,
    dead_letter_reasons,
    entries,
    opening_commands,
    referee_at,
    submit,
)

LIMIT_S = 0.1
REASON = b"decision took longer than 0.1 s"
LEAVES = CommandEnvelope("leave", GAME, 1, Leave())
KEEPS = CommandEnvelope("keep", GAME, 0, KeepTickets((0, 1)))


@pytest.fixture(autouse=True)
def endless_rules() -> Iterator[None]:
    with playable(endless()):
        yield


def limited(ledger: RedisLedger, name: str, clock: Clock | None = None) -> Referee:
    """A referee whose decisions are interrupted, where something watches them."""
    referee = referee_at(ledger, name, clock)
    referee.processor.decision_limit = DecisionLimit(LIMIT_S)
    return referee


def open_endless_game(ledger: RedisLedger, referee: Referee, **options: Any) -> None:
    plans = (SeatPlan("bot", "random"), SeatPlan("bot", "random"))
    create = CreateGame(plans, ruleset=ENDLESS, seed="a seed", options=options or None)
    submit(ledger, [CommandEnvelope("create", GAME, None, create)])
    submit(ledger, [CommandEnvelope("start", GAME, None, StartGame())])
    referee.step(0)
    assert len(entries(ledger)) == 2


def times_delivered(client: Any) -> list[int]:
    """Of each command that is pending."""
    pending = (client.xpending_range(keys.commands(p), keys.REFEREE_GROUP, "-", "+", 9) for p in ALL)
    return [entry["times_delivered"] for entries in pending for entry in entries]


def watched_step(referee: Referee) -> None:
    with referee.processor.decision_limit.watching():
        referee.step(0)


def watched_reclaim(ledger: RedisLedger, name: str) -> None:
    """Another referee takes over what is pending, once: as `Referee.reclaim` does it, with time between."""
    heir = limited(ledger, name)
    with heir.processor.decision_limit.watching():
        if deliveries := ledger.commands.reclaim(name, ALL, 0):
            heir.processor.process(deliveries)
            return
        for delivery in ledger.commands.redelivered(name, ALL, 0):
            heir.processor.process([delivery])


def test_P8_an_endless_decision_is_a_dead_letter_at_its_third_delivery_whichever_referee_has_it(
    ledger: RedisLedger, client: Any
) -> None:
    first = limited(ledger, "first")
    with playable(endless(spin)):
        open_endless_game(ledger, first)
        ledger.submit(LEAVES)
        watched_step(first)
        assert times_delivered(client) == [1]
        for name in ("second", "third"):
            assert dead_letter_reasons(client) == []
            watched_reclaim(ledger, name)
    assert dead_letter_reasons(client) == [REASON]
    result = ledger.read_result(GAME, 1, "leave")
    assert result is not None
    assert (result.sequence, result.rule) == (0, "POISON-1")
    assert ledger.dead_letters().list_all()[0].delivery_count == 3


def test_P8_an_interrupted_decision_changes_nothing_and_its_game_goes_on(
    ledger: RedisLedger, client: Any
) -> None:
    referee = limited(ledger, "one")
    open_endless_game(ledger, referee)
    ledger.submit(LEAVES)
    watched_step(referee)
    assert len(entries(ledger)) == 2
    ledger.submit(KEEPS)
    watched_step(referee)
    assert answer_of(ledger, 0, "keep") == CommandResult(3)
    state = referee.processor.game_cache.get(GAME).state
    assert [seat.exit_reason for seat in state.seats] == [None, None]
    assert not state.result


def test_P8_the_other_games_of_the_batch_are_decided_and_the_same_game_waits_its_turn(
    ledger: RedisLedger, client: Any
) -> None:
    referee = limited(ledger, "one")
    open_endless_game(ledger, referee)
    submit(ledger, [LEAVES, KEEPS, *opening_commands(NEIGHBOUR_GAME)])
    watched_step(referee)
    assert len(ledger.read_entries(NEIGHBOUR_GAME)) == 2
    assert len(entries(ledger)) == 2
    for name in ("second", "third"):
        watched_reclaim(ledger, name)
    assert dead_letter_reasons(client) == [REASON]
    assert answer_of(ledger, 0, "keep") == CommandResult(3)
    assert ledger.commands.reclaim("anybody", ALL, 0) == []


def test_P8_an_interruption_that_is_lost_is_followed_by_another(ledger: RedisLedger, client: Any) -> None:
    referee = limited(ledger, "one")
    with playable(endless(lose_one_interruption)):
        open_endless_game(ledger, referee)
        ledger.submit(LEAVES)
        watched_step(referee)
    ledger.submit(KEEPS)
    referee.step(0)
    assert answer_of(ledger, 0, "keep") == CommandResult(3)


def test_P8_a_clock_whose_expiry_never_ends_is_given_up_the_third_time(ledger: RedisLedger) -> None:
    clock = Clock()
    referee = limited(ledger, "one", clock)
    open_endless_game(ledger, referee, clock_ms=1000)
    clock.now = NOON + 1000
    with referee.processor.decision_limit.watching():
        for _ in range(3):
            assert referee.process_due_games() == 1
            clock.now += 60_000
    assert ledger.due_deadlines(clock.now + 10**9, ALL) == []
    assert len(entries(ledger)) == 2
    ledger.submit(KEEPS)  # out of time: refused, and that entry sets the deadline again
    referee.step(0)
    assert len(ledger.due_deadlines(clock.now + 10**9, ALL)) == 1


def test_P8_what_can_not_be_interrupted_is_given_up_and_a_dead_letter_the_third_time(
    ledger: RedisLedger, client: Any
) -> None:
    referee, reached, given_up, released = limited(ledger, "third"), Event(), Event(), Event()
    deciding = Thread(target=referee.reclaim, args=(0,))

    def give_up() -> None:
        referee.processor.give_up_stuck()
        given_up.set()

    with playable(endless(never_give_way(reached, released))):
        open_endless_game(ledger, referee)
        ledger.submit(LEAVES)
        ledger.commands.take("first", ALL, 1, 0)
        ledger.commands.reclaim("second", ALL, 0)
        deciding.start()
        assert reached.wait(60)
        with referee.processor.decision_limit.watching(give_up):
            assert given_up.wait(60)
        assert dead_letter_reasons(client) == [REASON]
        released.set()
        deciding.join()


def test_P8_only_ticks_of_one_decision_are_counted() -> None:
    limit = DecisionLimit()
    for _ in range(3 * TICKS):
        limit.run(lambda: None)
        assert not limit.tick()
    assert limit.run(lambda: [limit.tick() for _ in range(TICKS)]) == [False] * TICKS
    with pytest.raises(DecisionTooLongError, match="decision took longer than 2 s"):
        limit.run(lambda: [limit.tick() for _ in range(TICKS + 1)] and "unless it is interrupted")
    assert limit.run(lambda: "the next one") == "the next one"


def test_P8_a_decision_is_given_up_once() -> None:
    limit, given_up = DecisionLimit(), list[bool]()

    def catch_everything() -> None:
        for _ in range(5 * TICKS):
            try:
                given_up.append(limit.tick())
                list(range(3))
            except BaseException:
                continue

    limit.run(catch_everything)
    assert given_up.count(True) == 1
    assert limit.run(DrawBlind) == DrawBlind()


def test_P7_a_referee_keeps_its_lease_while_a_decision_is_long_and_loses_it_when_it_hangs(
    ledger: RedisLedger, client: Any
) -> None:
    limit = DecisionLimit()
    lease = Lease(ledger.membership(), "one", PARTITIONS, GameClock(Clock()), Clock())
    heartbeat = Heartbeat("referee", lease.renew, STUCK_LIMITS * limit.limit_s, lambda: limit.decisions)

    def is_renewed() -> bool:
        ledger.membership().leave("one")
        heartbeat.beat()
        return "one" in ledger.membership().heartbeat("probe", None, NOON).members

    assert [is_renewed() for _ in range(10)] == [True] * 10  # 5 s
    assert not is_renewed()
    limit.run(lambda: None)
    assert is_renewed()
    assert [is_renewed() for _ in range(10)][-1] is False
    heartbeat.report_round()
    assert is_renewed()
