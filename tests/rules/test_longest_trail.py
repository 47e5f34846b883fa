"""SCORE-3: the longest trail is exact, and its search stays small on any board."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from functools import cache
from random import Random

import pytest

from services.referee.games.trains.board import Route, load_board
from services.referee.games.trains.search import longest_trail as guesses
from services.referee.games.trains.search import sweeps
from services.referee.games.trains.search.longest_trail import longest_trail
from services.referee.games.trains.search.sweeps import Edge
from tests.long_runs import long_after
from tests.rules.hostile_networks import hostile_networks

HOSTILE = hostile_networks()
MAX_GUESSES = 150  # of a search that gives up after 100, and then looks at every network once
MAX_STATES = 6_000  # of all sweeps over one seat's routes; one takes 3 us
MAX_GAINS = 30_000  # of all sweeps; one takes 0.5 us


@contextmanager
def few_steps() -> Iterator[None]:
    """Asserts that the searches within the block take few steps: no more guesses, states and gains than those."""
    guess, sweep, gains_before = (
        guesses._Search._search,
        sweeps._Sweep.best_over,
        sweeps._gains_before,
    )
    guess_count = state_count = gain_count = 0

    def counted_guess(search: guesses._Search, *state: int) -> None:
        nonlocal guess_count
        guess_count += 1
        assert guess_count <= MAX_GUESSES
        guess(search, *state)

    def counted_sweep(search: sweeps._Sweep, best_known: int, beam: int) -> tuple[int, bool]:
        nonlocal state_count
        before = search.state_count
        found = sweep(search, best_known, beam)
        state_count += search.state_count - before
        assert state_count <= MAX_STATES
        return found

    def counted_gains(step: sweeps.Step, masks: list[int], after: sweeps.Gains) -> sweeps.Gains:
        nonlocal gain_count
        gain_count += len(masks)
        assert gain_count <= MAX_GAINS
        return gains_before(step, masks, after)

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(guesses._Search, "_search", counted_guess)
        patch.setattr(sweeps._Sweep, "best_over", counted_sweep)
        patch.setattr(sweeps, "_gains_before", counted_gains)
        yield


def longest_trail_without_guesses(edges: list[Edge]) -> int:
    """The same by sweeps alone."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(guesses, "MAX_GUESSES", 0)
        return longest_trail(edges)


def brute_force(edges: list[Edge]) -> int:
    """Every walk from every city that uses no route twice, by brute force."""

    @cache
    def onward(city: str, unused: frozenset[int]) -> int:
        best = 0
        for number in unused:
            a, b, length = edges[number]
            if city in (a, b):
                best = max(best, length + onward(b if city == a else a, unused - {number}))
        return best

    cities = {city for a, b, _ in edges for city in (a, b)}
    return max((onward(city, frozenset(range(len(edges)))) for city in cities), default=0)


def random_graph(rng: Random) -> list[Edge]:
    """A few cities, more or less densely joined; some pairs several times."""
    cities = [f"c{n}" for n in range(rng.randint(2, 8))]
    edges = []
    for _ in range(rng.randint(0, 9)):
        a, b = rng.sample(cities, 2)
        edges.append((a, b, rng.randint(1, 6)))
    return edges


@pytest.mark.parametrize("tenth", long_after(1, range(10)))
def test_SCORE_3_agrees_with_brute_force_on_small_random_graphs(tenth: int) -> None:
    rng = Random(tenth)
    for _ in range(60):
        edges = random_graph(rng)
        longest = brute_force(edges)
        assert longest_trail(edges) == longest, edges
        assert longest_trail_without_guesses(edges) == longest, edges


@pytest.mark.parametrize(
    ("edges", "longest"),
    [
        ([], 0),
        ([("a", "b", 4)], 4),
        ([("a", "b", 4), ("a", "b", 2)], 6),
        ([("a", "b", 4), ("c", "d", 5)], 5),
        ([("a", "b", 1), ("a", "c", 2), ("a", "d", 3)], 5),
        ([("a", "b", 1), ("b", "c", 1), ("c", "a", 1), ("a", "d", 2), ("a", "e", 3), ("a", "f", 4)], 10),
    ],
)
def test_SCORE_3_small_cases_by_hand(edges: list[Edge], longest: int) -> None:
    assert longest_trail(edges) == longest


def test_SCORE_3_neither_order_nor_direction_of_the_routes_matters() -> None:
    rng = Random(3)
    for _ in range(100):
        edges = filled(rng, load_board("usa").routes.values(), dense=True)
        turned = [(b, a, length) for a, b, length in edges]
        rng.shuffle(turned)
        assert longest_trail(turned) == longest_trail(edges)


def filled(rng: Random, routes: object, *, dense: bool) -> list[Edge]:
    """As many routes as 45 cars allow; dense ones join cities that are joined already."""
    assert isinstance(routes, type({}.values()))
    free: list[Route] = list(routes)
    owned: list[Edge] = []
    cars, cities = 45, set[str]()
    while free := [route for route in free if route.length <= cars]:
        inner = [route for route in free if route.a in cities and route.b in cities]
        near = [route for route in free if route.a in cities or route.b in cities]
        route = rng.choice((inner or near or free) if dense else free)
        owned.append((route.a, route.b, route.length))
        cars -= route.length
        cities |= {route.a, route.b}
        free = [other for other in free if other.id not in (route.id, *route.parallels)]
    return owned


@pytest.mark.parametrize("dense", [True, False])
def test_SCORE_3_a_sweep_and_guesses_without_limit_agree_on_full_boards(*, dense: bool) -> None:
    rng, routes = Random(45), load_board("usa").routes.values()
    for _ in range(40):
        edges = filled(rng, routes, dense=dense)
        with pytest.MonkeyPatch.context() as patch:
            patch.setattr(guesses, "MAX_GUESSES", 1_000_000)
            guessed = longest_trail(edges)
        assert longest_trail_without_guesses(edges) == guessed, edges


@pytest.mark.parametrize("dense", [True, False])
def test_SCORE_3_takes_few_steps_on_any_of_many_full_boards(*, dense: bool) -> None:
    rng, routes = Random(45), load_board("usa").routes.values()
    for _ in range(100):
        with few_steps():
            longest_trail(filled(rng, routes, dense=dense))


@pytest.mark.parametrize("name", HOSTILE)
def test_SCORE_3_takes_few_steps_on_a_board_made_to_take_many(name: str) -> None:
    with few_steps():
        longest_trail(HOSTILE[name])


@pytest.mark.parametrize(
    ("name", "longest"),
    [("K(3,11)", 24), ("K(3,13)", 28), ("K(3,17)", 36), ("K(5,10)", 42), ("K(10)", 41), ("K(9)", 36)],
)
def test_SCORE_3_on_such_a_board_the_trail_is_as_long_as_the_parity_of_its_cities_allows(
    name: str, longest: int
) -> None:
    assert longest_trail(HOSTILE[name]) == longest


def test_SCORE_3_what_lies_beyond_a_bridge_is_the_beginning_of_a_trail_or_its_end() -> None:
    far = [(f"far {a}", f"far {b}", length) for a, b, length in HOSTILE["K(7,7)"]]
    assert longest_trail(far) == 49 - 6  # of 14 odd cities two are its ends
    network = [*HOSTILE["K(3,11)"], ("h0", "far h0", 4), *far]
    # one end on either side; the bridge makes both h0 even
    assert longest_trail(network) == (33 - 10) + 4 + (49 - 6)
