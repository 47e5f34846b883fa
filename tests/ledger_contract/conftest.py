"""The ledger's contract holds on a cluster, too."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from tests.conftest import Connect, connections_to


@pytest.fixture(params=["fake", "engine", "cluster"])
def connection(request: pytest.FixtureRequest) -> Iterator[Connect]:
    """Makes connections to one empty store: fakeredis, a real engine, then a cluster of them."""
    yield from connections_to(request)
