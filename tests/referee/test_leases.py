"""P7, P10: referees share the partitions by leases, and one game clock, whatever wall clocks do."""

from __future__ import annotations

import time
from typing import Any

import pytest

from services.bootstrap.composition import build_referee
from services.ledger import RedisLedger
from services.ledger.engine import keys
from services.ledger.queues.membership import LEASE_MS
from services.referee.leases import MAX_HEARTBEAT_AGE_MS, GameClock, Lease, assign_partitions
from services.runtime.settings import read_settings
from tests.captured_logs import captured_logs
from tests.conftest import PARTITIONS
from tests.referee.running_referee import NOON, Clock

HOUR = 3_600_000


class RefereeGroup:
    """Referees of one membership, with clocks that a test sets."""

    def __init__(self, ledger: RedisLedger) -> None:
        self.ledger, self.monotonic, self.wall = ledger, Clock(), Clock()
        self.monotonic.now = 5_000

    def lease(self, name: str, *, all_partitions: bool = False, monotonic: Clock | None = None) -> Lease:
        clock = GameClock(monotonic or self.monotonic)
        lease = Lease(
            self.ledger.membership(), name, PARTITIONS, clock, self.wall, all_partitions=all_partitions
        )
        lease.renew()
        return lease


@pytest.fixture
def referees(ledger: RedisLedger) -> RefereeGroup:
    return RefereeGroup(ledger)


@pytest.mark.parametrize("partitions", [1, 2, 16, 256])
@pytest.mark.parametrize("count", range(1, 9))
def test_P7_every_partition_is_assigned_to_one_referee_and_shares_are_even(
    partitions: int, count: int
) -> None:
    names = [f"referee-{n:02x}" for n in range(count)]
    shares = [assign_partitions(name, names, partitions) for name in names]
    assert sorted(p for own in shares for p in own) == list(range(partitions))
    assert {len(own) for own in shares} <= {partitions // count, -(-partitions // count)}


@pytest.mark.parametrize("count", range(2, 9))
def test_P7_most_partitions_stay_where_they_are_when_a_referee_leaves(count: int) -> None:
    names = [f"referee-{n:02x}" for n in range(count)]
    before = {p: name for name in names for p in assign_partitions(name, names, 256)}
    after = {p: name for name in names[1:] for p in assign_partitions(name, names[1:], 256)}
    moved = sum(before[p] != after[p] for p in range(256))
    assert moved < 256 * 2 / count + 8


def test_P7_referees_share_as_soon_as_they_see_each_other(referees: RefereeGroup) -> None:
    one = referees.lease("one")
    assert sorted(one.partitions) == list(range(PARTITIONS))
    two = referees.lease("two")
    one.renew()
    assert sorted([*one.partitions, *two.partitions]) == list(range(PARTITIONS))


def test_P7_a_referee_that_leaves_gives_up_its_partitions_at_once(referees: RefereeGroup) -> None:
    one, two = referees.lease("one"), referees.lease("two")
    two.leave()
    one.renew()
    assert len(one.partitions) == PARTITIONS


def test_P7_a_referee_without_a_heartbeat_for_too_long_loses_its_lease(
    referees: RefereeGroup, client: Any
) -> None:
    one = referees.lease("one")
    referees.lease("two")
    client.zincrby(keys.MEMBERSHIP_KEY, -LEASE_MS - 1, "two")
    one.renew()
    assert one.members == ("one",)


def test_P7_a_heartbeat_from_the_future_is_ignored(referees: RefereeGroup, client: Any) -> None:
    """The engine's clock was put back by an hour."""
    client.zadd(keys.MEMBERSHIP_KEY, {"two": 10 * NOON})
    assert referees.lease("one").members == ("one",)


def test_P7_with_leases_off_a_referee_has_all_partitions(referees: RefereeGroup) -> None:
    referees.lease("one")
    assert len(referees.lease("two", all_partitions=True).partitions) == PARTITIONS


def test_P10_the_game_clock_goes_on_with_the_referees_not_with_the_wall_clock(referees: RefereeGroup) -> None:
    one = referees.lease("one")
    assert one.clock() == NOON
    for jump in (HOUR, -HOUR, -24 * HOUR, 0):
        referees.wall.now = NOON + jump
        referees.monotonic.now += 100
        one.renew()
    assert one.clock() == NOON + 400


def test_P10_a_referee_that_starts_after_a_jump_takes_the_game_clock_of_the_engine(
    referees: RefereeGroup,
) -> None:
    referees.lease("one")
    referees.wall.now += HOUR
    referees.monotonic.now = 77  # another process, another origin
    assert referees.lease("two").clock() == NOON


def test_P10_the_game_clock_stands_still_while_no_referee_runs(referees: RefereeGroup) -> None:
    one = referees.lease("one")
    one.leave()
    referees.wall.now += 24 * HOUR
    referees.monotonic.now += 24 * HOUR
    assert one.clock() == NOON + MAX_HEARTBEAT_AGE_MS
    assert referees.lease("two").clock() == NOON


def test_P10_the_clock_that_is_ahead_sets_the_others_and_none_goes_back(referees: RefereeGroup) -> None:
    slow = Clock()
    one, two = referees.lease("one"), referees.lease("two", monotonic=slow)
    for passed in (300, 200, 700):
        referees.monotonic.now += passed
        slow.now += passed // 2
        before = two.clock()
        one.renew()
        two.renew()
        assert two.clock() == one.clock() > before
        assert referees.lease("three", monotonic=Clock()).clock() == one.clock()
    assert one.clock() == NOON + 1200


def test_P10_a_referee_decides_by_the_game_clock_and_records_the_wall_clock(
    ledger: RedisLedger, client: Any
) -> None:
    client.set(keys.GAME_CLOCK_KEY, 77_000_000)
    referee, lease = build_referee(ledger, read_settings())
    assert 77_000_000 <= referee.clocks.game_time_ms() < 77_600_000
    assert abs(referee.clocks.wall_time_ms() - time.time() * 1000) < 600_000
    assert sorted(lease.partitions) == list(range(PARTITIONS))


def spoil(client: Any, name: str, value: str) -> None:
    """Put something else where a key of ours is: a list of this, or a text where a number belongs."""
    client.delete(name)
    client.rpush(name, value) if value == "a list" else client.set(name, value)


@pytest.mark.parametrize("since", ["the start", "later"])
@pytest.mark.parametrize("value", ["a list", "a text"])
def test_P8_P10_without_the_shared_clock_each_referee_goes_by_its_own(
    referees: RefereeGroup, client: Any, since: str, value: str
) -> None:
    if since == "later":
        one = referees.lease("one")
        spoil(client, keys.GAME_CLOCK_KEY, value)
    with captured_logs() as lines:
        if since == "the start":
            spoil(client, keys.GAME_CLOCK_KEY, value)
            one = referees.lease("one")
        for _ in range(2):
            referees.monotonic.now += MAX_HEARTBEAT_AGE_MS
            referees.wall.now += HOUR
            one.renew()
    assert one.clock() == NOON + 2 * MAX_HEARTBEAT_AGE_MS
    assert [line["key"] for line in lines if line["log_level"] == "error"] == [keys.GAME_CLOCK_KEY]
    client.delete(keys.GAME_CLOCK_KEY)
    one.renew()
    assert int(client.get(keys.GAME_CLOCK_KEY)) == one.clock(), "who mends it gets the referees' time"


def test_P8_referees_that_cant_see_each_other_take_all_partitions(
    referees: RefereeGroup, client: Any
) -> None:
    one, two = referees.lease("one"), referees.lease("two")
    one.renew()
    spoil(client, keys.MEMBERSHIP_KEY, "a text")
    with captured_logs() as lines:
        for lease in (one, two, one, two):
            lease.renew()
    assert [len(one.partitions), len(two.partitions)] == [PARTITIONS, PARTITIONS]
    assert [line["key"] for line in lines] == [keys.MEMBERSHIP_KEY] * 2, "each referee says it once"
    referees.monotonic.now += 100
    one.renew()
    assert int(client.get(keys.GAME_CLOCK_KEY)) == NOON + 100, "the clock goes on"
    client.delete(keys.MEMBERSHIP_KEY)
    for lease in (one, two, one):
        lease.renew()
    assert sorted([*one.partitions, *two.partitions]) == list(range(PARTITIONS))
