"""Fold: from a log's bytes to the state, beside `eventsourcing` rebuilding an aggregate.

Ours starts from the list of bytes that the engine's log stream gave; theirs from what its
recorder keeps in memory, through its JSON transcoder and mapper, with nothing cached. Both
get the events of the same games, one by one, with the same fields.
"""

from __future__ import annotations

from statistics import median

from schemas.stored.codec import unpack_for_fold
from services.referee.games import fold
from tests.bench.figure import Figure, Report, Size, in_turn, ratio, seconds
from tests.bench.games import bots, fresh_ledger, play
from tests.bench.peer_aggregate import Peer

GOAL = 0.2


def measure(size: Size, report: Report) -> Figure:
    report("playing the games")
    with fresh_ledger(partitions=16) as ledger:
        seats = bots("greedy", "greedy", "random", "random")
        games = play(ledger, [seats] * size.of(6, 1))
        logs = [ledger.read_entries(game) for game in games]
    assert all(fold(log).result for log in logs), "a log doesn't fold to the end of its game"
    report("saving the same events as aggregates")
    peer = Peer([[event for entry in log for event in unpack_for_fold(entry)[4]] for log in logs])
    events = peer.events

    def ours() -> float:
        return seconds(lambda: [fold(log) for log in logs]) / events * 1e6

    def theirs() -> float:
        return seconds(peer.rebuild) / events * 1e6

    our, their = in_turn(size.of(15, 2), ours, theirs, report)
    share = ratio(our, their)
    return Figure(
        "fold a log's bytes, per event, of eventsourcing's aggregate rebuild",
        f"{share:.3f} ({median(our):.2f} us of {median(their):.2f} us)",
        f"at most {GOAL}",
        share <= GOAL,
        {
            "ratio": share,
            "ours_us_per_event": our,
            "theirs_us_per_event": their,
            "games": len(logs),
            "events": events,
            "entries": sum(map(len, logs)),
            "bytes": sum(len(entry) for log in logs for entry in log),
        },
    )
