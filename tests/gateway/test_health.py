"""P7, P8: /health/ready knows what answers need, and each change of it is one line of the log."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Awaitable, Callable, Iterator
from contextlib import asynccontextmanager, contextmanager
from typing import Any, Final

import pytest
import redis
from redis.exceptions import OutOfMemoryError

from schemas.commands import CommandEnvelope, StartGame
from services.gateway.following.hub import QUIET_S, AnswerWatch
from services.gateway.health import POLL_INTERVAL_S, HealthWatch
from services.gateway.models.response_models import Readiness
from services.ledger import RedisLedger
from services.ledger.async_ledger import AsyncLedger
from services.ledger.engine import keys
from services.ledger.engine.connection import connect, connect_async, init_partition_count
from services.ledger.operations.backlog_queries import AUDITOR, BOTS, SILENT_S, TASK_STALL_S, ServiceKind
from services.ledger.queues.membership import Membership
from services.runtime.logging_setup import get_logger
from services.runtime.worker_loop import BEAT_INTERVAL_S, REFUSAL_QUIET_S, Outage
from tests.captured_logs import captured_logs
from tests.conftest import ALL, PARTITIONS
from tests.deploy.compose import free_port

STALL_S: Final = 10.0
GAME: Final = "game-one"
HOME: Final = keys.partition_of(GAME, PARTITIONS)


class Watched:
    """An engine with a watch on it, and the watch's clock."""

    def __init__(self, url: str, client: Any) -> None:
        self.now_s, self.client = 1_000.0, client
        self.referees = RedisLedger(client, PARTITIONS)
        self.ledger = AsyncLedger(connect_async(url), PARTITIONS)
        self.answers = AnswerWatch(lambda: self.now_s)
        self.watch = HealthWatch(self.ledger, self.answers, STALL_S, lambda: self.now_s)

    async def after(self, seconds: float) -> Readiness:
        """What is answered so much later, when the watch has looked again."""
        self.now_s += seconds
        await self.watch.poll()
        return self.watch.readiness(is_listening=True)

    async def beat(self, name: str = "referee-1") -> None:
        await asyncio.sleep(0.002)  # heartbeats have milliseconds
        Membership(self.client).heartbeat(name, None, 1)

    async def beat_as(self, kind: ServiceKind) -> None:
        await asyncio.sleep(0.002)
        Membership(self.client).beat(kind, f"{kind.command}-1")

    async def submit(self, id_: str = "c1") -> None:
        await self.ledger.submission.submit(CommandEnvelope(id_, GAME, None, StartGame()))


@asynccontextmanager
async def watched(url: str) -> AsyncIterator[Watched]:
    client = connect(url)
    client.flushdb()
    init_partition_count(client, PARTITIONS)
    made = Watched(url, client)
    made.referees.load_scripts()
    try:
        yield made
    finally:
        client.flushdb()
        await made.ledger.close()
        client.close()


def run(url: str, scenario: Callable[[Watched], Awaitable[None]]) -> list[str]:
    """Run this on an empty engine; the lines that were logged."""

    async def run_scenario() -> None:
        async with watched(url) as made:
            await scenario(made)

    with captured_logs() as lines:
        asyncio.run(run_scenario())
    return [
        f"{line['event']} {line.get('partition', '')}".strip()
        for line in lines
        if line["log_level"] != "debug"
    ]


@contextmanager
def set_on_engine(client: Any, **settings: object) -> Iterator[None]:
    before = {name: client.config_get(name.replace("_", "-"))[name.replace("_", "-")] for name in settings}
    for name, value in settings.items():
        client.config_set(name.replace("_", "-"), value)
    try:
        yield
    finally:
        for name, value in before.items():
            client.config_set(name.replace("_", "-"), value)


def test_P7_ready_knows_the_referees_last_signs(engine_url: str) -> None:
    async def scenario(made: Watched) -> None:
        await made.beat("referee-1")
        await made.beat("referee-2")
        first = await made.after(0)
        assert (first.status, first.problems) == ("ok", [])
        await made.beat("referee-2")
        later = await made.after(2)
        assert {each.name: each.last_sign_s for each in later.referees} == {"referee-1": 2, "referee-2": 0}

    assert run(engine_url, scenario) == []


def test_P7_without_any_referee_it_is_not_ready_and_one_line_says_so(engine_url: str) -> None:
    async def scenario(made: Watched) -> None:
        await made.beat()
        await made.after(0)
        for _ in range(3):
            assert (await made.after(1)).status == "ok"
        for silence_s in (SILENT_S, SILENT_S + 2):
            silent = await made.after(silence_s - (made.now_s - 1_000))
            assert silent.status == "unready"
            assert silent.problems == [
                f"no referee gave a sign for {silence_s:.1f} s: commands wait; start `ledgerline referee`"
            ]
        await made.beat()
        assert (await made.after(1)).status == "ok"

    assert run(engine_url, scenario) == ["no referee: commands wait", "referees are back"]


@pytest.mark.parametrize("kind", [BOTS, AUDITOR])
def test_P7_bots_and_auditors_that_end_without_a_word_are_missed_within_six_seconds(
    engine_url: str, kind: ServiceKind
) -> None:
    async def scenario(made: Watched) -> None:
        await made.beat_as(kind)
        await made.after(0)
        for _ in range(4):
            await made.beat()
            missed = await made.after(1)
        assert missed.status == "degraded"
        assert missed.problems == [kind.describe_absence(SILENT_S)]
        assert f"start `ledgerline {kind.command}`" in missed.problems[0]
        await made.beat_as(kind)
        assert (await made.after(1)).status == "ok"
        Membership(made.client).leave(f"{kind.command}-1", kind)
        for _ in range(5):
            await made.beat()
            assert (await made.after(1)).status == "ok", "one that was stopped isn't missed"

    assert BEAT_INTERVAL_S + POLL_INTERVAL_S + SILENT_S + POLL_INTERVAL_S / 2 <= 6
    assert run(engine_url, scenario) == [f"no {kind.label}: {kind.waiting}", f"{kind.label}s are back"]


@pytest.mark.parametrize("kind", [BOTS, AUDITOR])
def test_P7_bots_and_auditors_that_were_never_there_are_missed_where_their_tasks_wait(
    engine_url: str, kind: ServiceKind
) -> None:
    def add_tasks(client: Any) -> None:
        for partition in range(2):
            client.xadd(keys.bot_tasks(partition), {"t": "?"})
            client.zadd(keys.unanswered_disputes(partition), {"d1": 1})
        client.delete(*map(keys.unanswered_disputes if kind is BOTS else keys.bot_tasks, range(2)))

    async def scenario(made: Watched) -> None:
        for _ in range(6):
            await made.beat()
            assert (await made.after(1)).status == "ok"
        add_tasks(made.client)
        await made.beat()
        missed = await made.after(1)
        assert (missed.status, missed.problems) == ("degraded", [kind.describe_absence(7, 2)])
        made.client.delete(*map(keys.bot_tasks, range(2)), *map(keys.unanswered_disputes, range(2)))
        await made.beat()
        assert (await made.after(1)).status == "ok"

    lines = [f"no {kind.label}: {kind.waiting}", f"nothing waits for a {kind.label} any more"]
    assert run(engine_url, scenario) == lines


def test_P8_tasks_that_bots_take_and_never_do_are_told_of(engine_url: str) -> None:
    async def scenario(made: Watched) -> None:
        made.client.xadd(keys.bot_tasks(HOME), {"t": "?"})
        for _ in range(TASK_STALL_S + 1):
            await made.beat()
            await made.beat_as(BOTS)
            last = await made.after(1)
        assert last.status == "degraded"
        assert last.problems == [f"no move of a bot for 20 s or longer in partitions: {HOME}"]
        assert last.waiting.bot_tasks == 1

    assert run(engine_url, scenario) == [f"partition stalled: its bots don't answer {HOME}"]


def test_P7_a_gateway_that_stood_still_misses_no_referee_afterwards(engine_url: str) -> None:
    async def scenario(made: Watched) -> None:
        await made.beat()
        await made.after(0)
        made.now_s += 60  # nobody looks
        assert made.watch.readiness(is_listening=True).problems == []
        await made.beat()
        assert (await made.after(0)).problems == []

    assert run(engine_url, scenario) == []


def test_P7_where_the_engine_stood_still_nobody_is_missed_before_they_can_give_a_sign(
    engine_url: str,
) -> None:
    async def scenario(made: Watched) -> None:
        await made.beat()
        await made.after(0)
        with set_on_engine(made.client, maxmemory=1):  # no heartbeat is taken
            for _ in range(30):
                assert (await made.after(2)).problems == ["the engine: refusing writes"]
        assert (await made.after(1)).problems == []
        await made.beat()
        assert (await made.after(1)).problems == []

    lines = run(engine_url, scenario)
    assert not [line for line in lines if "referee" in line]


@pytest.mark.parametrize("is_delivered", [False, True])
def test_P8_a_partition_whose_commands_get_no_verdict_has_one_line_with_its_number(
    engine_url: str, is_delivered: bool
) -> None:
    async def scenario(made: Watched) -> None:
        made.referees.commands.take("referee-1", ALL, 1, 0)  # makes the group
        await made.submit()
        if is_delivered:
            made.referees.commands.take("referee-1", ALL, 1, 0)
        for _ in range(8):
            await made.beat()
            last = await made.after(2)
        assert last.waiting.model_dump() == {
            "commands": 1,
            "oldest_s": 14,
            "stalled_partitions": [HOME],
            "bot_tasks": 0,
        }
        made.client.delete(keys.commands(HOME))
        await made.beat()
        last = await made.after(2)
        assert last.waiting.model_dump() == {
            "commands": 0,
            "oldest_s": None,
            "stalled_partitions": [],
            "bot_tasks": 0,
        }

    stalled = f"partition stalled: its commands get no verdict {HOME}"
    assert run(engine_url, scenario) == [stalled, f"partition goes on {HOME}"]


def test_P8_a_partition_that_always_has_commands_and_decides_them_isnt_stalled(engine_url: str) -> None:
    async def scenario(made: Watched) -> None:
        for number in range(10):
            await made.submit(f"c{number}")
            [delivery] = made.referees.commands.take("referee-1", ALL, 1, 0)
            await made.submit(f"d{number}")
            await made.beat()
            assert (await made.after(5)).status == "ok"
            made.client.xack(keys.commands(HOME), keys.REFEREE_GROUP, delivery.id)
            made.client.xdel(keys.commands(HOME), delivery.id)
            for each in made.referees.commands.take("referee-1", ALL, 10, 0):
                made.client.xack(keys.commands(HOME), keys.REFEREE_GROUP, each.id)
                made.client.xdel(keys.commands(HOME), each.id)

    assert run(engine_url, scenario) == []


@pytest.mark.parametrize(("elsewhere", "status"), [(True, "degraded"), (False, "unready")])
def test_P8_one_stalled_partition_makes_nobody_unready_while_others_decide(
    engine_url: str, elsewhere: bool, status: str
) -> None:
    async def scenario(made: Watched) -> None:
        await made.submit()
        for _ in range(8):
            await made.beat()
            if elsewhere:
                made.answers.record_verdict()
            last = await made.after(2)
        assert last.status == status
        assert last.problems == [f"no verdict for 10 s or longer in partitions: {HOME}"]

    run(engine_url, scenario)


def test_P8_a_partition_with_a_key_of_another_type_is_named(engine_url: str) -> None:
    async def scenario(made: Watched) -> None:
        made.client.set(keys.commands(HOME), "not a stream")
        await made.beat()
        damaged = await made.after(0)
        assert (damaged.status, damaged.problems) == ("degraded", [f"partitions that can't be read: {HOME}"])
        made.client.delete(keys.commands(HOME))
        assert (await made.after(1)).status == "ok"

    run(engine_url, scenario)


def test_P8_a_membership_of_another_type_is_named_and_isnt_a_time_without_referees(engine_url: str) -> None:
    async def scenario(made: Watched) -> None:
        made.client.set(keys.MEMBERSHIP_KEY, "not a sorted set")
        for seconds in (0, SILENT_S, SILENT_S):
            hidden = await made.after(seconds)
            named = f"referees can't be seen: the key {keys.MEMBERSHIP_KEY} holds another type"
            assert (hidden.status, hidden.problems) == ("degraded", [named])
        made.client.delete(keys.MEMBERSHIP_KEY)
        await made.beat()
        assert (await made.after(1)).status == "ok"

    assert run(engine_url, scenario) == ["key holds another type: referees can't be seen"]


def test_P8_an_engine_without_memory_refuses_writes_and_isnt_away(engine_url: str) -> None:
    async def scenario(made: Watched) -> None:
        await made.beat()
        await made.after(0)
        with set_on_engine(made.client, maxmemory=1):
            for _ in range(2):
                full = await made.after(1)
                assert (full.status, full.engine.status) == ("unready", "refuses writes")
                assert full.problems == ["the engine: refusing writes"]
        assert (await made.after(1)).engine.status == "ok"

    lines = run(engine_url, scenario)
    assert lines == [
        "engine refuses writes: commands wait, or are answered unknown",
        "engine takes writes again",
    ]


def test_P8_an_engine_that_doesnt_answer_is_away() -> None:
    async def scenario() -> Readiness:
        ledger = AsyncLedger(connect_async(f"redis://127.0.0.1:{free_port()}/0"), PARTITIONS)
        watch = HealthWatch(ledger, AnswerWatch(), STALL_S)
        await watch.poll()
        await ledger.close()
        return watch.readiness(is_listening=True)

    away = asyncio.run(scenario())
    assert (away.status, away.engine.status) == ("unready", "away")
    assert away.problems == ["the engine: away"]  # and not where it is


def test_P8_the_beginning_and_the_end_of_unknown_answers_are_one_line_each() -> None:
    now_s = 0.0
    watch = AnswerWatch(lambda: now_s)
    watch.explain = lambda: ["no referee"]
    with captured_logs() as lines:
        watch.record_unknown(0.001)  # this client waited too short a time to learn anything
        assert lines == []
        for _ in range(3):
            now_s += 1
            watch.record_unknown(5.0)
            watch.end_if_over(is_ready=False)
        now_s += QUIET_S
        watch.end_if_over(is_ready=False)  # nobody asks any more, and nothing is decided either
        watch.record_verdict()
        watch.end_if_over(is_ready=False)
        watch.end_if_over(is_ready=False)
    first, last = lines
    assert (first["event"], first["why"]) == (
        "answers are unknown: commands get no verdict in time",
        ["no referee"],
    )
    assert (last["event"], last["unknown"], last["lasted_s"]) == ("answers have verdicts again", 3, 2)
    assert {line["log_level"] for line in lines} == {"warning"}


def test_P8_a_worker_tells_a_refusal_from_an_outage() -> None:

    now_s = 0.0
    outage = Outage(get_logger("referee"), clock=lambda: now_s)
    with captured_logs() as lines:
        for error in (
            redis.ConnectionError("refused"),
            OutOfMemoryError("command not allowed"),
            redis.ResponseError("MISCONF Errors writing to the AOF file: No space left on device"),
        ):
            outage.record_failure("engine", error)
        now_s = REFUSAL_QUIET_S - 1
        outage.record_success()  # of a read
        outage.record_failure("engine", OutOfMemoryError("command not allowed"))
        now_s += REFUSAL_QUIET_S
        outage.record_success()
    assert [line["event"] for line in lines] == [
        "engine away, trying until it is back",
        "engine refuses writes, trying until it takes them",
        "engine takes writes again",
    ]
