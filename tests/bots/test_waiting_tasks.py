"""P8: one note that must wait, or ends its worker, stops no other."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import pytest
from structlog.testing import capture_logs

from schemas.commands import Command, CommandEnvelope
from schemas.entries import ViewEntry
from schemas.field_types import Seat
from services.bots import worker
from services.bots.gateway_client import GatewayUnreachableError, RetryLaterError
from services.bots.policies import POLICIES
from services.bots.policies.random_source import SeatRandom
from services.bots.worker import MAX_DELIVERIES, BotWorker, DirectSink
from services.ledger import QueueFullError, RedisLedger, keys
from services.referee.rules import GameState
from services.runtime.worker_loop import ENGINE_COMMAND_ERROR
from tests.conftest import ALL
from tests.referee.running_referee import GAME, left_over, opening, partition_of, referee_at, submit

ELSEWHERE = next(f"game-{n}" for n in range(100) if partition_of(f"game-{n}") != partition_of(GAME))
TURNS, TURNS_ELSEWHERE = keys.bot_tasks(partition_of(GAME)), keys.bot_tasks(partition_of(ELSEWHERE))


class Killed(BaseException):
    """What ends a process, for a test that outlives it."""


class Outlet:
    """Keeps what it gets; what it says of a letter may be an exception."""

    def __init__(self, says: Callable[[CommandEnvelope], Exception | None] = lambda _: None) -> None:
        self.says, self.sent = says, list[CommandEnvelope]()

    def send(self, letter: CommandEnvelope) -> None:
        if no := self.says(letter):
            raise no
        self.sent.append(letter)

    def games(self) -> list[str]:
        return sorted(letter.game for letter in self.sent)


@pytest.fixture
def opened(ledger: RedisLedger) -> None:
    """Two games of two bots in two partitions: four notes."""
    submit(ledger, [*opening(), *opening(ELSEWHERE)])
    referee_at(ledger).step(0)


def counted(client: Any, stream: str) -> list[int]:
    """How often each note of a stream that is in hand counts as handed out."""
    pending = client.xpending_range(stream, keys.BOT_GROUP, "-", "+", 99)
    return [entry["times_delivered"] for entry in pending]


pytestmark = pytest.mark.usefixtures("opened")


def test_P8_P9_where_a_partition_is_full_its_notes_wait_and_no_others(
    ledger: RedisLedger, client: Any
) -> None:
    narrow = RedisLedger(client, ledger.partitions, max_waiting=3)
    with pytest.raises(QueueFullError):
        submit(narrow, (CommandEnvelope(f"flood-{n}", GAME, 0, opening()[1].command) for n in range(9)))
    bots = BotWorker(narrow, DirectSink(narrow), "one")
    with capture_logs() as lines:
        assert bots.step(0) == 4
    assert [(line["event"], line["count"]) for line in lines if line["log_level"] == "warning"] == [
        ("notes wait", 2)
    ]
    assert client.xlen(TURNS_ELSEWHERE) == 0
    for _ in range(3):
        assert bots.reclaim(0) == 0
    assert counted(client, TURNS) == [0, 0]
    referee_at(ledger).step(0)  # there is room again
    assert bots.reclaim(0) == 2
    assert counted(client, TURNS) == []


def test_P8_a_command_that_the_gateway_does_not_take_now_is_not_tried_before_its_time(
    ledger: RedisLedger, client: Any
) -> None:
    tried: list[str] = []

    def says(letter: CommandEnvelope) -> Exception | None:
        tried.append(letter.game)
        return RetryLaterError("busy", 5.0) if letter.game == GAME else None

    now = [100.0]
    outlet = Outlet(says)
    bots = BotWorker(ledger, outlet, "one", clock=lambda: now[0])
    bots.step(0)
    assert outlet.games() == [ELSEWHERE] * 2
    now[0] += 4.9
    assert bots.reclaim(0) == 0
    assert tried.count(GAME) == 2
    now[0] += 0.2
    outlet.says = lambda _: None
    assert bots.reclaim(0) == 2
    assert left_over(client) == {}


def test_P8_an_outage_counts_against_no_note(ledger: RedisLedger, client: Any) -> None:
    away = Outlet(lambda _: GatewayUnreachableError("nobody answers"))
    bots = BotWorker(ledger, away, "one")
    with pytest.raises(GatewayUnreachableError):
        bots.step(0)
    for _ in range(MAX_DELIVERIES + 2):
        with pytest.raises(GatewayUnreachableError):
            bots.reclaim(0)
    assert counted(client, TURNS) == counted(client, TURNS_ELSEWHERE) == [0, 0]
    bots.command_sink = Outlet()
    assert bots.reclaim(0) == 4
    assert left_over(client) == {}


def test_P8_a_note_that_ends_its_workers_is_given_up_and_no_other(
    ledger: RedisLedger, client: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    def deadly(table: GameState, seat: Seat, commands: Sequence[Command], dice: SeatRandom) -> Command:
        if table is eyes().get((GAME, 0)):
            raise Killed
        return commands[0]

    def eyes() -> dict[tuple[str, Seat], GameState]:
        return {key: seen.state for key, seen in bots.projections.items()}

    monkeypatch.setattr(worker, "POLICIES", {**POLICIES, "random": deadly})
    sent: list[CommandEnvelope] = []
    bots = BotWorker(ledger, Outlet(), "the first")
    with pytest.raises(Killed):
        bots.step(0)
    lines: list[Any] = []
    for heir in range(MAX_DELIVERIES + 5):
        bots = BotWorker(ledger, outlet := Outlet(), f"heir {heir}")
        try:
            with capture_logs() as lines:
                bots.reclaim(0)
        except Killed:
            continue
        finally:
            sent += outlet.sent
        break
    assert [line["event"] for line in lines if line["log_level"] == "error"] == ["note given up"]
    assert heir + 1 == MAX_DELIVERIES
    assert {(letter.game, letter.seat) for letter in sent} >= {(GAME, 1)}
    assert left_over(client) == {}


class Refusing:
    """A ledger whose engine says no where this game's view is asked for."""

    def __init__(self, ledger: RedisLedger, game: str) -> None:
        self._ledger, self._game = ledger, game

    def __getattr__(self, name: str) -> Any:
        return getattr(self._ledger, name)

    def read_view(self, game: str, *asked: Any) -> list[ViewEntry]:
        if game == self._game:
            raise ENGINE_COMMAND_ERROR("no, not that one")
        return self._ledger.read_view(game, *asked)


def test_P8_a_game_whose_view_the_engine_refuses_costs_its_own_notes_only(
    ledger: RedisLedger, client: Any
) -> None:
    refusing: Any = Refusing(ledger, GAME)
    bots = BotWorker(refusing, outlet := Outlet(), "one")
    bots.step(0)
    assert outlet.games() == [ELSEWHERE] * 2
    assert (counted(client, TURNS), counted(client, TURNS_ELSEWHERE)) == ([0, 0], [])
    bots.ledger = ledger
    assert bots.reclaim(0) == 2


def test_P8_a_game_whose_view_is_of_another_kind_costs_its_own_notes_only(
    ledger: RedisLedger, client: Any
) -> None:
    public = keys.public_view(partition_of(GAME), GAME)
    client.delete(public)
    client.set(public, "no stream")
    with capture_logs() as lines:
        BotWorker(ledger, outlet := Outlet(), "one").step(0)
    assert outlet.games() == [ELSEWHERE] * 2
    assert [line["event"] for line in lines if line["log_level"] == "error"][-1] == "note given up"
    assert left_over(client) == {}


def test_P7_what_a_dead_worker_left_is_dealt_with_at_once_not_one_note_each_second(
    ledger: RedisLedger, client: Any
) -> None:
    ledger.take_tasks("dead", 64, 0)
    ledger.reclaim_tasks("dead too", 0)
    assert BotWorker(ledger, outlet := Outlet(), "alive").reclaim(0) == 4
    assert outlet.games() == sorted([GAME, ELSEWHERE] * 2)
    assert left_over(client) == {}


def test_P7_fresh_notes_do_not_wait_long_for_those_that_were_left(ledger: RedisLedger, client: Any) -> None:
    ledger.take_tasks("dead", 64, 0)
    ledger.reclaim_tasks("dead too", 0)
    ticks = iter(range(100))
    bots = BotWorker(
        ledger, Outlet(), "alive", clock=lambda: float(next(ticks))
    )  # a second for each look at it
    assert bots.reclaim(0) == 1
    assert sum(client.xlen(keys.bot_tasks(partition)) for partition in ALL) == 3
