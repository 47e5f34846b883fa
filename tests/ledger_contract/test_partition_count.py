"""What is fixed when an engine is first met, and engines that can't be met."""

from __future__ import annotations

from typing import Any

import pytest

from services.ledger import keys
from services.ledger.connection import EngineAway, EngineUnavailable, birth, connect


def test_the_first_to_come_fixes_the_number_of_partitions(client: Any) -> None:
    assert birth(client, 8) == 8
    assert birth(client) == 8
    assert birth(client, 8) == 8


def test_another_number_of_partitions_is_refused(client: Any) -> None:
    birth(client, 8)
    with pytest.raises(EngineUnavailable, match="born with 8, the setting says 16"):
        birth(client, 16)
    assert birth(client) == 8


def test_nobody_who_names_a_number_gets_the_usual_one(client: Any) -> None:
    assert birth(client) == keys.PARTITIONS_DEFAULT


@pytest.mark.parametrize("partitions", [0, -1, keys.PARTITIONS_MOST + 1])
def test_a_number_out_of_range_is_refused(client: Any, partitions: int) -> None:
    with pytest.raises(EngineUnavailable, match="isn't between"):
        birth(client, partitions)
    assert list(client.scan_iter()) == []


def test_an_engine_that_is_away_is_said_to_be() -> None:
    with connect("redis://127.0.0.1:1/0") as nobody, pytest.raises(EngineAway, match="doesn't answer"):
        birth(nobody)
