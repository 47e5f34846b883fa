"""A tournament's schedule and figures: every deal in every seating, intervals over seed blocks."""

from __future__ import annotations

from collections import Counter
from random import Random

import pytest

from schemas.errors import InvalidInputError
from services.tournament.game_results import GameResult, SeatResult, csv_rows
from services.tournament.report_page import render_page
from services.tournament.schedule import list_seatings, plan_games
from services.tournament.standings import compute_standings, estimate


def seat(policy: str, place: int, total: int = 0, made: int = 0, missed: int = 0) -> SeatResult:
    return SeatResult(policy, place, total, total, 0, 0, 0, 0, made, missed)


def game(block: int, *seats: SeatResult) -> GameResult:
    return GameResult(block, f"s/{block}", None, seats)


# -- the schedule ----------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("policies", "seats", "seatings"), [(2, 2, 2), (3, 2, 6), (4, 3, 12), (2, 4, 2), (1, 3, 1)]
)
def test_a_block_has_every_seating_once(policies: int, seats: int, seatings: int) -> None:
    names = "abcd"[:policies]
    found = list_seatings(names, seats)
    assert len(found) == len(set(found)) == seatings
    at_each_seat = [Counter(seating[place] for seating in found) for place in range(seats)]
    assert all(counts == at_each_seat[0] for counts in at_each_seat)


def test_blocks_are_whole_and_each_has_one_deal() -> None:
    planned = plan_games(["a", "b", "c"], 2, 8, "x")
    assert len(planned) == 12
    assert {(each.block, each.seed) for each in planned} == {(0, "x/0"), (1, "x/1")}


@pytest.mark.parametrize(
    ("policies", "seats", "field"), [(["a", "a"], 2, "--policies"), (["a"], 1, "--seats")]
)
def test_a_senseless_schedule_is_refused(policies: list[str], seats: int, field: str) -> None:
    with pytest.raises(InvalidInputError) as error:
        plan_games(policies, seats, 1, "x")
    assert error.value.field == field


# -- the figures -----------------------------------------------------------------------------


def test_the_interval_is_over_blocks_not_over_games() -> None:
    """Two blocks of a hundred equal games are two observations."""
    few, many = estimate([[0.0], [1.0]]), estimate([[0.0] * 100, [1.0] * 100])
    assert few == many
    assert few.mean == 0.5 and few.margin == pytest.approx(1.96 * 0.5, rel=0.001)
    assert estimate([[1.0, 0.0], []]).margin is None


def test_shared_first_places_count_in_parts() -> None:
    results = [game(0, seat("a", 1, 90), seat("b", 1, 90)), game(1, seat("a", 1, 80), seat("b", 2, 70))]
    standings = compute_standings(results)
    assert {each.policy: each.win_rate.mean for each in standings.policies} == {"a": 0.75, "b": 0.25}
    assert standings.beats == {("a", "b"): 0.75, ("b", "a"): 0.25}
    assert standings.winner_score.mean == 85
    assert standings.policies[0].rating > standings.policies[1].rating


def test_tickets_count_as_shares_and_a_seat_without_any_does_not() -> None:
    results = [game(0, seat("a", 1, 9, made=3, missed=1), seat("b", 2)), game(1, seat("a", 1), seat("b", 2))]
    made = {each.policy: each.tickets_made.mean for each in compute_standings(results).policies}
    assert made == {"a": 0.75, "b": 0.0}


def test_the_order_in_which_processes_finish_changes_nothing() -> None:
    rng = Random(1)
    results = [game(n, seat("a", 1 + n % 2, rng.randrange(90)), seat("b", 2 - n % 2, 50)) for n in range(9)]
    assert compute_standings(results) == compute_standings(rng.sample(results, 9))


# -- what is written -------------------------------------------------------------------------


def test_there_is_a_row_for_every_seat() -> None:
    rows = csv_rows([game(0, seat("a", 1, 90, 2, 1), seat("b", 2, 70))])
    assert [(row["seat"], row["policy"], row["total"], row["made"]) for row in rows] == [
        (0, "a", 90, 2),
        (1, "b", 70, 0),
    ]


def test_the_page_has_its_charts_and_asks_nothing_of_another_host() -> None:
    results = [
        game(n, seat("a", 1, 90 + n, 2), SeatResult("b", 2, -20, 30, -50, 0, 0, 0, 0, 3)) for n in range(3)
    ]
    page = render_page("<b>", "usa & more.", results, compute_standings(results))
    assert page.count("<svg") == 5 + 2 * 2  # the key, and two charts for each policy
    assert "http" not in page and "<b>" not in page and "usa &amp; more" in page
    assert "tickets: -50.0 points" in page
