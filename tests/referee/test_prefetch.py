"""Logs of many games are read at once; a damaged one stops no other."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

import pytest

from schemas.commands import CommandEnvelope
from schemas.trains.commands import KeepTickets
from services.ledger import MissingEntryError, RedisLedger
from services.ledger.engine import keys
from services.referee.game_cache import GameCache
from tests.referee.running_referee import (
    GAME,
    NEIGHBOUR_GAME,
    dead_letter_reasons,
    opening_commands,
    partition_of,
    referee_at,
    submit,
)


class Counting:
    """A ledger that counts its round trips for logs."""

    def __init__(self, ledger: RedisLedger) -> None:
        self._ledger, self.trips = ledger, 0

    def __getattr__(self, name: str) -> Any:
        method = getattr(self._ledger, name)
        return self._counted(method) if name in ("read_entries", "read_logs", "read_log") else method

    def _counted(self, read: Callable[..., Any]) -> Callable[..., Any]:
        def counted(*args: Any) -> Any:
            self.trips += 1
            return read(*args)

        return counted


def test_P7_logs_of_a_batch_are_read_in_one_round_trip(ledger: RedisLedger) -> None:
    names = [f"table-{number}" for number in range(20)]
    for name in names:
        submit(ledger, opening_commands(name))
    referee_at(ledger).step(0)
    counting: Any = Counting(ledger)
    fresh = referee_at(counting, "fresh")
    submit(ledger, [CommandEnvelope("keep", name, 0, KeepTickets((0, 1))) for name in names])
    assert fresh.step(0) == 20
    assert counting.trips == 1
    assert all(len(ledger.read_entries(name)) == 3 for name in names)


@pytest.fixture
def damaged(ledger: RedisLedger, client: Any) -> Iterator[str]:
    """A game whose log lost an entry, beside one that is whole."""
    submit(ledger, [*opening_commands(), *opening_commands(NEIGHBOUR_GAME)])
    referee_at(ledger).step(0)
    client.xdel(keys.log(partition_of(GAME), GAME), "1-0")
    yield GAME


def test_P8_a_damaged_log_is_left_out_of_many(ledger: RedisLedger, damaged: str) -> None:
    whole = {game: ledger.read_log(game) for game in (NEIGHBOUR_GAME, "no-such-game")}
    assert ledger.read_logs([damaged, NEIGHBOUR_GAME, "no-such-game"]) == whole
    cache = GameCache(ledger)
    cache.prefetch([damaged, NEIGHBOUR_GAME])
    assert cache.get(NEIGHBOUR_GAME).length == 2
    with pytest.raises(MissingEntryError):
        cache.get(damaged)


def test_P8_a_log_that_can_not_be_folded_fails_only_its_own_commands(
    ledger: RedisLedger, client: Any
) -> None:
    submit(ledger, [*opening_commands(), *opening_commands(NEIGHBOUR_GAME)])
    referee_at(ledger).step(0)
    client.xadd(keys.log(partition_of(GAME), GAME), {"s": b"no entry"}, id="3-0")
    submit(ledger, [CommandEnvelope("keep", name, 0, KeepTickets((0, 1))) for name in (GAME, NEIGHBOUR_GAME)])
    referee_at(ledger, "fresh").step(0)
    assert len(ledger.read_entries(NEIGHBOUR_GAME)) == 3
    assert [b"can't be read" in reason for reason in dead_letter_reasons(client)] == [True]
