"""P7, P9: a finished game is one value in the engine, and its streams go only while that value is made of them."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

from schemas.stored.player_names import SaltedName
from services.ledger import AppendStatus, DuplicateCommand, EvictAt, GameLog, RedisLedger
from services.ledger.engine import keys
from services.ledger.log.views import ViewRequest, read_view
from tests.conftest import ALL, PARTITIONS
from tests.ledger_contract.given import (
    GAME,
    NOON,
    PARTITION,
    SERVER_DELIVERY,
    append_request,
    contents,
    entry_of,
    head_after,
    logged,
    private_part,
)

FILE = b"the file of this game"
ADA = SaltedName(bytes(32), "Ada")
PART = 1, private_part(0)
LOG = GameLog(
    [entry_of("c1"), logged(append_request(id_="c2", private_parts=[PART]))], head_after("c1", "c2")
)
STREAMS = {
    keys.log(PARTITION, GAME),
    keys.public_view(PARTITION, GAME),
    keys.chain_head(PARTITION, GAME),
    keys.command_results(PARTITION, GAME, 0),
}


def finished(ledger: RedisLedger) -> None:
    """A game of two entries whose file is stored, with a name beside it."""
    last = append_request(expected=1, id_="c2", eviction=EvictAt(NOON), private_parts=[PART], names=[ADA])
    ledger.append([append_request(), last])
    ledger.store_game_file(GAME, FILE, NOON)


def stored_keys(client: Any) -> set[str]:
    return {key.decode() for key in contents(client)}


def test_a_stored_file_is_read_with_the_names_beside_it(ledger: RedisLedger, client: Any) -> None:
    assert ledger.read_stored_game(GAME) is None
    finished(ledger)
    stored = ledger.read_stored_game(GAME)
    assert stored is not None
    assert (stored.data, stored.names) == (FILE, {ADA.commitment: ADA})
    ledger.erase_names(GAME, [ADA.commitment])
    assert ledger.read_stored_game(GAME) == (FILE, {})


def test_streams_may_go_at_the_time_that_was_set(ledger: RedisLedger) -> None:
    finished(ledger)
    assert ledger.removable_streams(NOON - 1, ALL) == []
    assert ledger.removable_streams(NOON, ALL) == [GAME]
    ledger.schedule_removal(GAME, NOON + 5)
    assert ledger.removable_streams(NOON, ALL) == []
    ledger.schedule_removal(GAME, None)
    assert ledger.removable_streams(NOON + 5, ALL) == []


def test_P9_the_streams_go_and_file_names_and_lists_stay(ledger: RedisLedger, client: Any) -> None:
    finished(ledger)
    before = stored_keys(client)
    assert ledger.read_log(GAME) == LOG
    assert ledger.remove_streams(GAME, 2, LOG, FILE)
    assert before - stored_keys(client) == STREAMS | {keys.stream_removals(PARTITION)}
    assert ledger.read_log(GAME).is_stored
    assert ledger.games() == [GAME]
    assert ledger.evictable(NOON, ALL) == [GAME]


@pytest.mark.parametrize("viewer", [None, 1])
def test_P5_a_view_whose_streams_go_while_it_is_read_is_whole_or_empty(
    ledger: RedisLedger, client: Any, viewer: int | None
) -> None:
    sizes = set()
    for removed_after in range(5):
        client.flushdb()
        finished(ledger)
        whole = ledger.read_view(GAME, viewer)
        query = read_view(PARTITIONS, ViewRequest(GAME, 0, (viewer,)), 10)
        replies = []
        for at, (arguments, options, *_) in enumerate(next(query)):
            if at == removed_after:
                assert ledger.remove_streams(GAME, 2, ledger.read_log(GAME), FILE)
            replies.append(client.execute_command(*arguments, **options))
        with pytest.raises(StopIteration) as ended:
            query.send(replies)
        view = ended.value.value.views[viewer]
        assert view in (whole, [])
        sizes.add(len(view))
    assert sizes == {0, 2}


def _appends(ledger: RedisLedger, client: Any) -> None:
    ledger.append([append_request(expected=2, id_="c3")])


def _has_an_entry_in_its_log_alone(ledger: RedisLedger, client: Any) -> None:
    client.xadd(keys.log(PARTITION, GAME), {"s": b"an entry"}, "3-0")


def _loses_its_end(ledger: RedisLedger, client: Any) -> None:
    for key in (keys.log(PARTITION, GAME), keys.public_view(PARTITION, GAME)):
        client.xdel(key, "2-0")


def _grows_another_end(ledger: RedisLedger, client: Any) -> None:
    client.set(keys.chain_head(PARTITION, GAME), b"2 another head")


def _has_another_file(ledger: RedisLedger, client: Any) -> None:
    client.set(keys.game_file(PARTITION, GAME), FILE + b".")


def _has_no_file(ledger: RedisLedger, client: Any) -> None:
    client.delete(keys.game_file(PARTITION, GAME))


@pytest.mark.parametrize(
    "change",
    [
        _appends,
        _has_an_entry_in_its_log_alone,
        _loses_its_end,
        _grows_another_end,
        _has_another_file,
        _has_no_file,
    ],
)
def test_P7_the_streams_stay_where_log_or_file_is_another_than_was_checked(
    ledger: RedisLedger, client: Any, change: Callable[[RedisLedger, Any], None]
) -> None:
    finished(ledger)
    change(ledger, client)
    before = contents(client)
    assert not ledger.remove_streams(GAME, 2, LOG, FILE)
    assert contents(client) == before


def test_P2_a_game_that_has_its_file_alone_is_not_created_again(ledger: RedisLedger, client: Any) -> None:
    finished(ledger)
    ledger.remove_streams(GAME, 2, LOG, FILE)
    before = contents(client)
    duplicate = DuplicateCommand(SERVER_DELIVERY, GAME, 0, "c1")
    results = ledger.append([append_request(id_="c3"), duplicate])
    assert [result.status for result in results] == [AppendStatus.CONFLICT] * 2
    assert contents(client) == before


def test_P9_a_file_leaves_with_its_game(ledger: RedisLedger, client: Any) -> None:
    born = contents(client)
    finished(ledger)
    ledger.archive_index().mark_archived(GAME, 2, NOON)
    ledger.remove_streams(GAME, 2, LOG, FILE)
    assert not ledger.evict(GAME, 0, 2)  # it has no log
    assert ledger.evict(GAME, 0, 0)
    assert contents(client) == born
