"""A bot worker with unreadable tasks, failing policies and an engine that becomes unreachable."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from random import Random
from typing import Any

import fakeredis
import pytest
from redis.exceptions import ConnectionError

from schemas.commands import Command, CommandEnvelope, CreateGame, Leave, SeatPlan
from schemas.errors import CorruptDataError
from schemas.field_types import Seat
from schemas.stored.rows import pack, unpack
from services.bots import worker
from services.bots.policies import POLICIES, Policy
from services.bots.seat_projection import IDLE_S
from services.bots.seat_random import SeatRandom
from services.bots.worker import BotWorker
from services.ledger import RedisLedger
from services.ledger.engine import keys
from services.ledger.ports import LogRewoundError
from services.referee.games import GameState, legal
from services.referee.games.found_games import RULESET_VERSIONS
from services.referee.worker import Referee
from tests.bots.recorded_commands import RecordedCommands
from tests.captured_logs import captured_logs
from tests.referee.running_referee import (
    GAME,
    Player,
    left_in_streams,
    opening_commands,
    partition_of,
    referee_at,
    submit,
)
from tests.stored_views import a_millisecond_later, change_entry, with_part

TASKS = keys.bot_tasks(partition_of(GAME))
BAD_TASKS: Mapping[str, dict[str, bytes]] = {
    "no field": {"x": b"1"},
    "no bytes": {"t": b""},
    "no msgpack": {"t": b"\xc1"},
    "cut short": {"t": pack((GAME, 0, 1, "random"))[:-3]},
    "a number": {"t": pack(7)},
    "a policy too few": {"t": pack((GAME, 0, 1))},
    "a part too many": {"t": pack((GAME, 0, 1, "random", 1))},
    "no such seat": {"t": pack((GAME, 99, 1, "random"))},
    "a key that is a map": {"t": b"\x81\x80\x01"},
    "no text": {"t": b"\x94\xa1\xff\x00\x01\xa1x"},
    "too deep": {"t": b"\x91" * 2000},
}


@pytest.fixture
def opened(ledger: RedisLedger) -> Referee:
    """A game of two bots; both have a task to choose their starting tickets."""
    referee = referee_at(ledger)
    submit(ledger, opening_commands())
    referee.step(0)
    return referee


def errors(lines: Sequence[Mapping[str, Any]]) -> list[str]:
    return [line["event"] for line in lines if line["log_level"] == "error"]


def first_legal(ledger: RedisLedger, seat: Seat) -> Command:
    player = Player(ledger, GAME, seat)
    player.choose(Random())  # reads the view
    return legal(player.state, seat)[0]


@pytest.mark.parametrize("fields", BAD_TASKS.values(), ids=BAD_TASKS.keys())
def test_P8_a_task_that_cannot_be_read_is_finished_and_the_others_are_processed(
    ledger: RedisLedger, opened: Referee, client: Any, fields: dict[str, bytes]
) -> None:
    client.xadd(TASKS, fields)
    sink = RecordedCommands()
    with captured_logs() as lines:
        BotWorker(ledger, sink, "one").step(0)
    assert errors(lines) == ["bot task can't be read"]
    assert {envelope.seat for envelope in sink.sent} == {0, 1}
    assert left_in_streams(client) == {}


def test_P8_an_unreadable_task_that_another_worker_took_is_finished_too(
    ledger: RedisLedger, other_ledger: RedisLedger, opened: Referee, client: Any
) -> None:
    client.xadd(TASKS, {"t": b"\xc1"})
    ledger.reclaim_tasks("early", 60_000)  # makes the group
    client.xreadgroup(keys.BOT_GROUP, "crashed", {TASKS: ">"})
    sink = RecordedCommands()
    with captured_logs() as lines:
        BotWorker(other_ledger, sink, "two").reclaim(0)
    assert errors(lines) == ["bot task can't be read"]
    assert len(sink.sent) == 2
    assert left_in_streams(client) == {}


def use_policy(monkeypatch: pytest.MonkeyPatch, policy: Policy) -> None:
    monkeypatch.setattr(worker, "POLICIES", {**POLICIES, "random": policy})


def test_a_policy_that_fails_once_is_called_again(
    ledger: RedisLedger, opened: Referee, client: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    states: list[GameState] = []

    def fails_once(
        state: GameState, seat: Seat, commands: Sequence[Command], seat_random: SeatRandom
    ) -> Command:
        states.append(state)
        if len(states) == 1:
            raise ZeroDivisionError
        return commands[-1]

    use_policy(monkeypatch, fails_once)
    sink = RecordedCommands()
    with captured_logs() as lines:
        BotWorker(ledger, sink, "one").step(0)
    assert errors(lines) == ["bot can't choose"]
    assert len(sink.sent) == 2
    assert sink.sent[0].command != first_legal(ledger, 0)
    assert states[1] is not states[0]  # projected again
    assert left_in_streams(client) == {}


@pytest.mark.parametrize(
    "fault", [ValueError, KeyError, AssertionError, RecursionError, OverflowError, CorruptDataError]
)
def test_where_a_policy_always_fails_the_first_legal_command_is_played(
    ledger: RedisLedger,
    opened: Referee,
    client: Any,
    monkeypatch: pytest.MonkeyPatch,
    fault: type[Exception],
) -> None:
    def fails(state: GameState, seat: Seat, commands: Sequence[Command], seat_random: SeatRandom) -> Command:
        raise fault

    use_policy(monkeypatch, fails)
    sink = RecordedCommands()
    with captured_logs() as lines:
        BotWorker(ledger, sink, "one").step(0)
    assert errors(lines) == ["bot can't choose"] * 4  # two tries of each seat
    assert [envelope.command for envelope in sink.sent] == [first_legal(ledger, seat) for seat in (0, 1)]
    assert left_in_streams(client) == {}


def test_P7_a_bot_that_saw_what_a_fail_over_lost_projects_the_view_anew(
    ledger: RedisLedger, opened: Referee
) -> None:
    """The engine that took over had lost the game, and it was created again otherwise."""
    successor = RedisLedger(fakeredis.FakeRedis(), ledger.partitions)
    plans = (SeatPlan("bot", "random"),) * 2
    create = CommandEnvelope("create", GAME, None, CreateGame(plans, seed="another"))
    submit(successor, [create, opening_commands()[1]])
    referee_at(successor, "successor").step(0)
    sink = RecordedCommands()
    bots = BotWorker(ledger, sink, "one")
    bots.step(0)
    bots.ledger = successor
    with captured_logs() as lines:
        bots.step(0)
    assert {line["event"] for line in lines if line["log_level"] != "debug"} == {"bot view reset"}
    assert len(sink.sent) == 4
    assert sink.sent[2].command in legal(Player(successor, GAME, 0).refresh(), 0)


def forge_part(client: Any, change: Callable[[bytes], bytes]) -> None:
    """Change what seat 0 alone sees of the last entry."""
    change_entry(client, partition_of(GAME), GAME, 2, with_part(0, change))


def test_P7_a_bot_notices_that_its_last_entry_has_another_head_on_another_branch(
    ledger: RedisLedger, opened: Referee, client: Any
) -> None:
    sink = RecordedCommands()
    bots = BotWorker(ledger, sink, "one")
    bots.step(0)
    change_entry(client, partition_of(GAME), GAME, 1, a_millisecond_later)
    with pytest.raises(LogRewoundError, match="isn't the one that was read"):
        bots.projections.refreshed(ledger, GAME, 0)


def test_P6_a_bot_does_not_act_on_what_the_server_can_not_have_committed_to(
    ledger: RedisLedger, opened: Referee, client: Any
) -> None:
    def reverse_salts(part: bytes) -> bytes:
        *stated, salts = unpack(part)
        return pack((*stated, salts[::-1]))

    forge_part(client, reverse_salts)
    sink = RecordedCommands()
    with captured_logs() as lines:
        BotWorker(ledger, sink, "one").step(0)
    assert errors(lines) == [*["THE SERVER IS NOT TO BE BELIEVED"] * 3, "bot task dropped"]
    assert [envelope.seat for envelope in sink.sent] == [1], "the other seat's view is genuine"


def test_an_unknown_policy_plays_the_first_legal_command(
    ledger: RedisLedger, opened: Referee, client: Any
) -> None:
    for id_, _ in client.xrange(TASKS):
        client.xdel(TASKS, id_)
    client.xadd(TASKS, {"t": pack((GAME, 1, 2, "clairvoyant"))})
    sink = RecordedCommands()
    BotWorker(ledger, sink, "one").step(0)
    assert [(envelope.seat, envelope.command) for envelope in sink.sent] == [(1, first_legal(ledger, 1))]
    assert left_in_streams(client) == {}


def test_P8_a_task_of_a_damaged_view_is_dropped_and_no_other(
    ledger: RedisLedger, opened: Referee, client: Any
) -> None:
    forge_part(client, lambda _: b"\xc1")
    sink = RecordedCommands()
    with captured_logs() as lines:
        BotWorker(ledger, sink, "one").step(0)
    assert errors(lines)[-1] == "bot task dropped"
    assert [envelope.seat for envelope in sink.sent] == [1]
    assert left_in_streams(client) == {}


def test_P8_tasks_of_a_game_that_is_not_installed_wait_for_a_worker_that_has_it(
    ledger: RedisLedger, other_ledger: RedisLedger, client: Any
) -> None:
    # given bots of a game that the first worker doesn't have
    create = CreateGame((SeatPlan("bot", "random"),) * 3, "tricks", seed="tricks")
    submit(ledger, [CommandEnvelope("create", GAME, None, create), opening_commands()[1]])
    referee_at(ledger).step(0)
    version = RULESET_VERSIONS.pop(("tricks", 1))
    try:
        # when it takes their tasks, more than once
        sink = RecordedCommands()
        with captured_logs() as lines:
            lacking = BotWorker(ledger, sink, "one")
            lacking.step(0)
            lacking.reclaim(0)
    finally:
        RULESET_VERSIONS["tricks", 1] = version
    # then it says once what to install, and leaves them
    (line,) = [line for line in lines if line["log_level"] != "debug"]
    assert line["event"] == "bot tasks wait for a worker with their game"
    assert line["why"].startswith("version 1 of the rules tricks isn't installed here: install the package")
    assert not sink.sent
    assert left_in_streams(client) == {TASKS: 1}
    BotWorker(other_ledger, sink, "two").reclaim(0)
    assert [envelope.seat for envelope in sink.sent] == [0]


def test_P8_where_a_node_becomes_unreachable_only_what_was_not_sent_stays(
    ledger: RedisLedger, other_ledger: RedisLedger, opened: Referee, client: Any
) -> None:
    away = RecordedCommands(lambda envelope: ConnectionError("gone") if envelope.seat == 1 else None)
    with captured_logs() as lines:
        BotWorker(ledger, away, "one").step(0)
    assert [line["why"] for line in lines if line["event"] == "bot tasks wait"] == ["gone"]
    assert left_in_streams(client) == {TASKS: 1}
    recovered = RecordedCommands()
    BotWorker(other_ledger, recovered, "two").reclaim(0)
    assert [envelope.seat for envelope in recovered.sent] == [1]
    assert left_in_streams(client) == {}


def test_P9_what_is_held_of_games_that_are_over_or_gone_is_dropped(
    ledger: RedisLedger, opened: Referee, client: Any
) -> None:
    """Nobody sends a task for a game that is over: a worker has to look."""
    over, gone = GAME, "a-game-that-leaves"
    still_played = "a-game-that-waits"
    submit(ledger, [*opening_commands(gone), *opening_commands(still_played)])
    opened.step(0)
    now_s = 0.0
    bots = BotWorker(ledger, RecordedCommands(), "one", clock=lambda: now_s)
    bots.step(0)
    assert len(bots.projections) == 6
    submit(ledger, [CommandEnvelope(f"leave-{seat}", over, seat, Leave()) for seat in (0, 1)])
    opened.step(0)
    client.delete(keys.public_view(keys.partition_of(gone, ledger.partitions), gone))
    now_s = IDLE_S - 1
    assert bots.forget_finished() == 0, "each had a task a moment ago"
    now_s = IDLE_S
    assert bots.forget_finished() == 4
    assert {game for game, _ in bots.projections} == {still_played}
    now_s += IDLE_S - 1
    assert bots.forget_finished() == 0
