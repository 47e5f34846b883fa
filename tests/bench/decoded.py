"""Fold of events that are decoded already: what applying an event costs, without the wire form."""

from __future__ import annotations

from statistics import median

from schemas.stored.codec import unpack_for_fold
from services.referee.games import GameState, fold_events
from tests.bench.figure import Figure, Report, Size, seconds
from tests.bench.games import bots, fresh_ledger, play


def measure(size: Size, report: Report) -> Figure:
    report("playing the games")
    with fresh_ledger(partitions=16) as ledger:
        seats = bots("greedy", "greedy", "random", "random")
        games = play(ledger, [seats] * size.of(6, 1))
        decoded_logs = [[unpack_for_fold(entry) for entry in ledger.read_entries(game)] for game in games]
    logs = [[(at, events) for at, _, _, _, events in log] for log in decoded_logs]
    events = sum(len(entry_events) for log in logs for _, entry_events in log)
    entries = sum(map(len, logs))

    def refold() -> None:
        for log in logs:
            state = GameState()
            for at, entry_events in log:
                fold_events(state, at, entry_events)
            assert state.result

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
