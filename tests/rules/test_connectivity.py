"""SCORE-2: a ticket is made by a path that passes through no country."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as some

from services.referee.games.trains.search.longest_trail import Networks

Pair = tuple[str, str]
PLACES = "abcdefgXYZ"
COUNTRIES = frozenset("XYZ")
place = some.sampled_from(PLACES)
networks = some.lists(some.tuples(place, place).filter(lambda pair: pair[0] != pair[1]), max_size=12)


def walked(routes: list[Pair], countries: frozenset[str], start: str) -> set[str]:
    """All places that can be reached from this one, without going through a country."""
    seen, waiting = {start}, [start]
    while waiting:
        current = waiting.pop()
        for a, b in (*routes, *((b, a) for a, b in routes)):
            if a == current and b not in seen:
                seen.add(b)
                waiting += [] if b in countries else [b]
    return seen


@given(networks, some.sampled_from([COUNTRIES, frozenset("")]))
def test_SCORE_2_joins_what_a_walk_that_stops_at_countries_reaches(
    routes: list[Pair], countries: frozenset[str]
) -> None:
    joined = Networks(routes, countries)
    for start in PLACES:
        reached = walked(routes, countries, start)
        assert {other for other in PLACES if joined.connects(start, other)} == reached


def test_SCORE_2_cities_of_one_network_are_joined_and_others_are_not() -> None:
    joined = Networks([("koeln", "mainz"), ("mainz", "ulm"), ("kiel", "emden")])
    assert joined.connects("ulm", "koeln")
    assert not joined.connects("ulm", "kiel")
    assert not joined.connects("ulm", "berlin")


def test_SCORE_2_a_country_is_an_end_point() -> None:
    joined = Networks([("ulm", "lindau"), ("lindau", "schweiz")], {"schweiz"})
    assert joined.connects("ulm", "schweiz")
    assert joined.connects("schweiz", "ulm")


def test_SCORE_2_no_path_passes_through_a_country() -> None:
    joined = Networks([("ulm", "schweiz"), ("schweiz", "konstanz")], {"schweiz"})
    assert not joined.connects("ulm", "konstanz")


def test_SCORE_2_two_countries_are_joined_by_a_route_or_through_cities_but_not_through_a_third() -> None:
    routes = [
        ("schweiz", "ulm"),
        ("ulm", "passau"),
        ("passau", "austria"),
        ("schweiz", "france"),
        ("dk", "dk2"),
    ]
    joined = Networks(routes, {"schweiz", "austria", "france", "dk", "dk2"})
    assert joined.connects("schweiz", "austria")
    assert joined.connects("schweiz", "france")
    assert joined.connects("dk2", "dk")
    assert not joined.connects("france", "austria")
    assert not joined.connects("dk", "austria")
