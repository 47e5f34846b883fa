"""What viewers were shown of a game comes out of its log as it was, for every seat and for the public."""

from __future__ import annotations

import fakeredis
import pytest

from schemas.codec import Corrupt
from services.archive.views import seen
from services.ledger import RedisLedger
from tests.auditor_jobs.given import play_out
from tests.conftest import PARTITIONS
from tests.referee.at_work import GAME, referee_at


@pytest.fixture
def ledger() -> RedisLedger:
    ledger = RedisLedger(fakeredis.FakeRedis(), PARTITIONS)
    play_out(ledger, referee_at(ledger))
    return ledger


@pytest.mark.parametrize("viewer", [None, 0, 1])
def test_a_view_from_the_log_is_the_view_that_was_sent(ledger: RedisLedger, viewer: int | None) -> None:
    log = ledger.history(GAME)
    assert seen(log, viewer) == ledger.seen(GAME, viewer)


@pytest.mark.parametrize(("after", "most"), [(0, 3), (3, 3), (4, 1_000), (1_000, 5)])
def test_a_page_of_it_is_the_same_page(ledger: RedisLedger, after: int, most: int) -> None:
    log = ledger.history(GAME)
    for viewer in (None, 0, 1):
        assert seen(log, viewer, after, most) == ledger.seen(GAME, viewer, after, most)


@pytest.mark.parametrize("wrong", [b"", b"\x01", b"\x93\x01\x02\x03", b"\x98" + b"\x01" * 8])
def test_what_is_no_entry_is_said_to_be_damage(wrong: bytes) -> None:
    with pytest.raises(Corrupt):
        seen([wrong], 0)
