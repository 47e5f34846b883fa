"""Which games are in the archive: marked beside the games, on every kind of engine, and evicted with them."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import pytest

from services.ledger import EvictAt, EvictionChange, RedisLedger
from services.ledger.engine import keys
from services.ledger.log.game_indexes import IdleGame
from tests.conftest import Connect, connections_to
from tests.ledger_contract.given import GAME, NOON, PARTITION, append_request, contents

HOUR_MS = 3_600_000


@pytest.fixture(params=["fake", "engine", "cluster"])
def connection(request: pytest.FixtureRequest) -> Iterator[Connect]:
    yield from connections_to(request)


def test_a_game_that_nobody_plays_is_found_with_its_length_its_file_and_how_much_of_it_is_archived(
    ledger: RedisLedger,
) -> None:
    ledger.append([append_request(), append_request(expected=1, id_="c2", eviction=EvictAt(NOON))])
    marks = ledger.archive_index()
    assert marks.next_idle_games() == [IdleGame(GAME, 2, 0)]
    ledger.store_game_file(GAME, b"file", NOON)
    assert marks.next_idle_games() == [IdleGame(GAME, 2, 0, has_file=True)]
    marks.mark_archived(GAME, 2, NOON)
    assert marks.next_idle_games() == [IdleGame(GAME, 2, 2, has_file=True)]
    assert marks.archived_length(GAME) == 2
    assert marks.archived_length("another-game") == 0


def test_a_mark_lets_a_game_leave_earlier_never_later(ledger: RedisLedger) -> None:
    ledger.append([append_request(eviction=EvictAt(NOON + HOUR_MS))])
    ledger.archive_index().mark_archived(GAME, 1, NOON)
    assert ledger.evictable(NOON, range(ledger.partitions)) == [GAME]
    ledger.archive_index().mark_archived(GAME, 1, NOON + 2 * HOUR_MS)
    assert ledger.evictable(NOON, range(ledger.partitions)) == [GAME]


def test_a_game_that_is_played_is_not_made_to_leave_by_a_mark(ledger: RedisLedger) -> None:
    ledger.append([append_request(eviction=EvictionChange.CLEAR)])
    ledger.archive_index().mark_archived(GAME, 1, NOON)
    assert ledger.evictable(NOON + HOUR_MS, range(ledger.partitions)) == []


def test_P9_the_mark_leaves_with_the_game(ledger: RedisLedger, client: Any) -> None:
    born = contents(client)
    ledger.append([append_request(eviction=EvictAt(NOON))])
    ledger.archive_index().mark_archived(GAME, 1, NOON)
    assert keys.archived_lengths(PARTITION).encode() in contents(client)
    assert ledger.evict(GAME, 2, 1)
    assert contents(client) == born


def test_asked_again_and_again_it_goes_round_all_of_them(ledger: RedisLedger) -> None:
    games = {f"game-{n}" for n in range(600)}
    for game in games:
        ledger.schedule_eviction(game, NOON)
    marks, found = ledger.archive_index(), set[str]()
    for _ in range(20):
        found |= {each.game for each in marks.next_idle_games()}
    assert found == games
