"""The number of partitions is fixed by the first connection; engines that can't be reached."""

from __future__ import annotations

from typing import Any

import pytest

from services.ledger.engine import keys
from services.ledger.engine.connection import (
    EngineUnavailableError,
    EngineUnreachableError,
    connect,
    init_partition_count,
)


def test_the_first_connection_fixes_the_number_of_partitions(client: Any) -> None:
    assert init_partition_count(client, 8) == 8
    assert init_partition_count(client) == 8
    assert init_partition_count(client, 8) == 8


def test_another_number_of_partitions_is_refused(client: Any) -> None:
    init_partition_count(client, 8)
    with pytest.raises(EngineUnavailableError, match="born with 8, the setting says 16"):
        init_partition_count(client, 16)
    assert init_partition_count(client) == 8


def test_without_a_number_the_default_is_used(client: Any) -> None:
    assert init_partition_count(client) == keys.DEFAULT_PARTITIONS


@pytest.mark.parametrize("make", ["text", "another number"])
def test_P8_a_number_of_partitions_that_is_none_is_named_and_not_waited_for(client: Any, make: str) -> None:
    if make == "text":
        client.set(keys.PARTITION_COUNT_KEY, "what?")
    else:
        client.hset(keys.PARTITION_COUNT_KEY, "partitions", "what?")
    with pytest.raises(EngineUnavailableError, match=keys.PARTITION_COUNT_KEY) as caught:
        init_partition_count(client)
    assert not isinstance(caught.value, EngineUnreachableError)


@pytest.mark.parametrize("partitions", [0, -1, keys.MAX_PARTITIONS + 1])
def test_a_number_out_of_range_is_refused(client: Any, partitions: int) -> None:
    with pytest.raises(EngineUnavailableError, match="isn't between"):
        init_partition_count(client, partitions)
    assert list(client.scan_iter()) == []


def test_an_engine_that_is_away_is_reported() -> None:
    with (
        connect("redis://127.0.0.1:1/0") as nobody,
        pytest.raises(EngineUnreachableError, match="doesn't answer"),
    ):
        init_partition_count(nobody)
