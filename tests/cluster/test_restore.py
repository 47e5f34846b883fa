"""P1: a cluster that was backed up under play is restored, checked, and goes on, by the commands of docs/how-to/runbook.md."""

from __future__ import annotations

import json
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from tests.cli.command_line import run_in_process
from tests.cluster.nodes import SLOTS, Cluster, Node, knows_all, own_slots, wait_until
from tests.cluster.play import Games, ledger_at, services

NAMES = [f"restored-{number}" for number in range(6)]


@contextmanager
def started(data: Path) -> Iterator[Cluster]:
    """The cluster that the runbook makes of a restored folder: its primaries meet, and the first takes the slots that no
    game is in."""
    nodes = list[Node]()
    try:
        for number in (1, 2, 3):
            nodes.append(Node(data / f"node-{number}", 5_000))
        for node in nodes[1:]:
            node.call.execute_command("CLUSTER MEET", "127.0.0.1", nodes[0].port, nodes[0].bus)
        wait_until(lambda: all(knows_all(node, len(nodes)) for node in nodes), "all know each other")
        free = {*range(SLOTS)} - {slot for node in nodes for slot in own_slots(node)}
        nodes[0].call.execute_command("CLUSTER ADDSLOTS", *free)
        formed = Cluster(nodes)
        wait_until(formed.agreed, "all agree")
        yield formed
    finally:
        for node in nodes:
            node.kill()
            node.call.close()


@pytest.mark.long
@pytest.mark.timeout(300)
def test_P1_a_clusters_backup_is_restored_node_by_node_and_its_games_go_on(
    nodes: Cluster, tmp_path: Path
) -> None:
    made, data = tmp_path / "made", tmp_path / "data"
    with ledger_at(nodes.url) as ledger, services(nodes.url):
        games = Games(ledger, NAMES)
        games.create()
        games.await_length(10 * len(NAMES))
        backed_up = run_in_process(
            "backup", str(made), LEDGERLINE_REDIS_URL=nodes.url, LEDGERLINE_ARCHIVE_URL=""
        )
        assert backed_up.returncode == 0, backed_up.stderr
        games.await_end()
        ended = games.logs()
    restored = run_in_process("restore", str(made), str(data), "--json")
    assert restored.returncode == 0, restored.stderr
    said = json.loads(restored.stdout)
    assert (said["playing"] + said["over"], said["faults"]) == (len(NAMES), [])
    with started(data) as formed, ledger_at(formed.url) as ledger:
        games = Games(ledger, NAMES)
        logs = games.logs()
        assert sum(map(len, logs)) == said["entries"]
        assert all(log == whole[: len(log)] for log, whole in zip(logs, ended, strict=True))
        assert said["playing"], "it was made while they were played"
        with services(formed.url):
            games.await_end()
        assert games.complaints() == []
