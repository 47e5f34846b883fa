"""Names of players: the log has commitments, a key of their own has the names, and no verdict needs them."""

from __future__ import annotations

from itertools import count
from typing import Any

import pytest

from schemas.commands import CommandEnvelope, CreateGame, ForkGame, SeatPlan, StartGame, TakeSeat
from schemas.events import CommandRefused, GameCreated, SeatTaken
from schemas.stored.player_names import ERASED_NAME, with_names
from services.ledger import RedisLedger
from services.ledger.engine import keys
from services.referee import decision_building
from services.referee.decision_building import Clocks
from services.referee.worker import Referee
from services.verification.replay import redecide_entries
from tests.conftest import PARTITIONS
from tests.referee.running_referee import GAME, Clock, dead_letter_reasons, entries, partition_of, submit

PEOPLE = CreateGame((SeatPlan(), SeatPlan(), SeatPlan("bot", "greedy")), ruleset="usa")
NAMES_KEY = keys.player_names(partition_of(GAME), GAME)


@pytest.fixture
def referee(ledger: RedisLedger) -> Referee:
    """A referee that draws another salt each time."""
    time, seeds = Clock(), count(1)
    return Referee(
        ledger, "one", Clocks(time, time), lambda: f"{next(seeds):064x}", lambda: range(PARTITIONS)
    )


def opened(ledger: RedisLedger, referee: Referee, *names: str, create: CreateGame = PEOPLE) -> None:
    """A game in which people of these names ask for a seat."""
    submit(ledger, [CommandEnvelope("create", GAME, None, create)])
    submit(ledger, [CommandEnvelope(f"join-{n}", GAME, None, TakeSeat(name)) for n, name in enumerate(names)])
    referee.step(0)


def seats_taken(ledger: RedisLedger) -> list[SeatTaken]:
    return [event for entry in entries(ledger) for event in entry.events if isinstance(event, SeatTaken)]


def all_bytes(client: Any) -> bytes:
    """What the engine holds, but for the key of names."""
    reads = {b"stream": client.xrange, b"hash": client.hgetall, b"string": client.get}
    found = {key: reads[kind](key) for key in client.scan_iter() if (kind := client.type(key)) in reads}
    return repr({key: value for key, value in found.items() if key.decode() != NAMES_KEY}).encode()


def test_a_name_lies_beside_the_log_and_its_commitment_in_it(
    ledger: RedisLedger, referee: Referee, client: Any
) -> None:
    opened(ledger, referee, "Xanthippa")
    bot, taken = seats_taken(ledger)
    names = ledger.read_names(GAME)
    assert (taken.name, [*names]) == (None, [taken.name_commitment])
    assert names[str(taken.name_commitment)].name == "Xanthippa"
    assert int.from_bytes(names[str(taken.name_commitment)].salt) in (1, 2, 3), "it is drawn"
    assert (bot.name, bot.name_commitment) == ("greedy 3", None)
    assert b"Xanthippa" not in all_bytes(client)


def test_a_name_that_a_creator_gives_is_committed_to_in_plan_and_seat(
    ledger: RedisLedger, referee: Referee, client: Any
) -> None:
    plans = (
        SeatPlan(name="Xanthippa"),
        SeatPlan("bot", "greedy", "Quillon"),
        SeatPlan("bot", "random", "random 7"),
    )
    opened(ledger, referee, create=CreateGame(plans, ruleset="usa"))
    first = entries(ledger)[0]
    created = first.events[0]
    assert isinstance(created, GameCreated)
    assert [plan.name for plan in created.seats] == [None, None, "random 7"]
    assert [(event.seat, event.name) for event in seats_taken(ledger)] == [(1, None), (2, "random 7")]
    assert created.seats[1].name_commitment == seats_taken(ledger)[0].name_commitment
    named = with_names(first, ledger.read_names(GAME)).events[0]
    assert isinstance(named, GameCreated)
    assert [plan.name for plan in named.seats] == ["Xanthippa", "Quillon", "random 7"]
    assert not any(name in all_bytes(client) for name in (b"Xanthippa", b"Quillon"))


def test_GAME_4_a_name_at_the_table_is_refused_and_every_verdict_stands_without_names(
    ledger: RedisLedger, referee: Referee
) -> None:
    opened(ledger, referee, "Ada", "Ada", "greedy 3", "Bo")
    refusals = [entry.refusal for entry in entries(ledger)]
    assert [refusal and refusal.rule for refusal in refusals] == [None, None, "GAME-4", None], (
        "a bot's name is refused without an entry"
    )
    assert isinstance(refusals[2], CommandRefused)
    assert "Ada" not in refusals[2].why
    ledger.erase_names(GAME, [*ledger.read_names(GAME)])
    decided = [*redecide_entries(GAME, entries(ledger))]
    assert all(each.decision.agrees_with(each.entry.events) for each in decided)


def test_GAME_4_a_name_that_was_erased_is_free(ledger: RedisLedger, referee: Referee) -> None:
    opened(ledger, referee, "Ada")
    ledger.erase_names(GAME, [*ledger.read_names(GAME)])
    submit(ledger, [CommandEnvelope("again", GAME, None, TakeSeat("Ada"))])
    referee.step(0)
    assert [event.seat for event in seats_taken(ledger)] == [2, 0, 1]
    assert [salted.name for salted in ledger.read_names(GAME).values()] == ["Ada"]


def test_a_refused_name_is_kept_nowhere(ledger: RedisLedger, referee: Referee, client: Any) -> None:
    opened(ledger, referee, "Ada", "Bo", "Xanthippa")
    assert entries(ledger)[-1].refusal is not None
    assert b"Xanthippa" not in all_bytes(client) + repr(client.hgetall(NAMES_KEY)).encode()


@pytest.mark.pure_python
def test_P8_a_dead_letter_holds_no_name_and_can_be_retried(
    ledger: RedisLedger, referee: Referee, client: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    with monkeypatch.context() as patch:
        patch.setattr(decision_building, "seal_entry", None)
        opened(ledger, referee, create=CreateGame((SeatPlan(name="Xanthippa"), SeatPlan()), ruleset="usa"))
        assert len(dead_letter_reasons(client)) == 1
        assert b"Xanthippa" not in all_bytes(client)
    [dead] = ledger.dead_letters().list_all()
    ledger.dead_letters().retry(dead)
    referee.step(0)
    named = with_names(entries(ledger)[0], ledger.read_names(GAME)).events[0]
    assert isinstance(named, GameCreated)
    assert [plan.name for plan in named.seats] == [ERASED_NAME, None]


def test_a_fork_takes_names_along_and_those_that_were_erased_not(
    ledger: RedisLedger, referee: Referee
) -> None:
    opened(ledger, referee, "Ada", "Bo")
    ada = seats_taken(ledger)[1].name_commitment
    ledger.erase_names(GAME, [str(ada)])
    submit(ledger, [CommandEnvelope("start", GAME, None, StartGame())])
    referee.step(0)
    for seat, shown in ((0, ERASED_NAME), (1, "Bo")):
        fork = f"fork-{seat}"
        submit(ledger, [CommandEnvelope("fork", fork, None, ForkGame(GAME, 4, seat))])
        referee.step(0)
        names = {salted.name for salted in ledger.read_names(fork).values()}
        assert names == {shown}


def test_names_leave_the_engine_with_their_game(ledger: RedisLedger, referee: Referee, client: Any) -> None:
    opened(ledger, referee, "Ada")
    assert client.exists(NAMES_KEY)
    assert ledger.evict(GAME, 3, len(entries(ledger)))
    assert not client.exists(NAMES_KEY)


def test_P8_names_of_another_type_stop_one_game_and_no_other(
    ledger: RedisLedger, referee: Referee, client: Any
) -> None:
    client.set(NAMES_KEY, "no hash")
    opened(ledger, referee, "Ada")
    other = f"{GAME}-2"
    submit(ledger, [CommandEnvelope("create", other, None, PEOPLE)])
    submit(ledger, [CommandEnvelope("join", other, None, TakeSeat("Ada"))])
    referee.step(0)
    assert len(entries(ledger)) == 1, "the join is set aside before anything is written"
    assert len(dead_letter_reasons(client)) == 1
    assert len(entries(ledger, other)) == 2
