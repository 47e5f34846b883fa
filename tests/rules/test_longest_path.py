"""SCORE-3: the longest simple path is exact, and its search stays small on the fullest boards."""

from __future__ import annotations

from collections.abc import Iterator
from random import Random

import pytest
from hypothesis import given
from hypothesis import strategies as some

from services.referee.games.trains.search import sweeps as search
from services.referee.games.trains.search.sweeps import longest_path
from tests.rules.hostile_networks import hostile_networks

Edge = tuple[str, str, int]
WAYS_MOST = 9_000
HOSTILE = hostile_networks()

cities = some.sampled_from("abcdefgh")
edge = some.tuples(cities, cities, some.integers(1, 6)).filter(lambda edge: edge[0] != edge[1])
networks = some.lists(edge, max_size=13)


def brute_force(edges: list[Edge]) -> int:
    """Every walk from every city that visits no city twice, by brute force."""

    def onward(city: str, seen: frozenset[str]) -> int:
        best = 0
        for a, b, length in edges:
            other = b if city == a else a
            if city in (a, b) and other not in seen:
                best = max(best, length + onward(other, seen | {other}))
        return best

    return max((onward(city, frozenset(city)) for city in "abcdefgh"), default=0)


def grid(side: int, rng: Random) -> Iterator[Edge]:
    """A city at every crossing of so many streets: harder than any board, which has fewer cycles."""
    for row in range(side):
        for column in range(side):
            city = f"{row}/{column}"
            if row + 1 < side:
                yield city, f"{row + 1}/{column}", rng.randint(1, 6)
            if column + 1 < side:
                yield city, f"{row}/{column + 1}", rng.randint(1, 6)


@given(networks)
def test_SCORE_3_a_simple_path_agrees_with_brute_force_on_small_graphs(edges: list[Edge]) -> None:
    assert longest_path(edges) == brute_force(edges)


@given(networks, some.randoms(use_true_random=False))
def test_SCORE_3_neither_order_nor_direction_of_the_connections_matters(
    edges: list[Edge], rng: Random
) -> None:
    turned = [(b, a, length) for a, b, length in edges]
    rng.shuffle(turned)
    assert longest_path(turned) == longest_path(edges)


@pytest.mark.parametrize(
    ("edges", "longest"),
    [
        ([], 0),
        ([("a", "b", 4)], 4),
        ([("a", "b", 4), ("a", "b", 5)], 5),  # a trail would go there and back
        ([("a", "b", 4), ("c", "d", 5)], 5),
        ([("a", "b", 1), ("a", "c", 2), ("a", "d", 3)], 5),
        ([("a", "b", 1), ("b", "c", 2), ("c", "a", 3)], 5),  # a trail would close the circle
        ([("a", "b", 1), ("b", "c", 1), ("c", "a", 1), ("a", "d", 9), ("c", "e", 7)], 18),
        ([("a", "b", 2), ("b", "c", 2), ("c", "a", 2), ("c", "d", 2), ("d", "e", 2), ("e", "c", 2)], 8),
    ],
)
def test_SCORE_3_simple_paths_by_hand(edges: list[Edge], longest: int) -> None:
    assert longest_path(edges) == longest


def test_SCORE_3_a_path_through_every_city_of_a_long_line_of_routes_is_found() -> None:
    line = [(f"{n}", f"{n + 1}", 1) for n in range(400)]
    assert longest_path(line) == 400
    assert longest_path([*line, ("400", "0", 1)]) == 400


def test_SCORE_3_a_grid_as_large_as_two_players_boards_is_swept_with_few_ways_kept(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    kept = 0

    def counted(step: object, sides: bytes, spaces: int) -> int:
        nonlocal kept
        kept += 1
        return bound(step, sides, spaces)  # type: ignore[arg-type]  # passed on unchanged

    bound = search._upper_bound
    monkeypatch.setattr(search, "_upper_bound", counted)
    for seed in range(5):
        kept = 0
        edges = list(grid(6, Random(seed)))
        assert len(edges) == 60
        assert longest_path(edges) >= sum(length for _, _, length in edges) // 2
        assert kept < WAYS_MOST, kept


@pytest.mark.parametrize("name", HOSTILE)
def test_SCORE_3_a_board_made_to_take_many_ways_is_swept_with_few_kept(
    monkeypatch: pytest.MonkeyPatch, name: str
) -> None:
    kept = 0

    def counted(step: object, sides: bytes, spaces: int) -> int:
        nonlocal kept
        kept += 1
        assert kept <= WAYS_MOST
        return bound(step, sides, spaces)  # type: ignore[arg-type]  # passed on unchanged

    bound = search._upper_bound
    monkeypatch.setattr(search, "_upper_bound", counted)
    assert longest_path(HOSTILE[name]) > 0


@pytest.mark.parametrize(("name", "longest"), [("K(3,17)", 6), ("K(5,10)", 10), ("K(10)", 9), ("K(7,7)", 13)])
def test_SCORE_3_on_such_a_board_a_simple_path_takes_turns_between_the_sides(name: str, longest: int) -> None:
    assert longest_path(HOSTILE[name]) == longest
