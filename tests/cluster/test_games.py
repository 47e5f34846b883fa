"""Games go on and end while nodes of the cluster die and slots move."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager

import pytest

from tests.cluster.nodes import Cluster
from tests.cluster.play import PARTITIONS, Games, games_of, ledger_at, services
from tests.long_runs import long_after

PARTITION = 3  # of whose slot the node dies, or which moves
OF_EACH = 1  # game of each partition
UNDER_WAY = 60  # entries, of some fifty a game


def everywhere() -> list[str]:
    return [name for partition in range(PARTITIONS) for name in games_of(partition, OF_EACH)]


@contextmanager
def played_through(nodes: Cluster, meanwhile: Callable[[Games], object]) -> Iterator[Games]:
    """Every game, created and played to its end while something happens."""
    with ledger_at(nodes.url) as ledger:
        games = Games(ledger, everywhere())
        with services(nodes.url):
            games.create()
            games.await_length(UNDER_WAY)
            meanwhile(games)
            games.create()  # what was never confirmed may be lost; submitting again is safe
            games.await_end()
        assert games.complaints() == []
        yield games


@pytest.mark.long
def test_P3_P7_P10_games_end_though_a_primary_dies_and_its_replica_takes_over(nodes: Cluster) -> None:
    holder = nodes.holder(PARTITION)

    def die(_: Games) -> None:
        holder.kill()
        nodes.await_successor(PARTITION, holder)

    with played_through(nodes, die) as games:
        assert len(games.names) == PARTITIONS * OF_EACH


@pytest.mark.long
def test_P3_P10_games_end_though_a_fail_over_loses_what_was_written_last(nodes: Cluster) -> None:
    holder = nodes.holder(PARTITION)

    written: list[list[bytes]] = []

    def die_with_loss(games: Games) -> None:
        struck = Games(games.ledger, games_of(PARTITION, OF_EACH))

        def play_on() -> None:
            struck.await_length(struck.length() + 6)
            written.extend(games.logs())

        nodes.kill_with_loss(holder, play_on)
        nodes.await_successor(PARTITION, holder)

    with played_through(nodes, die_with_loss) as games:
        logs = games.logs()
    assert any(log[: len(before)] != before for log, before in zip(logs, written, strict=True)), (
        "none was lost"
    )


@pytest.mark.long
@pytest.mark.parametrize("way", long_after(1, ("key by key", "at once")))
def test_P3_P8_games_end_though_their_partition_moves_to_another_node_and_back(
    nodes: Cluster, way: str
) -> None:
    source = nodes.holder(PARTITION)
    target = nodes.other_primary(source)

    def move(games: Games) -> None:
        for to in (target, source):
            if way == "key by key":
                nodes.move(PARTITION, to, pause_s=0.05)
            else:
                nodes.move_at_once(PARTITION, to)
            games.await_length(games.length() + 10)

    with played_through(nodes, move):
        assert nodes.holder(PARTITION) is source
