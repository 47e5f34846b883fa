"""P8: one bot task that must wait, or crashes its worker, stops no other."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import pytest
from redis.exceptions import ConnectionError

from schemas.commands import Command, CommandEnvelope
from schemas.field_types import Seat
from services.bots import worker
from services.bots.policies import POLICIES
from services.bots.seat_random import SeatRandom
from services.bots.worker import MAX_DELIVERIES, BotWorker
from services.ledger import QueueFullError, RedisLedger
from services.ledger.engine import keys
from services.ledger.log.views import ViewPageOrError, ViewRequest
from services.ledger.ports import NodeAwayError
from services.referee.games import GameState
from services.runtime.worker_loop import ENGINE_COMMAND_ERROR
from tests.bots.recorded_commands import RecordedCommands
from tests.captured_logs import captured_logs
from tests.conftest import ALL
from tests.referee.running_referee import (
    GAME,
    left_in_streams,
    opening_commands,
    partition_of,
    referee_at,
    submit,
)

OTHER_GAME = next(f"game-{n}" for n in range(100) if partition_of(f"game-{n}") != partition_of(GAME))
TASKS, OTHER_TASKS = keys.bot_tasks(partition_of(GAME)), keys.bot_tasks(partition_of(OTHER_GAME))


class Killed(BaseException):
    """Stands for the end of the process."""


@pytest.fixture
def opened(ledger: RedisLedger) -> None:
    """Two games of two bots in two partitions: four bot tasks."""
    submit(ledger, [*opening_commands(), *opening_commands(OTHER_GAME)])
    referee_at(ledger).step(0)


def delivery_counts(client: Any, stream: str) -> list[int]:
    """The delivery count of each pending task of a stream."""
    pending = client.xpending_range(stream, keys.BOT_GROUP, "-", "+", 99)
    return [entry["times_delivered"] for entry in pending]


pytestmark = pytest.mark.usefixtures("opened")


def test_P8_P9_the_tasks_of_a_full_partition_wait_and_no_others(ledger: RedisLedger, client: Any) -> None:
    narrow = RedisLedger(client, ledger.partitions, max_waiting=3)
    with pytest.raises(QueueFullError):
        submit(
            narrow, (CommandEnvelope(f"flood-{n}", GAME, 0, opening_commands()[1].command) for n in range(9))
        )
    bots = BotWorker(narrow, narrow, "one")
    with captured_logs() as lines:
        assert bots.step(0) == 4
    assert [(line["event"], line["count"]) for line in lines if line["log_level"] == "warning"] == [
        ("bot tasks wait", 2)
    ]
    assert client.xlen(OTHER_TASKS) == 0
    for _ in range(3):
        assert bots.reclaim(0) == 0
    assert delivery_counts(client, TASKS) == [0, 0]
    referee_at(ledger).step(0)  # there is room again
    assert bots.reclaim(0) == 2
    assert delivery_counts(client, TASKS) == []


def test_P8_an_outage_counts_as_no_delivery(ledger: RedisLedger, client: Any) -> None:
    away = RecordedCommands(lambda _: ConnectionError("no answer"))
    bots = BotWorker(ledger, away, "one")
    with pytest.raises(ConnectionError):
        bots.step(0)
    for _ in range(MAX_DELIVERIES + 2):
        with pytest.raises(ConnectionError):
            bots.reclaim(0)
    assert delivery_counts(client, TASKS) == delivery_counts(client, OTHER_TASKS) == [0, 0]
    bots.commands = RecordedCommands()
    assert bots.reclaim(0) == 4
    assert left_in_streams(client) == {}


def test_P8_a_task_that_crashes_its_workers_is_dropped_and_no_other(
    ledger: RedisLedger, client: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    def crashing(
        state: GameState, seat: Seat, commands: Sequence[Command], seat_random: SeatRandom
    ) -> Command:
        if state is projected_states().get((GAME, 0)):
            raise Killed
        return commands[0]

    def projected_states() -> dict[tuple[str, Seat], GameState]:
        return {key: projection.state for key, projection in bots.projections.items()}

    monkeypatch.setattr(worker, "POLICIES", {**POLICIES, "random": crashing})
    sent: list[CommandEnvelope] = []
    bots = BotWorker(ledger, RecordedCommands(), "the first")
    with pytest.raises(Killed):
        bots.step(0)
    lines: list[Any] = []
    for attempt in range(MAX_DELIVERIES + 5):
        bots = BotWorker(ledger, sink := RecordedCommands(), f"worker {attempt}")
        try:
            with captured_logs() as lines:
                bots.reclaim(0)
        except Killed:
            continue
        finally:
            sent += sink.sent
        break
    assert [line["event"] for line in lines if line["log_level"] == "error"] == ["bot task dropped"]
    assert attempt + 1 == MAX_DELIVERIES
    assert {(envelope.game, envelope.seat) for envelope in sent} >= {(GAME, 1)}
    assert left_in_streams(client) == {}


class RefusingLedger:
    """A ledger whose engine answers a read of this game's view with an error."""

    def __init__(self, ledger: RedisLedger, game: str) -> None:
        self._ledger, self._game = ledger, game

    def __getattr__(self, name: str) -> Any:
        return getattr(self._ledger, name)

    def read_views(self, requests: Sequence[ViewRequest]) -> list[ViewPageOrError]:
        pages = self._ledger.read_views(requests)
        refused = ENGINE_COMMAND_ERROR("no, not that one")
        return [
            refused if request.game == self._game else page
            for request, page in zip(requests, pages, strict=True)
        ]


def test_P8_a_game_whose_view_the_engine_refuses_delays_its_own_tasks_only(
    ledger: RedisLedger, client: Any
) -> None:
    refusing: Any = RefusingLedger(ledger, GAME)
    bots = BotWorker(refusing, sink := RecordedCommands(), "one")
    bots.step(0)
    assert sink.games() == [OTHER_GAME] * 2
    assert (delivery_counts(client, TASKS), delivery_counts(client, OTHER_TASKS)) == ([0, 0], [])
    bots.ledger = ledger
    assert bots.reclaim(0) == 2


def test_P8_a_game_whose_view_has_another_type_loses_its_own_tasks_only(
    ledger: RedisLedger, client: Any
) -> None:
    public = keys.public_view(partition_of(GAME), GAME)
    client.delete(public)
    client.set(public, "no stream")
    with captured_logs() as lines:
        BotWorker(ledger, sink := RecordedCommands(), "one").step(0)
    assert sink.games() == [OTHER_GAME] * 2
    assert [line["event"] for line in lines if line["log_level"] == "error"][-1] == "bot task dropped"
    assert left_in_streams(client) == {}


def test_P7_the_tasks_of_a_dead_worker_are_processed_at_once_not_one_each_second(
    ledger: RedisLedger, client: Any
) -> None:
    ledger.take_tasks("dead", 64, 0)
    ledger.reclaim_tasks("dead too", 0)
    assert BotWorker(ledger, sink := RecordedCommands(), "alive").reclaim(0) == 4
    assert sink.games() == sorted([GAME, OTHER_GAME] * 2)
    assert left_in_streams(client) == {}


def test_P7_new_tasks_do_not_wait_long_for_reclaimed_ones(ledger: RedisLedger, client: Any) -> None:
    ledger.take_tasks("dead", 64, 0)
    ledger.reclaim_tasks("dead too", 0)
    ticks = iter(range(100))
    # each reading of the clock takes a second
    bots = BotWorker(ledger, RecordedCommands(), "alive", clock=lambda: float(next(ticks)))
    assert bots.reclaim(0) == 1
    assert sum(client.xlen(keys.bot_tasks(partition)) for partition in ALL) == 3


class PartAway:
    """A ledger on a cluster of which a part is away: that part's views can't be read."""

    def __init__(self, ledger: RedisLedger) -> None:
        self._ledger = ledger
        self.away = {GAME}

    def __getattr__(self, name: str) -> Any:
        return getattr(self._ledger, name)

    def read_views(self, requests: Sequence[ViewRequest]) -> list[ViewPageOrError]:
        pages = self._ledger.read_views(requests)
        return [
            NodeAwayError("no answer") if request.game in self.away else page
            for request, page in zip(requests, pages, strict=True)
        ]


def test_P7_the_tasks_of_games_on_a_node_that_is_away_wait_and_no_others(ledger: RedisLedger) -> None:
    part_away: Any = PartAway(ledger)
    bots = BotWorker(part_away, sink := RecordedCommands(), "one")
    assert bots.step(0) == 4
    assert sink.games() == [OTHER_GAME] * 2
    assert bots.reclaim(0) == 0, (
        "and the worker doesn't pause for them, as it does for an engine that is away"
    )
    assert sink.games() == [OTHER_GAME] * 2
    part_away.away = set()
    bots.reclaim(0)
    assert sink.games() == sorted([GAME, OTHER_GAME] * 2)
