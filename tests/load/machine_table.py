"""From a run: the machine for a day of lichess, and for a million live games, part by part, and what of it hasn't been run."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from typing import Final, NamedTuple

BUSY: Final = 0.6  # of a core that a process is planned for: docs/how-to/capacity.md
FULL: Final = 0.7  # of an engine's memory: a rewrite of its log forks
GAME_COMMANDS_S: Final = 4 / 60  # a game's, of people and bots together
DAY_S: Final = 86_400
SINGLE: Final = ("gateway", "referee", "engine", "bots")  # each process has one thread that works


class Measured(NamedTuple):
    """What a run came to. CPU in microseconds a command, memory beyond that of an empty server, by part."""

    games: int
    commands_per_s: float
    cpu_us: Mapping[str, float]
    bytes_per_game: Mapping[str, float]
    log_bytes: float  # a command
    sockets: int
    processes: Mapping[str, int]  # that ran
    people: int  # in a game


class Target(NamedTuple):
    """So many commands a second, in so many live games."""

    name: str
    commands_per_s: float
    games: int


TARGETS: Final = (
    Target("a day of lichess", 17_500, round(17_500 / GAME_COMMANDS_S)),
    Target("1,000,000 live games", 1_000_000 * GAME_COMMANDS_S, 1_000_000),
)


class Row(NamedTuple):
    """What a part needs, in words."""

    part: str
    needs: str
    not_run: str


def rows_of(target: Target, measured: Measured) -> list[Row]:
    """A row for each part that the run measured, and for what they share. An auditor's work goes by finished games, and is
    left out."""
    rows = [_part(part, target, measured) for part in SINGLE if part in measured.cpu_us]
    cores = sum(target.commands_per_s * measured.cpu_us.get(part, 0) / 1e6 / BUSY for part in SINGLE)
    gib = sum(_bytes(part, target, measured) for part in SINGLE) / 2**30
    rows.append(Row("all", f"{math.ceil(cores)} cores, {gib:,.0f} GiB", _share(target, measured)))
    sockets = target.games * measured.people
    rows.append(
        Row("sockets", f"{sockets:,}, if all are at the table", f"{sockets:,}; here {measured.sockets:,}")
    )
    tb = target.commands_per_s * measured.log_bytes * DAY_S / 1e12
    rate = target.commands_per_s * measured.log_bytes / 1e6
    rows.append(
        Row("the engines' log", f"{rate:,.1f} MB/s, {tb:,.1f} TB a day before rewrites", "a day at that rate")
    )
    return rows


def _part(part: str, target: Target, measured: Measured) -> Row:
    us = measured.cpu_us[part]
    busy = target.commands_per_s * us / 1e6
    count = max(1, math.ceil(busy / BUSY))
    gib = _bytes(part, target, measured) / 2**30
    ran = measured.processes.get(part, 1)
    more = f"{count} at once; here {ran}" if count > ran else "-"
    return Row(part, f"{busy:,.1f} cores of work: {count} of them, {gib:,.1f} GiB in all", more)


def _bytes(part: str, target: Target, measured: Measured) -> float:
    return target.games * max(0.0, measured.bytes_per_game.get(part, 0.0)) / (FULL if part == "engine" else 1)


def _share(target: Target, measured: Measured) -> str:
    faster, more = target.commands_per_s / measured.commands_per_s, target.games / measured.games
    return f"{faster:,.1f} times the rate, {more:,.1f} times the games of this run"


def markdown(heading: Sequence[str], rows: Sequence[Sequence[str]]) -> str:
    """A table, as a page of the docs has it."""
    lines = [heading, ["---"] * len(heading), *rows]
    return "\n".join(f"| {' | '.join(line)} |" for line in lines)
