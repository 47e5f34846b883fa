"""What `/operator` and `ledgerline top` read of a system with very many games, each of which somebody disputes."""

from __future__ import annotations

import json
from contextlib import closing
from statistics import median
from time import perf_counter, process_time
from typing import Final

from schemas.web.disputes import DISPUTE_SCHEMA, derive_dispute_id
from services.bootstrap.operator_reads import OperatorReads
from services.ledger.engine import keys
from services.ledger.engine.connection import connect
from services.ledger.stores.disputes import RaiseOutcome
from services.runtime.settings import read_settings
from tests.bench.figure import Figure, Report, Size
from tests.bench.games import fresh_engine
from tests.bench.growth import NO_REWRITE
from tests.bench.live_games import COPIED_AT_ONCE, Live, scripts

GAMES: Final = 100_000
GOAL_S: Final = 2.0


def measure(size: Size, report: Report) -> Figure:
    games = size.of(GAMES, 60)
    with fresh_engine(**NO_REWRITE) as url:
        live = Live(url, games, scripts(size.of(24, 1)), report)
        list_games(url, live)
        report("games are disputed")
        disputes = raise_disputes(live)
        reads = OperatorReads(read_settings(redis_url=url))
        took, cpu, written = list[float](), list[float](), 0
        with closing(reads):
            for _ in range(size.of(7, 2)):
                began, began_cpu = perf_counter(), process_time()
                found = reads.overview()
                took.append(perf_counter() - began)
                cpu.append(process_time() - began_cpu)
                written = len(json.dumps(found))
                errors = [name for name, part in found.items() if isinstance(part, dict) and "error" in part]
    return Figure(
        f"the operator's page with {games:,} live games and {disputes:,} disputes, s",
        f"{median(took):.2f} ({median(cpu):.2f} of CPU), {written / 1024:,.0f} KiB of JSON; not read: {errors or 'none'}",
        f"under {GOAL_S:g}",
        median(took) < GOAL_S and not errors,
        {"wall_s": took, "cpu_s": cpu, "bytes": written, "disputes": disputes},
    )


def list_games(url: str, live: Live) -> None:
    """Have the copied games among those that lists find."""
    with connect(url) as client:
        for first in range(0, len(live.names), COPIED_AT_ONCE):
            pipe = client.pipeline(transaction=False)
            for number, name in enumerate(live.names[first : first + COPIED_AT_ONCE], first):
                pipe.zadd(keys.games(live.ledger.partition_of(name)), {name: number})
            pipe.execute()


def raise_disputes(live: Live) -> int:
    """Dispute an entry of each game, as far as so many may wait; how many do."""
    store, raised = live.ledger.disputes(), 0
    for name in live.names:
        move = DISPUTE_SCHEMA.read({"number": 3, "reason": "x" * 200})
        raised += store.create(derive_dispute_id(name, 0, "d"), move) is RaiseOutcome.RAISED
    return raised
