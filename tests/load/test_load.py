"""`make load` notices what is lost or doubled, plays in both of its ways, and derives a machine from what it measured."""

from __future__ import annotations

import asyncio
import multiprocessing
import socket
from collections import Counter
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from pathlib import Path
from threading import Thread
from typing import Any

import pytest
from typer.testing import CliRunner

from services.bootstrap.embedded import run_embedded_server
from tests.bench.endtoend import cpu_s
from tests.chaos.systems import System
from tests.load import people
from tests.load.__main__ import app
from tests.load.calls import Address, Calls
from tests.load.latencies import Wait, percentile_s, step_of
from tests.load.log_check import Checked, check_answers
from tests.load.machine_table import Measured, Target, rows_of
from tests.load.people import Crowd, Person, Plan, Table, run_people
from tests.load.run import CALM, phase_of
from tests.load.systems import server, targets_of, urls_of
from tests.load.watch import Look, Watch, part_of
from tests.many_clients import settings_for_many_clients

PLAN = Plan([], 3, 2, 1, "random", 0.05, 1.0, False, "", "test", 0, 100)


@pytest.mark.parametrize(
    ("answered", "log", "expected"),
    [
        ([4, 7], [(4, "p-0"), (5, "other-1"), (7, "p-1")], Checked(2, 0, 0)),
        ([4, 7], [(4, "p-0"), (7, None)], Checked(2, 1, 0)),
        ([4, 7], [(4, "p-0"), (8, "p-1")], Checked(2, 1, 0)),
        ([4], [(4, "p-0"), (9, "p-0")], Checked(1, 0, 1)),
        ([4], [(4, "p-0"), (5, "p-1")], Checked(1, 0, 0, True)),  # the last got no answer
        ([4], [(4, "p-0"), (5, "p-1"), (6, "p-1")], Checked(1, 0, 1, True)),
    ],
)
def test_a_lost_or_doubled_command_is_counted(
    answered: list[int], log: list[tuple[int, str | None]], expected: Checked
) -> None:
    assert check_answers("p", answered, log) == expected


def test_percentiles_are_right_to_five_in_a_hundred() -> None:
    steps = Counter(step_of(ms / 1000) for ms in range(1, 1001))
    assert percentile_s(steps, 0.5) == pytest.approx(0.5, rel=0.05)
    assert percentile_s(steps, 0.99) == pytest.approx(0.99, rel=0.05)
    assert percentile_s(Counter(), 0.5) == 0


@pytest.mark.parametrize(
    ("wait_s", "phase"),
    [
        ((12.0, 12.1), CALM),
        ((19.9, 21.0), "gateway is killed"),  # it was under way
        ((21.0, 75.0), "gateway is killed"),  # though the referee is killed meanwhile
        ((45.0, 46.0), "referee is killed"),
        ((61.0, 62.0), CALM),
        ((5.0, 5.1), ""),
    ],
)
def test_a_wait_is_counted_for_the_kill_that_it_is_due_to(wait_s: Wait, phase: str) -> None:
    begun = [(0.0, ""), (10.0, CALM), (20.0, "gateway is killed"), (40.0, "referee is killed"), (60.0, CALM)]
    assert phase_of(wait_s, begun) == phase


def test_a_machine_follows_from_what_a_command_and_a_game_took() -> None:
    measured = Measured(
        games=1_000,
        commands_per_s=500,
        cpu_us={"gateway": 120, "engine": 60},
        bytes_per_game={"gateway": 2**20, "engine": 0.7 * 2**20},
        log_bytes=1_000,
        sockets=400,
        processes={"gateway": 1, "engine": 1},
        people=2,
    )
    rows = {row.part: row for row in rows_of(Target("t", 10_000, 4_096), measured)}
    assert rows["gateway"].needs == "1.2 cores of work: 2 of them, 4.0 GiB in all"
    assert rows["gateway"].not_run == "2 at once; here 1"
    assert (rows["engine"].needs, rows["engine"].not_run) == (
        "0.6 cores of work: 1 of them, 4.0 GiB in all",
        "-",
    )
    assert (rows["all"].needs, rows["all"].not_run) == (
        "3 cores, 8 GiB",
        "20.0 times the rate, 4.1 times the games of this run",
    )
    assert rows["sockets"].not_run == "8,192; here 400"
    assert rows["the engines' log"].needs == "10.0 MB/s, 0.9 TB a day before rewrites"


@pytest.mark.parametrize(
    ("seen", "spent"),
    [
        ([100.0, 130.0, 150.0], 50.0),
        ([100.0, None, 150.0], 50.0),  # too busy to say
        ([100.0, 130.0, 5.0], 35.0),  # started again
        ([100.0, None, 5.0, 25.0], 25.0),
    ],
)
def test_work_is_counted_once_though_a_service_was_too_busy_to_say_it(
    seen: list[float | None], spent: float
) -> None:
    watch = Watch(dict, None)
    for at_s, value in enumerate(seen):
        growing = {} if value is None else {("gateway-0", "cpu_s"): value}
        watch.looks.append(Look(float(at_s), growing, {}, 0.0, 0.0))
    assert watch.since(0).cpu_s == {"gateway": spent}


def test_a_log_that_is_written_anew_has_not_grown() -> None:
    watch = Watch(dict, None)
    for at_s, size in enumerate([900.0, 1000.0, 400.0, 450.0]):
        watch.looks.append(Look(float(at_s), {("engine-0", "log_bytes"): size}, {}, 0.0, 0.0))
    assert watch.since(0).log_bytes == 150


def test_a_log_that_an_engine_reads_at_its_start_has_not_grown() -> None:
    # given
    sizes = iter([(900, 0), (0, 1), (950, 0)])

    class Restarted:
        def info(self, section: str) -> dict[str, float]:
            size, loading = next(sizes)
            return {"aof_current_size": size, "loading": loading, "used_memory_rss": 0} | dict.fromkeys(
                ("used_cpu_user", "used_cpu_sys"), 0.0
            )

    watch = Watch(dict, Restarted())
    # when
    with ThreadPoolExecutor(1) as pool:
        watch.looks += [watch.look(pool) for _ in range(3)]
    # then
    assert watch.since(0).log_bytes == 50


def test_a_service_keeps_its_name_when_another_is_started_again(tmp_path: Path) -> None:
    with server(tmp_path, {"gateway": 2}, on_cluster=False, engine_memory="100mb") as system:
        before = targets_of(system)
        system.kill(system.of("gateway")[0])
        assert targets_of(system) == before
    assert [part_of(name) for name in before].count("gateway") == 2


def test_more_sockets_than_the_machine_has_are_refused_with_what_to_do() -> None:
    asked = "--games 1000000 --people 4 --processes 1"
    result = CliRunner().invoke(app, asked.split(), env={"COLUMNS": "300"})
    assert result.exit_code == 2
    assert "--processes" in result.output and "--attached" in result.output


def counted(plan: Plan, seconds: int) -> tuple[Counter[str], list[str]]:
    """What people counted who played for so long."""
    here, there = multiprocessing.Pipe()
    thread = Thread(target=run_people, args=(plan, there))
    thread.start()
    count, complaints = Counter[str](), list[str]()
    stage, left = "", seconds
    while stage != "done":
        message: Any = here.recv()
        stage = message[0]
        count += message[1]
        complaints += message[3]
        if stage == "ready":
            if left == seconds:
                here.send("go")
            if left == 0:
                here.send("end")
            left -= 1
        assert stage != "failed", complaints
    thread.join()
    return count, complaints


@pytest.mark.long
@pytest.mark.parametrize(
    "plan",
    [PLAN, PLAN._replace(asks_rules=True), PLAN._replace(attached=0.0), PLAN._replace(level="durable")],
    ids=["at the table", "as pages", "looking in", "durable"],
)
def test_people_play_and_every_answer_is_in_the_log_once(plan: Plan, tmp_path: Path) -> None:
    with run_embedded_server(tmp_path, settings_for_many_clients()) as running:
        count, complaints = counted(plan._replace(urls=[running.url]), 3)
    assert complaints == []
    assert count["answered"] > 20
    assert count["checked"] == count["answered"] == count["sent"]
    assert (count["lost"], count["doubled"], count["unanswered"]) == (0, 0, 0)


@pytest.mark.long
def test_who_isn_t_let_in_asks_again_sooner_than_the_system_would(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(people, "OPEN_S", 0.2)
    monkeypatch.setattr(people, "MOST_BACK_S", 0.1)

    async def opened_after_s() -> float:
        """How long after a full queue has room again a person is there, whose connection was asked for 7.3 s before."""
        loop, here = asyncio.get_running_loop(), socket.create_server(("127.0.0.1", 0), backlog=0)
        crowd = Crowd(PLAN, multiprocessing.Pipe()[0])
        url = f"http://127.0.0.1:{here.getsockname()[1]}"
        table = Table(crowd, Address.of(url), Calls(Address.of(url), 0))
        waiting = [socket.socket() for _ in range(8)]
        for each in waiting:
            each.setblocking(False)
            each.connect_ex(here.getsockname())
        person = Person(table, 0, "token", True)
        person.come(0)
        await asyncio.sleep(
            7.3
        )  # the system asks five times in as many seconds, then after 7 s, after 11, 19, 35
        assert sum(crowd.count.values()) == 0, "the queue has room"
        for each in waiting:
            each.close()
        began_s = loop.time()
        here.setblocking(False)
        while not crowd.count["opened"]:
            with suppress(BlockingIOError):
                here.accept()[0].close()
            await asyncio.sleep(0.01)
        table.close()
        here.close()
        return loop.time() - began_s

    assert asyncio.run(opened_after_s()) < 2.5


FOLLOWERS = 2_000


async def come_back(system: System) -> tuple[Counter[str], dict[str, float]]:
    """What followers counted from the moment at which their gateway was killed until all were back, and the CPU seconds of
    that gateway, to which they had come one after the other, and of the next."""
    crowd = Crowd(PLAN._replace(pause_s=1e9), multiprocessing.Pipe()[0])
    address = Address.of(urls_of(system)[0])
    people, spent_s = list[Person](), dict[str, float]()
    calls = Calls(address, 0)
    for number in range(20):
        table = Table(crowd, address.called_by(number), calls)
        await table.begin()
        for _ in range(FOLLOWERS // 40):
            people += [Person(table, each.seat, each.token, True) for each in table.people]

    async def all_are_there(which: str) -> None:
        while not all(person.end >= 0 for person in people):  # noqa: ASYNC110 - they are many
            await asyncio.sleep(0.05)
        spent_s.update(cpu_s({which: system.of("gateway")[0].process.pid}))

    for number, person in enumerate(people):
        person.come(number / 200)
    await all_are_there("calm")
    calls.close()
    crowd.count.clear()
    await asyncio.to_thread(system.kill, system.of("gateway")[0])
    await all_are_there("storm")
    for person in people:
        person.table.is_over = True
        person.stop_waiting()
        person.hang_up()
    assert crowd.complaints == []
    return crowd.count, spent_s


@pytest.mark.long
def test_P8_all_followers_of_a_killed_gateway_are_back_and_cost_no_more_than_in_calm(
    tmp_path: Path,
) -> None:
    with server(tmp_path, {"gateway": 1, "referee": 1, "bots": 1}, False, "1gb") as system:
        count, spent_s = asyncio.run(come_back(system))
    assert count["cut"] >= FOLLOWERS
    assert count["opened"] <= 2 * FOLLOWERS
    assert spent_s["storm"] < 1.5 * spent_s["calm"]
