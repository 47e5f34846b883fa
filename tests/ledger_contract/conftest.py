"""The ledger's contract holds on a cluster, too."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from services.ledger import RedisLedger
from services.ledger.engine.connection import init_partition_count
from services.ledger.ports.records import FIRST_EDITION, LEAN_EDITION
from tests.conftest import PARTITIONS, Connect, connections_to

EDITIONS = (FIRST_EDITION, LEAN_EDITION)


@pytest.fixture(params=["fake", "engine", "cluster"])
def connection(request: pytest.FixtureRequest) -> Iterator[Connect]:
    """Makes connections to one empty store: fakeredis, a real engine, then a cluster of them."""
    yield from connections_to(request)


@pytest.fixture
def first_edition_ledger(connection: Connect) -> RedisLedger:
    client = connection()
    return RedisLedger(client, init_partition_count(client, PARTITIONS), edition=FIRST_EDITION)
