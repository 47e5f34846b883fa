"""PASSENGER-2, PASSENGER-3: where a passenger collects the most, for every number of cards."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from itertools import pairwise
from random import Random

import pytest
from hypothesis import given
from hypothesis import strategies as some

from services.referee.games.trains.board import load_board
from services.referee.games.trains.moves.passengers import journeys_from, ways_by_route
from services.referee.games.trains.search import passenger_journeys
from services.referee.games.trains.search.passenger_journeys import (
    MAX_EXPANSIONS,
    MAX_WALKS,
    NARROW_BUDGET,
    Journey,
    JourneyEdge,
    best_journeys,
)

city = some.sampled_from("abcdef")
link = some.tuples(city, city, some.integers(0, 1)).filter(lambda way: way[0] != way[1])
networks = some.lists(link, max_size=8).map(
    lambda links: [JourneyEdge(f"{n}", a, b, toll) for n, (a, b, toll) in enumerate(links)]
)
tokens_left = some.dictionaries(city, some.integers(0, 7))


def every_walk(start: str, ways: Sequence[JourneyEdge], tokens: Mapping[str, int]) -> Iterator[Journey]:
    """Each walk that uses no way twice, by brute force."""
    waiting: list[tuple[tuple[JourneyEdge, ...], tuple[str, ...]]] = [((), ())]
    for path, entered in waiting:
        city = entered[-1] if entered else start
        for way in ways:
            if city in (way.a, way.b) and way not in path:
                waiting.append(((*path, way), (*entered, way.b if way.a == city else way.a)))
        points = sum(tokens.get(city, 0) for city in set(entered) - {start})
        yield Journey(tuple(way.route for way in path), entered, sum(way.toll for way in path), points)


def brute_force(
    start: str, ways: Sequence[JourneyEdge], tokens: Mapping[str, int], cards: int
) -> list[Journey]:
    ranked = sorted(ways, key=lambda way: way.toll)
    place = {way.route: number for number, way in enumerate(ranked)}
    row: list[Journey] = []
    walks = [walk for walk in every_walk(start, ways, tokens) if walk.path]
    for card in range(cards + 1):
        best = min(
            (walk for walk in walks if walk.toll <= card),
            key=lambda walk: (-walk.points, walk.toll, len(walk.path), [place[way] for way in walk.path]),
            default=None,
        )
        if best and (not row or best.points > row[-1].points):
            row.append(best)
    return row


def star(size: int, *, tolls: int) -> list[JourneyEdge]:
    """Every pair of so many cities, for free or not: far more walks than can be looked at."""
    names = [f"c{n}" for n in range(size)]
    return [JourneyEdge(f"{a}-{b}", a, b, tolls) for a in names for b in names if a < b]


@given(networks, tokens_left, some.integers(0, 4))
def test_PASSENGER_3_agrees_with_trying_every_walk(
    ways: list[JourneyEdge], tokens: dict[str, int], cards: int
) -> None:
    assert list(best_journeys("a", ways, tokens, cards)) == brute_force("a", ways, tokens, cards)


@given(networks, tokens_left, some.integers(0, 4))
def test_PASSENGER_3_a_narrow_search_that_misses_the_best_does_not_mislead_the_wide_one(
    ways: list[JourneyEdge], tokens: dict[str, int], cards: int
) -> None:
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(passenger_journeys, "NARROW_BUDGET", 3)
        found = best_journeys("a", ways, tokens, cards)
    assert list(found) == brute_force("a", ways, tokens, cards)


def test_PASSENGER_3_five_cities_entered_score_14_and_the_start_nothing() -> None:
    names = ["start", "two", "three", "drei", "trois", "tres"]
    ways = [JourneyEdge(f"{n}", a, b, 0) for n, (a, b) in enumerate(pairwise(names))]
    tokens = {"start": 7, "two": 2, "three": 3, "drei": 3, "trois": 3, "tres": 3}
    [journey] = best_journeys("start", ways, tokens, 0)
    assert journey == Journey(("0", "1", "2", "3", "4"), tuple(names[1:]), 0, 14)


def test_PASSENGER_3_a_city_passed_twice_gives_one_token_and_the_start_entered_again_none() -> None:
    loop = [
        JourneyEdge("1", "a", "b", 0),
        JourneyEdge("2", "b", "c", 0),
        JourneyEdge("3", "c", "a", 0),
        JourneyEdge("4", "a", "d", 0),
    ]
    [journey] = best_journeys("a", loop, {"a": 7, "b": 2, "c": 3, "d": 4}, 0)
    assert (journey.cities, journey.points) == (("b", "c", "a", "d"), 9)
    there_and_back = [
        JourneyEdge("1", "b", "hub", 0),
        JourneyEdge("2", "hub", "c", 0),
        JourneyEdge("3", "c", "hub", 0),
        JourneyEdge("4", "hub", "d", 0),
    ]
    [journey] = best_journeys("b", there_and_back, {"hub": 5, "c": 1, "d": 1}, 0)
    assert (journey.cities, journey.points) == (("hub", "c", "hub", "d"), 7)


def test_PASSENGER_2_each_route_of_another_seat_costs_a_card_and_a_card_must_buy_something() -> None:
    ways = [
        JourneyEdge("own", "a", "b", 0),
        JourneyEdge("theirs", "b", "c", 1),
        JourneyEdge("theirs too", "c", "d", 1),
    ]
    tokens = {"b": 2, "c": 0, "d": 7}
    assert [(j.toll, j.points) for j in best_journeys("a", ways, tokens, 5)] == [(0, 2), (2, 9)]
    assert [(j.toll, j.points) for j in best_journeys("a", ways, tokens, 1)] == [(0, 2)]


def test_PASSENGER_2_no_route_is_used_twice() -> None:
    fork = [
        JourneyEdge("stem", "a", "b", 0),
        JourneyEdge("left", "b", "c", 0),
        JourneyEdge("right", "b", "d", 0),
    ]
    [journey] = best_journeys("a", fork, {"c": 3, "d": 4}, 0)
    assert journey == Journey(("stem", "right"), ("b", "d"), 0, 4)


def test_PASSENGER_2_a_way_that_scores_nothing_is_still_a_journey_the_cheapest() -> None:
    ways = [JourneyEdge("dear", "a", "b", 1), JourneyEdge("far", "c", "d", 0)]
    assert best_journeys("a", ways, {}, 3) == (Journey(("dear",), ("b",), 1, 0),)
    assert best_journeys("a", [*ways, JourneyEdge("own", "a", "c", 0)], {}, 3) == (
        Journey(("own",), ("c",), 0, 0),
    )
    assert best_journeys("a", ways, {"b": 7}, 0) == ()
    assert best_journeys("a", [], {"b": 7}, 3) == ()


@pytest.mark.parametrize("tolls", [1, pytest.param(0, marks=pytest.mark.long)])
def test_PASSENGER_3_a_search_without_end_ends_after_its_steps_with_a_good_journey(
    monkeypatch: pytest.MonkeyPatch, tolls: int
) -> None:
    steps = 0

    def counted(
        search: passenger_journeys._Search, walk: passenger_journeys._Walk
    ) -> Iterator[passenger_journeys._Walk]:
        nonlocal steps
        steps += 1
        for walk_made in longer(search, walk):
            made[0] += 1
            yield walk_made

    made = [0]
    longer = passenger_journeys._Search._extend
    monkeypatch.setattr(passenger_journeys._Search, "_extend", counted)
    rng = Random(tolls)
    tokens = {f"c{n}": rng.randint(0, 7) for n in range(20)}
    ways = star(20, tolls=tolls)
    found = best_journeys("c0", ways, tokens, 10)
    assert 0 < steps <= NARROW_BUDGET + MAX_EXPANSIONS
    assert made[0] <= 2 * MAX_WALKS
    reached = sorted((points for name, points in tokens.items() if name != "c0"), reverse=True)
    assert found[-1].points >= 0.9 * sum(reached[:10] if tolls else reached)
    assert found == best_journeys("c0", ways, tokens, 10)


def test_PASSENGER_3_what_a_narrow_search_found_is_never_lost(monkeypatch: pytest.MonkeyPatch) -> None:
    rng = Random(9)
    tokens = {f"c{n}": rng.randint(0, 7) for n in range(12)}
    wide = best_journeys("c0", star(12, tolls=1), tokens, 6)
    monkeypatch.setattr(passenger_journeys, "MAX_EXPANSIONS", 1)
    narrow = best_journeys("c0", star(12, tolls=1), tokens, 6)
    assert [(journey.toll, journey.points) for journey in narrow] == [(j.toll, j.points) for j in wide]
    assert len(narrow) == 6


@pytest.mark.parametrize(("passengers", "most"), [(1, 1.0), (3, 1.6), (10, 1.8)])
def test_GAME_6_the_passengers_of_a_seat_share_the_steps_of_their_searches(
    monkeypatch: pytest.MonkeyPatch, passengers: int, most: float
) -> None:
    # given a full German board, a third of it the seat's own, and ten passenger cards
    rng, steps, longer = Random(1), [0], passenger_journeys._Search._extend

    def counted(
        search: passenger_journeys._Search, walk: passenger_journeys._Walk
    ) -> Iterator[passenger_journeys._Walk]:
        steps[0] += 1
        return longer(search, walk)

    ways = [pair[rng.random() > 0.35] for pair in ways_by_route(load_board("germany")).values()]
    cities = list(dict.fromkeys(city for way in ways for city in (way.a, way.b)))
    tokens = {city: (rng.randint(2, 7),) for city in cities}
    monkeypatch.setattr(passenger_journeys._Search, "_extend", counted)
    # when
    for city in rng.sample(cities, passengers):
        assert journeys_from(city, ways, tokens, 10, passengers)
    # then
    assert steps[0] <= most * (NARROW_BUDGET + MAX_EXPANSIONS)
