"""P9: games that nobody plays leave the engine, whole, and no others do."""

from __future__ import annotations

from random import Random
from typing import Any

import pytest

from schemas.commands import CommandEnvelope, CreateGame, SeatPlan, StartGame
from schemas.game_options import VISIBILITIES, GameVisibility
from services.ledger import RedisLedger
from services.ledger.engine import keys
from services.referee.decision_building import Clocks
from services.referee.games import fold
from services.referee.worker import Referee
from tests.conftest import ALL
from tests.ledger_contract.given import contents
from tests.referee.running_referee import (
    FRESH,
    GAME,
    NEIGHBOUR_GAME,
    NOON,
    Clock,
    Players,
    opening_commands,
    partition_of,
    referee_at,
    submit,
)
from tests.referee.test_play_off import NEXT, equal_seats_commands, look_after, play

STAYS_MS = 60_000


@pytest.fixture
def wall() -> Clock:
    return Clock()


@pytest.fixture
def keeper(ledger: RedisLedger, wall: Clock) -> Referee:
    """A referee whose games stay for a minute."""
    return Referee(ledger, "keeper", Clocks(Clock(), wall, STAYS_MS, STAYS_MS), lambda: FRESH, lambda: ALL)


def play_out(ledger: RedisLedger, referee: Referee, game: str = GAME) -> None:
    submit(ledger, opening_commands(game, cars=5))
    players = Players(ledger, Random(3))
    while referee.step(0) + players.step():
        pass
    assert fold(ledger.read_entries(game)).result


def test_P9_a_finished_game_is_evicted_after_its_retention_and_leaves_nothing(
    ledger: RedisLedger, keeper: Referee, wall: Clock, client: Any
) -> None:
    keeper.step(0)
    ledger.take_tasks("bots", 1, 0)
    empty = contents(client)
    play_out(ledger, keeper)
    wall.now += STAYS_MS - 1
    assert keeper.evict() == 0
    wall.now += 1
    assert keeper.evict() == 1
    assert ledger.games() == []
    assert ledger.read_entries(GAME) == []
    assert contents(client) == empty


@pytest.mark.parametrize("visibility", VISIBILITIES)
def test_P9_a_game_leaves_the_list_that_it_stood_in(
    ledger: RedisLedger, keeper: Referee, wall: Clock, client: Any, visibility: GameVisibility
) -> None:
    create = CreateGame((SeatPlan("bot", "random"),) * 2, visibility=visibility)
    submit(ledger, [CommandEnvelope("create", GAME, None, create)])
    submit(ledger, [CommandEnvelope("start", GAME, None, StartGame())])
    keeper.step(0)
    partition, is_listed = partition_of(GAME), visibility == "public"
    assert ledger.games() == [GAME]
    assert bool(client.zscore(keys.games(partition), GAME)) is is_listed
    assert bool(client.zscore(keys.unlisted_games(partition), GAME)) is not is_listed
    ledger.evict(GAME, 2, 2)
    assert ledger.games() == []
    assert not client.exists(keys.games(partition), keys.unlisted_games(partition))


def test_P9_a_game_that_never_started_is_evicted(ledger: RedisLedger, keeper: Referee, wall: Clock) -> None:
    submit(ledger, [CommandEnvelope("create", GAME, None, CreateGame((SeatPlan(), SeatPlan())))])
    keeper.step(0)
    wall.now += STAYS_MS
    assert keeper.evict() == 1
    assert ledger.games() == []


def test_P9_a_game_that_never_started_has_a_time_of_its_own(ledger: RedisLedger, wall: Clock) -> None:
    clocks = Clocks(Clock(), wall, STAYS_MS, unstarted_ms=STAYS_MS // 4)
    keeper = Referee(ledger, "keeper", clocks, lambda: FRESH, lambda: ALL)
    submit(ledger, [CommandEnvelope("create", GAME, None, CreateGame((SeatPlan(), SeatPlan())))])
    keeper.step(0)
    play_out(ledger, keeper, "played")
    wall.now += STAYS_MS // 4 - 1
    assert keeper.evict() == 0
    wall.now += 1
    assert keeper.evict() == 1
    assert ledger.games() == ["played"]


def test_P9_a_game_that_is_played_stays(ledger: RedisLedger, keeper: Referee, wall: Clock) -> None:
    submit(ledger, opening_commands())
    keeper.step(0)
    wall.now += 1000 * STAYS_MS
    assert keeper.evict() == 0
    assert ledger.games() == [GAME]


def test_P9_a_game_that_starts_at_the_last_moment_stays(
    ledger: RedisLedger, other_ledger: RedisLedger, keeper: Referee, wall: Clock
) -> None:
    create, start = opening_commands()
    submit(ledger, [create])
    keeper.step(0)
    wall.now += STAYS_MS
    submit(ledger, [start])
    length = len(ledger.read_entries(GAME))
    referee_at(other_ledger, "rival").step(0)
    assert not ledger.evict(GAME, 2, length)
    assert keeper.evict() == 0
    assert len(ledger.read_entries(GAME)) == 2


def test_P9_a_wrong_eviction_time_is_corrected(ledger: RedisLedger, keeper: Referee) -> None:
    submit(ledger, opening_commands())
    keeper.step(0)
    ledger.schedule_eviction(GAME, NOON - 1)
    ledger.schedule_eviction("no-such-game", NOON - 1)
    assert keeper.evict() == 2
    assert ledger.evictable(NOON * 10, ALL) == []
    assert len(ledger.read_entries(GAME)) == 2


def test_P8_a_damaged_game_stops_no_other_eviction(
    ledger: RedisLedger, keeper: Referee, wall: Clock, client: Any
) -> None:
    client.xadd(keys.log(partition_of(NEIGHBOUR_GAME), NEIGHBOUR_GAME), {"s": b"\xc1"}, id="1-0")
    ledger.schedule_eviction(NEIGHBOUR_GAME, NOON)
    play_out(ledger, keeper)
    wall.now += STAYS_MS
    keeper.evict()
    assert ledger.games() == []
    assert ledger.evictable(NOON * 10, ALL) == [NEIGHBOUR_GAME]


def test_GAME_1_a_command_for_an_evicted_game_is_rejected(
    ledger: RedisLedger, keeper: Referee, wall: Clock
) -> None:
    play_out(ledger, keeper)
    wall.now += STAYS_MS
    keeper.evict()
    submit(ledger, [CommandEnvelope("late", GAME, None, StartGame())])
    keeper.step(0)
    result = ledger.read_result(GAME, None, "late")
    assert result is not None
    assert (result.sequence, result.rule) == (0, "GAME-1")


def test_P9_idle_consumers_are_removed_unless_something_is_pending(ledger: RedisLedger, client: Any) -> None:
    submit(ledger, opening_commands())
    ledger.commands.take("gone", ALL, 1, 0)
    ledger.commands.take("idle", ALL, 1, 0)
    ledger.commands.take("nothing", ALL, 1, 0)
    ledger.prune_consumers(ALL, 0)
    group = client.xinfo_consumers(keys.commands(partition_of(GAME)), keys.REFEREE_GROUP)
    assert sorted(consumer["name"] for consumer in group) == [b"gone", b"idle"]
    assert len(ledger.commands.reclaim("heir", ALL, 0)) == 2


def test_TIE_1_a_game_stays_until_its_play_off_is_there(
    ledger: RedisLedger, keeper: Referee, wall: Clock
) -> None:
    """No service ran for longer than games are retained."""
    submit(ledger, equal_seats_commands())
    keeper.step(0)
    assert play(ledger, keeper).next_play_off is not None
    wall.now += STAYS_MS
    keeper.evict()
    assert GAME in ledger.games()
    for _ in range(3):
        look_after(keeper)
    wall.now += STAYS_MS
    keeper.evict()
    assert GAME not in ledger.games()


def test_TIE_1_a_game_whose_play_off_was_evicted_does_not_create_it_again(
    ledger: RedisLedger, keeper: Referee, wall: Clock
) -> None:
    submit(ledger, equal_seats_commands())
    keeper.step(0)
    play(ledger, keeper)
    for _ in range(3):
        look_after(keeper)
    ledger.schedule_eviction(NEXT, NOON)
    assert ledger.evict(NEXT, 2, len(ledger.read_entries(NEXT)))
    wall.now += STAYS_MS
    keeper.evict()
    look_after(keeper)
    assert ledger.games() == []
