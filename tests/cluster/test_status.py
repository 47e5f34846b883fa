"""`ledgerline status` on a cluster, whole and with a part of it away."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from services.ledger.operations.backlog_queries import GATEWAY
from tests.cli.command_line import run_in_process
from tests.cluster.nodes import cluster
from tests.cluster.play import PARTITIONS, ledger_at


def status(url: str) -> dict[str, Any]:
    found: dict[str, Any] = json.loads(run_in_process("status", "--json", LEDGERLINE_REDIS_URL=url).stdout)
    return found


@pytest.mark.long
def test_P7_a_node_that_is_away_is_named_and_the_rest_is_shown(tmp_path: Path) -> None:
    with cluster(tmp_path / "nodes", timeout_ms=60_000) as nodes, ledger_at(nodes.url) as ledger:
        ledger.membership().heartbeat("referee-1", None, 1)
        whole = status(nodes.url)
        assert [node["role"] for node in whole["engine"]] == ["master"] * 3
        assert len(whole["partitions"]) == PARTITIONS
        assert whole["problems"] == [GATEWAY.describe_absence(None)]
        dead = nodes.holder(0)
        dead.kill()
        part = status(nodes.url)
        assert sum(node["role"] == "away" for node in part["engine"]) == 1
        assert 0 < len(part["partitions"]) < PARTITIONS
        assert any(problem.endswith(f":{dead.port} doesn't answer") for problem in part["problems"])
