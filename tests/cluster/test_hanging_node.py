"""P7: a primary that hangs stops its own games until its replica takes over, and no others."""

from __future__ import annotations

import asyncio
import time
from collections import defaultdict
from collections.abc import Iterator
from contextlib import closing, contextmanager, suppress
from itertools import count
from threading import Event, Thread
from typing import Final

import pytest
from redis.exceptions import RedisError
from structlog.testing import capture_logs

from services.gateway.following.gateway_stop import Stopping
from services.gateway.following.hub import Hub
from services.gateway.games.command_tracking import AckRequest, CommandProgress, CommandTracker
from services.ledger import RedisLedger
from services.ledger.acknowledgements import DURABLE
from services.ledger.async_ledger import AsyncLedger
from services.ledger.engine import keys
from services.ledger.engine.cluster_pipeline import hash_slot
from services.ledger.engine.connection import connect, connect_async, init_partition_count
from services.ledger.engine.keys import partition_of
from tests.cluster.nodes import Cluster, Node, follows_port, hanging, own_slots, slot_of, wait_until
from tests.cluster.play import PARTITIONS, every_game_of, services
from tests.long_runs import long_after
from tests.referee.running_referee import opening_commands

# What the product promises, and what a machine may add that eight other programs share.
OTHERS_S: Final = 1.0
AFTER_FAIL_OVER_S: Final = 2.0
SLACK_S: Final = 2.0
PATIENCE_S: Final = 60.0  # of a caller who asks for `durable`
CALM_S: Final = 1.0  # of play before the hang, and after it


class Callers:
    """One for each partition: it creates games, one after the other, and notes how long each verdict took."""

    def __init__(self, url: str) -> None:
        self.url, self.stop = url, Event()
        self.waits: dict[int, list[tuple[float, float]]] = defaultdict(
            list
        )  # when it ended, and how long it was
        self.durable_waits_s: list[float] = []

    def call(self, partition: int) -> None:
        client = connect(self.url)
        with closing(RedisLedger(client, init_partition_count(client, PARTITIONS))) as ledger:
            for name in every_game_of(partition):
                if self.stop.is_set():
                    return
                began_s = time.monotonic()
                while not self._is_created(ledger, name) and not self.stop.is_set():
                    pass
                self.waits[partition].append((time.monotonic(), time.monotonic() - began_s))
                time.sleep(0.1)

    def _is_created(self, ledger: RedisLedger, name: str) -> bool:
        """Whether there is a verdict soon; else the command is sent again, under its id."""
        envelope = opening_commands(name)[0]
        with suppress(RedisError):
            ledger.submit(envelope)
            until_s = time.monotonic() + 0.5
            while time.monotonic() < until_s:
                if ledger.read_result(name, None, envelope.id) is not None:
                    return True
                time.sleep(0.03)
        return False

    async def call_durable(self, names: Iterator[str]) -> None:
        """The same through a gateway's tracker, at level `durable`."""
        ledger = AsyncLedger(connect_async(self.url), PARTITIONS)
        hub = Hub(ledger)
        listening = asyncio.create_task(hub.run())
        tracker = CommandTracker(ledger, hub, Stopping())
        for name in names:
            if self.stop.is_set():
                break
            began_s, progress = time.monotonic(), CommandProgress()
            while progress.level != DURABLE and not self.stop.is_set():
                with suppress(RedisError):
                    progress = await tracker.track(opening_commands(name)[0], AckRequest(DURABLE, PATIENCE_S))
            self.durable_waits_s.append(time.monotonic() - began_s)
            await asyncio.sleep(0.1)
        listening.cancel()
        await asyncio.gather(listening, return_exceptions=True)
        await ledger.close()

    def longest(self, partitions: set[int]) -> float:
        return max(wait_s for partition in partitions for _, wait_s in self.waits[partition])

    @contextmanager
    def calling(self, durable: int) -> Iterator[None]:
        """All of them call, and one more at level `durable` in that partition."""
        threads = [Thread(target=self.call, args=(partition,)) for partition in range(PARTITIONS)]
        names = (
            f"durable-{name}" for name in count() if partition_of(f"durable-{name}", PARTITIONS) == durable
        )
        threads.append(Thread(target=lambda: asyncio.run(self.call_durable(names))))
        for thread in threads:
            thread.start()
        try:
            yield
        finally:
            self.stop.set()
            for thread in threads:
                thread.join()


def partitions_of(node: Node) -> set[int]:
    return {partition for partition in range(PARTITIONS) if slot_of(partition) in own_slots(node)}


def replica_of(nodes: Cluster, primary: Node) -> Node:
    return next(node for node in nodes.alive if follows_port(node) == primary.port)


@pytest.mark.parametrize("has_heartbeats", long_after(1, [True, False]))
def test_P7_a_primary_that_hangs_delays_its_own_games_until_the_fail_over_and_no_others(
    nodes: Cluster, has_heartbeats: bool
) -> None:
    heartbeats = hash_slot(keys.MEMBERSHIP_KEY)
    primary = next(node for node in nodes.primaries() if (heartbeats in own_slots(node)) == has_heartbeats)
    struck, replica = partitions_of(primary), replica_of(nodes, primary)
    others = set(range(PARTITIONS)) - struck
    callers = Callers(nodes.url)
    with capture_logs() as logs, services(nodes.url), callers.calling(min(struck)):
        wait_until(lambda: all(len(callers.waits[p]) > 5 for p in range(PARTITIONS)), "games are created")
        callers.waits.clear()
        time.sleep(CALM_S)
        usual_s = callers.longest(others | struck)
        with hanging(primary):
            began_s = time.monotonic()
            wait_until(lambda: replica.info("replication")["role"] == "master", "the replica took over")
            fail_over_s = time.monotonic() - began_s
            durable_before = len(callers.durable_waits_s)
            before = {partition: len(callers.waits[partition]) for partition in struck}
            wait_until(lambda: all(len(callers.waits[p]) > before[p] + 3 for p in struck), "its games go on")
            wait_until(lambda: len(callers.durable_waits_s) > durable_before + 2, "its games are durable")
        wait_until(nodes.agreed, "the old primary is a replica")
    print(
        f"usual {usual_s:.2f} s, fail-over {fail_over_s:.2f} s, "
        f"others {callers.longest(others):.2f} s, struck {callers.longest(struck):.2f} s, "
        f"durable {max(callers.durable_waits_s):.2f} s"
    )
    assert callers.longest(others) < OTHERS_S + usual_s + SLACK_S
    assert callers.longest(struck) < fail_over_s + AFTER_FAIL_OVER_S + usual_s + SLACK_S
    assert max(callers.durable_waits_s) < fail_over_s + AFTER_FAIL_OVER_S + usual_s + SLACK_S
    lines = [line for line in logs if line["event"].startswith("cluster node away")]
    assert f"127.0.0.1:{primary.port}" in {line["node"] for line in lines}  # and another, on a busy machine
    nodes.await_peace()
