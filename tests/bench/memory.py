"""Redis memory of a finished four-seat USA game: its streams, and its verdict hashes besides.

Measured on the engine as `make play` sets it up, and on one with the engine's own node size,
which a Redis of the operator's own has."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from statistics import mean
from typing import Any

from schemas.commands import Policy
from services.ledger import RedisLedger, keys
from tests.bench.figure import Figure, Part, Report, Size
from tests.bench.games import bots, fresh_ledger, play

GOAL = 64 * 1024
SEATINGS: dict[str, tuple[Policy, ...]] = {
    "random": ("random",) * 4,
    "greedy": ("greedy",) * 4,
    "mixed": ("greedy", "greedy", "random", "random"),
}
PLAIN = {"stream-node-max-bytes": 4096}


def measure(size: Size, report: Report) -> Figure:
    parts: dict[str, Part] = {}
    options = {"cars": 8} if size.quick else None
    for engine, settings in (("ours", {}), ("plain", PLAIN)):
        with fresh_ledger(16, **settings) as ledger:
            for table, policies in SEATINGS.items():
                report(f"{table} games on the engine's {engine} settings")
                games = play(ledger, [bots(*policies)] * size.of(16, 1), table, options)
                parts |= {f"{engine}_{table}_{k}": v for k, v in weigh(ledger, games).items()}
    worst = max(_number(parts[f"ours_{table}_streams_mean"]) for table in SEATINGS)
    return Figure(
        "Redis memory of a finished four-seat game, all streams, KiB",
        f"{_summary(parts, 'ours')} (default node size: {_summary(parts, 'plain')})",
        f"under {GOAL // 1024}",
        worst < GOAL,
        parts,
    )


def _summary(parts: Mapping[str, Part], engine: str) -> str:
    def kib(table: str, which: str) -> str:
        return f"{_number(parts[f'{engine}_{table}_{which}']) / 1024:.1f}"

    return ", ".join(f"{t} {kib(t, 'streams_mean')}, at most {kib(t, 'streams_max')}" for t in SEATINGS)


def weigh(ledger: RedisLedger, games: Sequence[str]) -> dict[str, Part]:
    """Mean bytes of these games by key, of all their streams, and of their verdict hashes."""
    by_key: dict[str, list[int]] = {}
    streams = []
    for game in games:
        of_game = {name: _bytes(ledger, key) for name, key in _keys(ledger, game).items()}
        for name, size in of_game.items():
            by_key.setdefault(name, []).append(size)
        streams.append(sum(size for name, size in of_game.items() if "verdicts" not in name))
    hashes = sum(mean(sizes) for name, sizes in by_key.items() if "verdicts" in name)
    return {
        "streams_mean": mean(streams),
        "streams_max": max(streams),
        "verdicts_mean": hashes,
        "entries_mean": mean(len(ledger.read_entries(game)) for game in games),
        "by_key": {name: mean(sizes) for name, sizes in by_key.items()},
    }


def _keys(ledger: RedisLedger, game: str) -> dict[str, str]:
    partition = keys.partition_of(game, ledger.partitions)
    return {
        "log": keys.log(partition, game),
        "public": keys.public_view(partition, game),
        **{f"seat {seat}": keys.private_view(partition, game, seat) for seat in range(4)},
        **{f"verdicts {s}": keys.command_results(partition, game, s) for s in (None, 0, 1, 2, 3)},
    }


def _bytes(ledger: RedisLedger, key: str) -> int:
    client: Any = ledger._client  # the port has no memory query, and needs none
    size: int | None = client.memory_usage(key, samples=0)
    assert size, f"there is no key {key}"
    return size


def _number(part: Part) -> float:
    assert isinstance(part, int | float)
    return part
