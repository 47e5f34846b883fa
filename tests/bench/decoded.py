"""Fold of events that are decoded already: what a fact's meaning costs, without the wire."""

from __future__ import annotations

from statistics import median

from schemas.codec import unpack_for_fold
from services.referee.rules import GameState, fold_events
from tests.bench.figure import Figure, Size, Tell, seconds
from tests.bench.games import bots, fresh_ledger, play


def measure(size: Size, tell: Tell) -> Figure:
    tell("playing the games")
    with fresh_ledger(partitions=16) as ledger:
        table = bots("greedy", "greedy", "random", "random")
        games = play(ledger, [table] * size.of(6, 1))
        facts = [[unpack_for_fold(entry) for entry in ledger.read_entries(game)] for game in games]
    logs = [[(at, events) for at, _, _, _, events in log] for log in facts]
    events = sum(len(told) for log in logs for _, told in log)
    entries = sum(map(len, logs))

    def refold() -> None:
        for log in logs:
            table = GameState()
            for at, told in log:
                fold_events(table, at, told)
            assert table.result

    refold()  # the first reads the board
    rounds = [seconds(refold) for _ in range(size.of(15, 2))]
    cost = median(rounds) * 1e6
    return Figure(
        "fold of decoded events alone, per event",
        f"{cost / events:.2f} us ({cost / entries:.2f} us a step)",
        "report (best public engine: 2 us a step)",
        None,
        {
            "us_per_event": cost / events,
            "us_per_step": cost / entries,
            "rounds_s": rounds,
            "events": events,
            "steps": entries,
        },
    )
