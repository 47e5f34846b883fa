"""A plain second referee, written from the rule pages alone, agrees with the core on whole games, and finds
faults that are planted in their logs."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from functools import cache
from itertools import permutations
from pathlib import Path
from random import Random

import pytest

from tests.process_faults.seeds import SEED, SOAK, run_seed
from tests.rules.fault_planting import Fault, Log
from tests.rules.finished_games import Kind, play_game
from tests.rules.plain.table import Difference
from tests.rules.plain.ways import Edge, longest_simple_path, longest_trail
from tests.rules.plain_referee import PublicEntry, differences, read_entries
from tests.rules.planted_faults import ALL_FAULTS

RULESETS = ("usa", "europe", "marklin", "trains")
GAMES_SHORT, GAMES_LONG, GAMES_SOAK, GAMES_AT_ONCE = 4, 44, 2000, 40  # of each ruleset
PLANTED = 100
GAMES_MOST = 50  # of a rare kind, to plant a fault in


def game_numbers() -> Iterator[object]:
    """Which games of which ruleset a case plays: a few in the short run, in a soak all."""
    for rules in RULESETS:
        first = 0
        if not SOAK:
            yield pytest.param(rules, range(GAMES_SHORT), id=f"{rules}-short")
            first = GAMES_SHORT
        for start in range(first, GAMES_SOAK if SOAK else GAMES_LONG, GAMES_AT_ONCE):
            numbers = range(start, start + GAMES_AT_ONCE)
            yield pytest.param(rules, numbers, id=f"{rules}-{start}", marks=pytest.mark.long)


@cache
def entries_of(rules: str, number: int, kind: Kind | None = None) -> list[PublicEntry]:
    """One of the games of the short run, or of a kind that it may not have."""
    return read_entries(play_game(rules, f"{SEED} {number}", kind))


# -- the two referees --------------------------------------------------------------------------


@pytest.mark.parametrize(("rules", "numbers"), [*game_numbers()])
def test_the_plain_referee_agrees_with_the_core(rules: str, numbers: range) -> None:
    """Payments, cards turned up, tunnels, journeys, turns, tickets, loans, bonuses, places: every event."""
    seed = run_seed()
    found: dict[int, list[Difference]] = {}
    for number in numbers:
        if wrong := differences(read_entries(play_game(rules, f"{seed} {number}"))):
            found[number] = wrong[:3]
    assert found == {}


def test_the_plain_referee_shares_no_code_with_the_core() -> None:
    modules = [
        Path(__file__).with_name("plain_referee.py"),
        *(Path(__file__).with_name("plain")).glob("*.py"),
    ]
    imported = set()
    for module in modules:
        for node in ast.walk(ast.parse(module.read_text(encoding="utf-8"))):
            if isinstance(node, ast.Import):
                imported |= {alias.name for alias in node.names}
            elif isinstance(node, ast.ImportFrom):
                imported.add(str(node.module))
    assert len(modules) > 10
    ours = {name for name in imported if name.split(".")[0] in ("services", "schemas", "tests", "deploy")}
    assert [name for name in ours if not name.startswith("tests.rules.plain.")] == []


# -- planted faults ----------------------------------------------------------------------------


def test_the_plain_referee_finds_100_planted_faults() -> None:
    """Each kind of fault is planted once or more, each time in another place. It counts as found if a
    difference names a rule of the fault, and none is found before its entry."""
    unseen = []
    assert len(ALL_FAULTS) <= PLANTED
    for number in range(PLANTED):
        fault = ALL_FAULTS[number % len(ALL_FAULTS)]
        place, log = plant(fault, Random(f"{SEED} {number}"))
        found = differences(log.read())
        if not fault.rules & {wrong.rule for wrong in found} or min(wrong.entry for wrong in found) < place:
            unseen.append((fault.name, place, found[:2]))
    assert unseen == []


def plant(fault: Fault, rng: Random) -> tuple[int, Log]:
    """The fault in one of the games that it can be planted in, and the first entry that can show it."""
    games: list[tuple[str, int, Kind | None]] = [(r, n, None) for n in range(GAMES_SHORT) for r in RULESETS]
    rng.shuffle(games)
    for number in range(GAMES_MOST):
        games += [("usa", number, "close"), ("europe", number, "stations")]
    for game in games:
        log = Log(entries_of(*game), rng)
        place = fault.plant(log)
        if place is not None:
            return place, log
    raise AssertionError(f"no game to plant in: {fault.name}")


# -- the plain searches ------------------------------------------------------------------------


def random_edges(rng: Random) -> list[Edge]:
    places = "abcdefg"[: rng.randrange(3, 7)]
    return [(*rng.sample(places, 2), rng.randrange(1, 7)) for _ in range(rng.randrange(1, 7))]  # type: ignore[misc]  # sample gives two


def spaces_along(edges: list[Edge], *, once: bool) -> int:
    """The most spaces of any order of the edges that hangs together, from either end of the first; `once`
    if no place may come twice."""
    most = 0
    for order in permutations(edges):
        for start in order[0][:2]:
            at, seen, spaces = start, {start}, 0
            for a, b, length in order:
                if at not in (a, b):
                    break
                at = b if at == a else a
                if once and at in seen:
                    break
                seen.add(at)
                spaces += length
                most = max(most, spaces)
    return most


@pytest.mark.parametrize("seed", range(40))
def test_SCORE_3_the_plain_searches_find_the_longest_of_all_orders(seed: int) -> None:
    edges = random_edges(Random(seed))
    assert longest_trail(edges) == spaces_along(edges, once=False)
    assert longest_simple_path(edges) == spaces_along(edges, once=True)


def test_SCORE_3_the_worked_example_of_trains() -> None:
    edges = [("a", "b", 3), ("b", "c", 4), ("c", "a", 5), ("c", "d", 3)]
    assert longest_simple_path(edges) == 11
    assert longest_trail(edges) == 15
