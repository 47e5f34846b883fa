"""Games of bots that are played on a cluster by the product's own services."""

from __future__ import annotations

import time
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from contextlib import closing, contextmanager
from functools import partial
from itertools import count, islice
from threading import Event, Thread
from typing import Final, TypeVar

from redis.exceptions import RedisError

from services.bootstrap.composition import run_bots, run_referee
from services.ledger import RedisLedger
from services.ledger.engine import keys
from services.ledger.engine.connection import EngineUnreachableError, connect, init_partition_count
from services.referee.games import GameState, fold_events
from services.runtime.settings import read_settings
from tests.cluster.nodes import PATIENCE_S
from tests.referee.running_referee import entries, opening_commands, submit, view_problems

PARTITIONS: Final = 8
SEATS: Final = 2
PAUSE_S: Final = 0.05
T = TypeVar("T")


@contextmanager
def services(url: str, referees: int = 2) -> Iterator[None]:
    """Referees and a bots' worker at work, each with a client of its own."""
    settings = read_settings(redis_url=url, partitions=PARTITIONS)
    stop = Event()
    threads = [Thread(target=run_referee, args=(settings, stop)) for _ in range(referees)]
    threads.append(Thread(target=run_bots, args=(settings, stop)))
    for thread in threads:
        thread.start()
    try:
        yield
    finally:
        stop.set()
        for thread in threads:
            thread.join()


@contextmanager
def ledger_at(url: str) -> Iterator[RedisLedger]:
    client = connect(url)
    partitions = patiently(lambda: init_partition_count(client, PARTITIONS))
    with closing(RedisLedger(client, partitions)) as ledger:
        yield ledger


class Games:
    """Games created on a cluster, seen from outside."""

    def __init__(self, ledger: RedisLedger, names: Sequence[str]) -> None:
        self.ledger, self.names = ledger, names

    def create(self) -> None:
        """Submit the commands that open each game; repeating them changes nothing."""
        for name in self.names:
            patiently(partial(submit, self.ledger, opening_commands(name, SEATS, cars=12)))

    def logs(self) -> list[list[bytes]]:
        return [patiently(partial(self.ledger.read_entries, name)) for name in self.names]

    def length(self) -> int:
        return sum(len(log) for log in self.logs())

    def await_length(self, least: int) -> None:
        self._await(lambda: self.length() >= least, f"{least} entries")

    def await_end(self) -> None:
        self._await(lambda: all(self.state(name).result for name in self.names), "every game's end")

    def state(self, name: str) -> GameState:
        state = GameState()
        for entry in patiently(partial(entries, self.ledger, name)):
            fold_events(state, entry.at, entry.events)
        return state

    def complaints(self) -> list[str]:
        """What is wrong with the logs and views of all games; a gap raises by itself."""
        found = [problem for name in self.names for problem in view_problems(self.ledger, name, SEATS)]
        for name in self.names:
            verdicts = Counter((entry.seat, entry.id) for entry in entries(self.ledger, name))
            found += [f"{name}: {times} verdicts on {id_}" for id_, times in verdicts.items() if times > 1]
        return found

    def _await(self, holds: Callable[[], bool], what: str) -> None:
        until = time.monotonic() + PATIENCE_S
        while not holds():
            assert time.monotonic() < until, f"timed out waiting for {what}"
            time.sleep(PAUSE_S)


def patiently(call: Callable[[], T]) -> T:
    """Repeat the call while a node is away, or too busy to answer. Raises what it raises after PATIENCE_S."""
    until = time.monotonic() + PATIENCE_S
    while True:
        try:
            return call()
        except (RedisError, EngineUnreachableError):
            if time.monotonic() > until:
                raise
            time.sleep(PAUSE_S)


def every_game_of(partition: int) -> Iterator[str]:
    """Endless names of games of this partition."""
    names = (f"game-{number}" for number in count())
    return (name for name in names if keys.partition_of(name, PARTITIONS) == partition)


def games_of(partition: int, most: int) -> list[str]:
    return list(islice(every_game_of(partition), most))
