"""Names of keys: the same in every process, one slot a partition, no two alike."""

from __future__ import annotations

import inspect
from collections.abc import Iterator
from itertools import product
from typing import Any

import pytest

from services.ledger.engine import keys

# Every argument that a key's name is made of, with values that could be confused.
VALUES: dict[str, tuple[Any, ...]] = {
    "partition": (0, 7, 16, 255, 256, 4095),
    "game": ("abc", "abc-1", "abc-seat", "public", "log", "7f3a"),
    "seat": (0, 1, 7),
    "sender": (None, 0, 7),
    "command_id": ("a", "0", "a:0", "server:a"),
}
MAKERS = {
    name: maker
    for name, maker in inspect.getmembers(keys, inspect.isfunction)
    if maker.__module__ == keys.__name__
    and next(iter(inspect.signature(maker).parameters), "") == "partition"
}


def made() -> Iterator[tuple[str, int, str]]:
    """Every key over all those values: its maker and arguments, its partition, its name."""
    for name, maker in MAKERS.items():
        if name == "hash_tag":
            continue
        parameters = list(inspect.signature(maker).parameters)
        for values in product(*(VALUES[parameter] for parameter in parameters)):
            yield f"{name}{values}", values[0], maker(*values)


@pytest.mark.parametrize(
    ("game", "partitions", "partition"),
    [
        ("abc", 256, 194), ("abc", 4096, 450), ("game-1", 256, 124), ("game-1", 1, 0), ("7f3a", 7, 4),
        ("a-long-name-of-a-game-for-the-vectors-01", 256, 156),
    ],
)  # fmt: skip
def test_a_game_stays_in_its_partition_for_ever(game: str, partitions: int, partition: int) -> None:
    assert keys.partition_of(game, partitions) == partition


def test_partitions_are_filled_evenly() -> None:
    counts = [0] * 16
    for number in range(16_000):
        counts[keys.partition_of(f"game-{number:05}", 16)] += 1
    assert 900 < min(counts) <= max(counts) < 1100


def test_every_key_carries_its_partitions_tag_first() -> None:
    storage = {"log", "public_view", "command_results"}
    assert {"commands", "bot_tasks", "deadlines", "dead_letters", *storage} <= set(MAKERS)
    for call, partition, key in made():
        assert key.startswith(keys.hash_tag(partition)), call
        tags = 1 + call.startswith("notification_channel")  # of which the first decides the slot
        assert key.count("{") == key.count("}") == tags, call


def test_tags_look_as_the_design_says() -> None:
    assert [keys.hash_tag(n) for n in (7, 255, 256)] == ["{p07}", "{pff}", "{p100}"]


def test_no_two_keys_are_alike() -> None:
    seen: dict[str, str] = {}
    for call, _, key in made():
        assert seen.setdefault(key, call) == call
    assert len(seen) > 500
