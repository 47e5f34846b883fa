"""STATION-3: stations lend what makes the tickets worth the most, and no more than that."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import product
from random import Random

import pytest
from hypothesis import given
from hypothesis import strategies as some

from services.referee.games.trains.search import station_loans
from services.referee.games.trains.search.longest_trail import Networks
from services.referee.games.trains.search.station_loans import Loan, best_loans

Pair = tuple[str, str]
Ticket = tuple[str, str, int]

pair = some.tuples(some.sampled_from("abcdefgh"), some.sampled_from("abcdefgh")).filter(
    lambda p: p[0] != p[1]
)
loans = some.lists(pair, max_size=4).map(lambda pairs: [Loan(f"{n}", a, b) for n, (a, b) in enumerate(pairs)])
tickets = some.lists(some.tuples(pair, some.integers(1, 9)).map(lambda t: (*t[0], t[1])), max_size=8)


def worth(own: Sequence[Pair], choice: Sequence[Loan | None], wanted: Sequence[Ticket]) -> int:
    networks = Networks([*own, *((loan.a, loan.b) for loan in choice if loan)])
    return sum(points for a, b, points in wanted if networks.connects(a, b))


@given(some.lists(pair, max_size=5), some.lists(loans, max_size=4), tickets)
def test_STATION_3_agrees_with_trying_every_choice(
    own: list[Pair], stations: list[list[Loan]], wanted: list[Ticket]
) -> None:
    def rank(choice: Sequence[Loan | None]) -> tuple[int, int]:
        return worth(own, choice, wanted), -sum(loan is not None for loan in choice)

    every = list(product(*([*station, None] for station in stations)))
    assert best_loans(own, stations, wanted) == max(every, key=rank)  # of equals, max takes the first


@given(
    some.lists(pair, max_size=5), some.lists(loans, max_size=3), tickets, some.sets(some.sampled_from("abc"))
)
def test_STATION_3_where_there_are_countries_it_does_so_too(
    own: list[Pair], stations: list[list[Loan]], wanted: list[Ticket], countries: set[str]
) -> None:
    def rank(choice: Sequence[Loan | None]) -> tuple[int, int]:
        networks = Networks([*own, *((loan.a, loan.b) for loan in choice if loan)], countries)
        points = sum(points for a, b, points in wanted if networks.connects(a, b))
        return points, -sum(loan is not None for loan in choice)

    every = list(product(*([*station, None] for station in stations)))
    assert best_loans(own, stations, wanted, frozenset(countries)) == max(every, key=rank)


def test_STATION_3_no_loan_leads_through_a_country() -> None:
    own, wanted = [("bern", "france")], [("bern", "geneve", 8), ("geneve", "sion", 5)]
    into_geneve = [Loan("through", "france", "geneve"), Loan("on", "geneve", "sion")]
    assert best_loans(own, [into_geneve], wanted) == (into_geneve[0],)
    assert best_loans(own, [into_geneve], wanted, frozenset({"france"})) == (into_geneve[1],)


def test_STATION_3_a_lent_route_joins_two_networks_of_the_seat() -> None:
    own = [("essen", "berlin"), ("wien", "budapest")]
    into_wien = [Loan("dead end", "wien", "venezia"), Loan("link", "berlin", "wien")]
    assert best_loans(own, [into_wien], [("essen", "budapest", 8)]) == (into_wien[1],)


def test_STATION_3_a_loan_serves_all_tickets_and_the_best_sum_wins_over_the_best_ticket() -> None:
    into_roma = [Loan("dear", "roma", "palermo"), Loan("two", "roma", "venezia")]
    wanted = [("roma", "palermo", 10), ("roma", "venezia", 6), ("roma", "zagrab", 5)]
    assert best_loans([("venezia", "zagrab")], [into_roma], wanted) == (into_roma[1],)


def test_STATION_3_two_stations_together_make_what_neither_makes_alone() -> None:
    stations = [
        [Loan("near", "paris", "dieppe"), Loan("first half", "paris", "zurich")],
        [Loan("second half", "zurich", "venezia")],
    ]
    wanted = [("paris", "venezia", 9), ("paris", "dieppe", 4)]
    assert best_loans([], stations, wanted) == (stations[0][1], stations[1][0])


def test_STATION_3_nothing_is_lent_that_makes_no_further_ticket() -> None:
    assert best_loans([("a", "b")], [[Loan("twin", "a", "b"), Loan("on", "b", "c")]], [("a", "b", 7)]) == (
        None,
    )
    assert best_loans([], [], [("a", "b", 7)]) == ()
    assert best_loans([], [[]], [("a", "b", 7)]) == (None,)


def test_STATION_3_of_equals_fewest_routes_and_then_the_first() -> None:
    same = [Loan("first", "a", "b"), Loan("second", "a", "b")]
    assert best_loans([], [same, same[::-1]], [("a", "b", 7)]) == (same[0], None)
    round_about = [[Loan("a-c", "a", "c")], [Loan("c-b", "c", "b")], [Loan("a-b", "a", "b")]]
    assert best_loans([], round_about, [("a", "b", 7)]) == (None, None, round_about[2][0])


@pytest.fixture
def combinations(monkeypatch: pytest.MonkeyPatch) -> list[object]:
    """Grows by every combination that is tried."""
    tried: list[object] = []

    def counted(search: station_loans._Search, made: int, chosen: tuple[tuple[str, str] | None, ...]) -> None:
        tried.append(chosen)
        compare(search, made, chosen)

    compare = station_loans._Search._compare
    monkeypatch.setattr(station_loans._Search, "_compare", counted)
    return tried


@pytest.mark.parametrize("country", [False, True])
def test_STATION_3_four_full_stations_are_settled_in_as_many_steps_whatever_tickets_and_countries(
    combinations: list[object], *, country: bool
) -> None:
    rng, cities = Random(4), [f"c{n}" for n in range(60)]
    stations = [[Loan(f"{hub}-{far}", hub, far) for far in rng.sample(cities[4:], 7)] for hub in cities[:4]]
    pairs = [rng.sample(cities, 2) for _ in range(2_000)]
    countries = frozenset(cities[-10:] if country else ())
    best_loans([], stations, [(a, b, rng.randint(1, 100)) for a, b in pairs], countries)
    assert 2_000 < len(combinations) <= 8**4


def test_STATION_3_loans_that_lead_nowhere_are_not_even_tried(combinations: list[object]) -> None:
    stations = [[Loan(f"{hub}{n}", hub, f"{hub}{n}") for n in range(9)] for hub in "abcd"]
    assert best_loans([], stations, [("a", "b", 9)]) == (None,) * 4
    assert combinations == [(None,) * 4]
