"""A cluster that tests may hurt, and games that are played on it meanwhile."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from tests.cluster.nodes import Cluster, cluster


@pytest.fixture(scope="session")
def whole(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Cluster]:
    with cluster(tmp_path_factory.mktemp("cluster")) as formed:
        yield formed


@pytest.fixture
def nodes(whole: Cluster) -> Iterator[Cluster]:
    """A cluster without faults; a node that died in a test is started again after it."""
    for node in whole.primaries():
        node.call.flushall()
    yield whole
    for node in set(whole.nodes) - set(whole.alive):
        whole.revive(node)
