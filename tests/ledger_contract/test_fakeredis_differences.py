"""Where fakeredis is known to differ from an engine: pinned, so that a change is noticed."""

from __future__ import annotations

from typing import Any

import fakeredis
import pytest
import redis

from services.ledger.engine.connection import connect


@pytest.fixture
def fake() -> Any:
    return fakeredis.FakeRedis(server=fakeredis.FakeServer())


@pytest.fixture
def real(engine_url: str) -> Any:
    client = connect(engine_url)
    client.flushdb()
    return client


def blocking_read(client: Any) -> tuple[object, int]:
    """A blocking group read without COUNT: what it gives, and how many are then pending."""
    client.xadd("s", {"a": 1}, id="1-0")
    client.xgroup_create("s", "g", "0")
    read = client.xreadgroup("g", "one", {"s": ">"}, block=10)
    return read, client.xpending("s", "g")["pending"]


def test_a_blocking_read_without_count(fake: Any, real: Any) -> None:
    assert blocking_read(real) == ([[b"s", [(b"1-0", {b"a": b"1"})]]], 1)
    assert blocking_read(fake) == ([], 1)


@pytest.mark.parametrize("call", ["WAIT 0 0", "WAITAOF 0 0 0"])
def test_fakeredis_knows_no_levels_of_acknowledgement(fake: Any, call: str) -> None:
    with pytest.raises(redis.ResponseError, match="unknown command"):
        fake.execute_command(*call.split())


def test_fakeredis_has_another_word_for_a_missing_group(fake: Any, real: Any) -> None:
    for client, word in ((real, "NOGROUP"), (fake, "requires the key to exist")):
        with pytest.raises(redis.ResponseError, match=word):
            client.xreadgroup("no-such-group", "one", {"no-such-stream": ">"}, count=1)
