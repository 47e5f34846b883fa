"""Engine memory of a finished four-seat USA game: as one value, and before that as streams and verdict hashes.

Measured on the engine as `make play` sets it up, and on one with the engine's own node size,
which a Redis of the operator's own has."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from statistics import mean
from typing import Any

from schemas.commands import Policy
from services.archive import Signer, encode_game_file
from services.ledger import RedisLedger
from services.referee.worker import remove_streams
from tests.bench.figure import Figure, Part, Report, Size
from tests.bench.games import bots, fresh_ledger, play

GOAL = 10 * 1024
STREAMS_GOAL = 64 * 1024
SIGNER = Signer("7f" * 32)
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
    worst = max(_number(parts[f"ours_{table}_file_mean"]) for table in SEATINGS)
    worst_streams = max(_number(parts[f"ours_{table}_streams_mean"]) for table in SEATINGS)
    return Figure(
        "engine memory of a finished four-seat game, all of its keys, KiB; and of its streams before, without verdicts",
        f"{_summary(parts, 'ours', 'file')}; {_summary(parts, 'ours', 'streams')} "
        f"(default node size: {_summary(parts, 'plain', 'streams')})",
        f"under {GOAL // 1024}; under {STREAMS_GOAL // 1024}",
        worst < GOAL and worst_streams < STREAMS_GOAL,
        parts,
    )


def _summary(parts: Mapping[str, Part], engine: str, what: str) -> str:
    def kib(table: str, which: str) -> str:
        return f"{_number(parts[f'{engine}_{table}_{what}_{which}']) / 1024:.1f}"

    return ", ".join(f"{t} {kib(t, 'mean')}, at most {kib(t, 'max')}" for t in SEATINGS)


def weigh(ledger: RedisLedger, games: Sequence[str]) -> dict[str, Part]:
    """Mean bytes of these games by key, of all their streams, of their verdict hashes, and of what is left of them as
    one value."""
    by_key: dict[str, list[int]] = {}
    streams, held = [], []
    entries_mean = mean(len(ledger.read_entries(game)) for game in games)
    for game in games:
        of_game = _bytes_by_key(ledger, game)
        for name, size in of_game.items():
            by_key.setdefault(name, []).append(size)
        streams.append(sum(size for name, size in of_game.items() if "verdicts" not in name))
        _hold_as_one_value(ledger, game)
        held.append(sum(_bytes_by_key(ledger, game).values()))
    hashes = sum(mean(sizes) for name, sizes in by_key.items() if "verdicts" in name)
    return {
        "file_mean": mean(held),
        "file_max": max(held),
        "streams_mean": mean(streams),
        "streams_max": max(streams),
        "verdicts_mean": hashes,
        "entries_mean": entries_mean,
        "by_key": {name: mean(sizes) for name, sizes in by_key.items()},
    }


def _hold_as_one_value(ledger: RedisLedger, game: str) -> None:
    """What auditor and referee do with a finished game."""
    log = ledger.read_entries(game)
    heads = ledger.archive_index().read_heads(game, len(log))
    ledger.store_game_file(game, encode_game_file(game, log, heads, SIGNER), 0)
    assert remove_streams(ledger, game)


def _bytes_by_key(ledger: RedisLedger, game: str) -> dict[str, int]:
    client: Any = ledger._client  # the port has no memory query, and needs none
    found = [key.decode() for key in client.scan_iter(f"*:g:{game}:*", count=1000)]
    return {key.partition(f":{game}:")[2]: client.memory_usage(key, samples=0) for key in found}


def _number(part: Part) -> float:
    assert isinstance(part, int | float)
    return part
