"""Plays a scenario: games, faults, and the row of the table."""

from __future__ import annotations

import statistics
import time
from collections.abc import Callable, Sequence
from contextlib import AbstractContextManager
from pathlib import Path
from random import Random
from typing import Final, NamedTuple

from tests.chaos.findings import Findings, examine
from tests.chaos.followers import Followers
from tests.chaos.recording import Record, RecordingTransport
from tests.chaos.scenarios import Scenario
from tests.chaos.systems import PARTITIONS, EngineFaults, on_a_cluster, one_engine
from tests.process_faults.players import PlayerPool

RECENT_S: Final = 5.0  # a game without a verdict for so long before a fault isn't being played


class Moment(NamedTuple):
    """When a fault began, and when it was over."""

    began_s: float
    ended_s: float


class Row(NamedTuple):
    """What a scenario came to."""

    scenario: str
    engine: str
    faults: int
    games: int
    commands: int
    requests: int
    acknowledged: dict[str, int]  # commands by level
    unknown: int  # answers
    lost: dict[str, int]  # commands that must not be lost, by level
    lost_uncovered: int  # acknowledged at levels that don't cover the fault
    doubled: int
    recovery_s: list[float]  # of every game that was being played, after every fault
    reconnects: int  # of those who followed games on WebSockets
    complaints: list[str]

    @property
    def is_good(self) -> bool:
        """Whether every promise held."""
        return not (any(self.lost.values()) or self.doubled or self.complaints)

    @property
    def recovery_p50_s(self) -> float:
        return statistics.median(self.recovery_s) if self.recovery_s else 0.0

    @property
    def recovery_max_s(self) -> float:
        return max(self.recovery_s, default=0.0)


def open_system(
    scenario: Scenario, folder: Path, binary: Path | None = None
) -> AbstractContextManager[EngineFaults]:
    """What the scenario harms; `binary` is another engine than the embedded one."""
    if scenario.on_cluster:
        return on_a_cluster(folder)
    return one_engine(
        folder,
        binary,
        lossy=scenario.lossy,
        recorded=scenario.recorded,
        proxied=scenario.proxied,
        own_disk=scenario.own_disk,
    )


def play(
    scenario: Scenario,
    opened: AbstractContextManager[EngineFaults],
    seed: str,
    games: int,
    faults: int,
    on_fault: Callable[[], object] = lambda: None,
) -> Row:
    """Play games while a fault happens again and again; `on_fault` is called after each."""
    record, moments, random = Record(), list[Moment](), Random(f"{seed} {scenario.name}")
    with opened as system:
        pool = PlayerPool(system.url, games, seed, scenario.levels)
        pool.transport = lambda: RecordingTransport(record, seed)
        followers = Followers(system.url, record)
        with followers.following(), pool.playing():
            pool.await_acknowledgements(2 * games)
            for _ in range(faults):
                pool.await_acknowledgements(random.randint(1, 2 * games))
                moments.append(_harm(scenario, system, pool, random))
                pool.await_acknowledgements(2 * games)
                on_fault()
        findings = examine(record, system.url, system.client, PARTITIONS, followers.entries)
        engine = _product(system)
    return _row(scenario, engine, record, findings, moments, followers.reconnects)


def _harm(scenario: Scenario, system: EngineFaults, pool: PlayerPool, random: Random) -> Moment:
    """Do the fault. Players are told that shown entries may be gone, as they would find out by the heads."""
    began_s = time.monotonic()
    with pool.clock.stopped():
        scenario.fault(system, random)
    if scenario.may_lose:
        pool.losses += 1
    return Moment(began_s, time.monotonic())


def _product(system: EngineFaults) -> str:
    node = (
        system.client.get_primaries()[0].redis_connection
        if hasattr(system.client, "get_primaries")
        else system.client
    )
    info = node.info("server")
    product = (
        f"Valkey {info['valkey_version']}" if "valkey_version" in info else f"Redis {info['redis_version']}"
    )
    return f"{product} cluster" if node is not system.client else product


def _row(
    scenario: Scenario,
    engine: str,
    record: Record,
    findings: Findings,
    moments: Sequence[Moment],
    reconnects: int,
) -> Row:
    starts_s = [moment.began_s if scenario.from_begin else moment.ended_s for moment in moments]
    times = record.verdict_times()
    doubled = sum(len(command.numbers) > 1 for command in record.commands.values())
    return Row(
        scenario=scenario.name,
        engine=engine,
        faults=len(moments),
        games=len(record.games),
        commands=len(record.commands),
        requests=sum(command.times for command in record.commands.values()),
        acknowledged=dict(record.count()),
        unknown=record.unknown + record.without_answer,
        lost={level: findings.lost[level] for level in scenario.covered},
        lost_uncovered=sum(count for level, count in findings.lost.items() if level not in scenario.covered),
        doubled=findings.doubled + (0 if scenario.may_lose else doubled),
        recovery_s=[
            recovery
            for moment, start_s in zip(moments, starts_s, strict=True)
            for each in times.values()
            if (recovery := recovery_s(each, moment.began_s, start_s)) is not None
        ],
        reconnects=reconnects,
        complaints=findings.complaints,
    )


def recovery_s(verdict_times_s: Sequence[float], began_s: float, start_s: float) -> float | None:
    """How long after a start a game had its next verdict; None for a game that wasn't being played."""
    was_played = any(began_s - RECENT_S <= each <= began_s for each in verdict_times_s)
    after = next((each - start_s for each in verdict_times_s if each > start_s), None)
    return after if was_played else None
