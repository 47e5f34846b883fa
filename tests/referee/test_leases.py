"""P7, P10: referees share the partitions by leases, and keep one time, whatever clocks do."""

from __future__ import annotations

import time
from typing import Any

import pytest

from services.bootstrap.composition import build_referee
from services.ledger import RedisLedger, keys
from services.ledger.membership import LEASE_MS
from services.referee.leases import MAX_HEARTBEAT_AGE_MS, GameClock, Lease, assign_partitions
from services.runtime.settings import read_settings
from tests.conftest import PARTITIONS
from tests.referee.running_referee import NOON, Clock

HOUR = 3_600_000


class House:
    """Referees of one roster, each with clocks that a test sets."""

    def __init__(self, ledger: RedisLedger) -> None:
        self.ledger, self.monotonic, self.wall = ledger, Clock(), Clock()
        self.monotonic.now = 5_000

    def lease(self, name: str, *, alone: bool = False, monotonic: Clock | None = None) -> Lease:
        clock = GameClock(monotonic or self.monotonic)
        lease = Lease(self.ledger.membership(), name, PARTITIONS, clock, self.wall, all_partitions=alone)
        lease.renew()
        return lease


@pytest.fixture
def house(ledger: RedisLedger) -> House:
    return House(ledger)


@pytest.mark.parametrize("partitions", [1, 2, 16, 256])
@pytest.mark.parametrize("count", range(1, 9))
def test_P7_every_partition_falls_to_one_referee_and_shares_are_even(partitions: int, count: int) -> None:
    names = [f"referee-{n:02x}" for n in range(count)]
    shares = [assign_partitions(name, names, partitions) for name in names]
    assert sorted(p for own in shares for p in own) == list(range(partitions))
    assert {len(own) for own in shares} <= {partitions // count, -(-partitions // count)}


@pytest.mark.parametrize("count", range(2, 9))
def test_P7_most_partitions_stay_where_they_are_when_a_referee_goes(count: int) -> None:
    names = [f"referee-{n:02x}" for n in range(count)]
    before = {p: name for name in names for p in assign_partitions(name, names, 256)}
    after = {p: name for name in names[1:] for p in assign_partitions(name, names[1:], 256)}
    moved = sum(before[p] != after[p] for p in range(256))
    assert moved < 256 * 2 / count + 8


def test_P7_referees_share_as_soon_as_they_see_each_other(house: House) -> None:
    one = house.lease("one")
    assert sorted(one.partitions) == list(range(PARTITIONS))
    two = house.lease("two")
    one.renew()
    assert sorted([*one.partitions, *two.partitions]) == list(range(PARTITIONS))


def test_P7_who_leaves_hands_over_at_once(house: House) -> None:
    one, two = house.lease("one"), house.lease("two")
    two.leave()
    one.renew()
    assert len(one.partitions) == PARTITIONS


def test_P7_who_is_silent_for_too_long_has_lost_its_lease(house: House, client: Any) -> None:
    one = house.lease("one")
    house.lease("two")
    client.zincrby(keys.MEMBERSHIP_KEY, -LEASE_MS - 1, "two")
    one.renew()
    assert one.members == ("one",)


def test_P7_a_sign_of_life_from_the_future_counts_for_nothing(house: House, client: Any) -> None:
    """The engine's clock was put back by an hour."""
    client.zadd(keys.MEMBERSHIP_KEY, {"two": 10 * NOON})
    assert house.lease("one").members == ("one",)


def test_P7_with_leases_ignored_a_referee_looks_after_everything(house: House) -> None:
    house.lease("one")
    assert len(house.lease("two", alone=True).partitions) == PARTITIONS


def test_P10_house_time_goes_on_with_the_referees_not_with_the_wall_clock(house: House) -> None:
    one = house.lease("one")
    assert one.clock() == NOON
    for jump in (HOUR, -HOUR, -24 * HOUR, 0):
        house.wall.now = NOON + jump
        house.monotonic.now += 100
        one.renew()
    assert one.clock() == NOON + 400


def test_P10_a_referee_that_starts_after_a_jump_takes_the_house_s_time(house: House) -> None:
    house.lease("one")
    house.wall.now += HOUR
    house.monotonic.now = 77  # another process, another origin
    assert house.lease("two").clock() == NOON


def test_P10_house_time_stands_still_while_the_house_is_closed(house: House) -> None:
    one = house.lease("one")
    one.leave()
    house.wall.now += 24 * HOUR
    house.monotonic.now += 24 * HOUR
    assert one.clock() == NOON + MAX_HEARTBEAT_AGE_MS
    assert house.lease("two").clock() == NOON


def test_P10_the_clock_that_is_ahead_moves_the_others_on_and_none_goes_back(house: House) -> None:
    slow = Clock()
    one, two = house.lease("one"), house.lease("two", monotonic=slow)
    for passed in (300, 200, 700):
        house.monotonic.now += passed
        slow.now += passed // 2
        before = two.clock()
        one.renew()
        two.renew()
        assert two.clock() == one.clock() > before
        assert house.lease("three", monotonic=Clock()).clock() == one.clock()
    assert one.clock() == NOON + 1200


def test_P10_a_referee_goes_by_the_house_s_time_and_writes_down_the_wall_clock_s(
    ledger: RedisLedger, client: Any
) -> None:
    client.set(keys.GAME_CLOCK_KEY, 77_000_000)
    referee, lease = build_referee(ledger, read_settings())
    assert 77_000_000 <= referee.clocks.game_time_ms() < 77_600_000
    assert abs(referee.clocks.wall_time_ms() - time.time() * 1000) < 600_000
    assert sorted(lease.partitions) == list(range(PARTITIONS))
