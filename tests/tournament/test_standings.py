"""A tournament's schedule and figures: every deal in every seating, intervals over seed blocks."""

from __future__ import annotations

from collections import Counter
from dataclasses import astuple
from math import log10
from random import Random
from statistics import NormalDist

import pytest

from schemas.errors import InvalidInputError
from services.tournament.game_results import GameResult, SeatResult, csv_rows, list_seatings, plan_games
from services.tournament.report_page import render_page
from services.tournament.standings import (
    Estimate,
    compute_standings,
    estimate_mean,
    estimate_share,
    student_t,
    wilson,
)


def seat(policy: str, place: int, total: int = 0, made: int = 0, missed: int = 0) -> SeatResult:
    parts = {"routes": total, "tickets": 0, "bonuses": 0, "stations": 0, "merchandise": 0}
    return SeatResult(policy, place, total, parts, {"tickets made": (made, made + missed)})


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
    few, many = estimate_mean([[0.0], [1.0]]), estimate_mean([[0.0] * 100, [1.0] * 100])
    assert few == many
    assert (few.mean, few.low, few.high) == pytest.approx((0.5, 0.5 - 12.706 / 2, 0.5 + 12.706 / 2), abs=1e-3)
    assert estimate_mean([[1.0, 0.0]]) == Estimate(0.5, None, None)


@pytest.mark.parametrize(
    ("freedom", "quantile"),
    [(1, 12.706), (2, 4.303), (3, 3.182), (4, 2.776), (9, 2.262), (30, 2.042), (99, 1.984), (10**6, 1.962)],
)
def test_few_blocks_have_the_quantile_of_students_t(freedom: int, quantile: float) -> None:
    assert student_t(freedom) == pytest.approx(quantile, abs=5e-4)


def test_all_games_won_have_an_interval_and_none_goes_past_all_or_nothing() -> None:
    won, lost = ([[(each, 1), (each, 1)]] * 100 for each in (1, 0))
    assert astuple(estimate_share(won)) == pytest.approx((1.0, 0.9807, 1.0), abs=1e-4)
    assert astuple(estimate_share(lost)) == pytest.approx((0.0, 0.0, 0.0193), abs=1e-4)
    rng = Random(3)
    for blocks in range(2, 40):
        share = estimate_share([[(rng.choice((0, 0.5, 1)), 1) for _ in range(2)] for _ in range(blocks)])
        assert share.low is not None and share.high is not None
        assert 0 <= share.low <= share.mean <= share.high <= 1
        assert share.high - share.low > 1 / blocks


def test_wilsons_interval_is_that_of_the_books() -> None:
    """Newcombe 1998, table I: 81 of 263, 15 of 148, 0 of 20, 1 of 29."""
    z = NormalDist().inv_cdf(0.975)
    rows = [
        (81, 263, 0.2553, 0.3662),
        (15, 148, 0.0624, 0.1605),
        (0, 20, 0.0, 0.1611),
        (1, 29, 0.0061, 0.1718),
    ]
    for won, games, low, high in rows:
        assert wilson(won / games, games, z) == pytest.approx((low, high), abs=5e-5)


def test_the_interval_of_a_share_holds_it_nineteen_times_of_twenty() -> None:
    """Blocks of two games that share their luck, of a policy that wins 80 %."""
    rng, held = Random(5), 0
    for _ in range(1_000):
        blocks = []
        for _ in range(12):
            luck = rng.gauss(0, 0.5)
            blocks.append([(int(luck + rng.gauss(0, 1) < 0.9409), 1) for _ in range(2)])
        share = estimate_share(blocks)
        assert share.low is not None and share.high is not None
        held += share.low <= 0.8 <= share.high
    assert held >= 930


def test_shared_first_places_count_in_parts() -> None:
    results = [game(0, seat("a", 1, 90), seat("b", 1, 90)), game(1, seat("a", 1, 80), seat("b", 2, 70))]
    standings = compute_standings(results)
    assert {each.policy: each.win_rate.mean for each in standings.policies} == {"a": 0.75, "b": 0.25}
    assert standings.beats == {("a", "b"): 0.75, ("b", "a"): 0.25}
    assert standings.winner_score.mean == 85
    assert standings.policies[0].rating > standings.policies[1].rating


def test_tickets_count_as_shares_and_a_seat_without_any_does_not() -> None:
    results = [game(0, seat("a", 1, 9, made=3, missed=1), seat("b", 2)), game(1, seat("a", 1), seat("b", 2))]
    policies = compute_standings(results).policies
    made = {each.policy: each.shares["tickets made"].mean for each in policies}
    assert made == {"a": 0.75, "b": 0.0}


def test_tickets_made_are_the_share_of_all_tickets() -> None:
    results = [
        game(0, seat("a", 1, 9, made=1), seat("b", 2)),
        game(1, seat("a", 1, 9, missed=9), seat("b", 2)),
    ]
    (a, _) = compute_standings(results).policies
    assert a.shares["tickets made"].mean == 0.1


def test_a_game_in_which_nothing_else_is_counted_has_no_shares() -> None:
    (alone,) = compute_standings([game(0, seat("a", 1))]).policies
    assert alone.shares == {}


def test_ratings_do_not_depend_on_the_order_of_games() -> None:
    """Whichever block a game is in."""
    rng, names = Random(2), "abc"
    games = [(rng.sample(names, 2), rng.choice(((1, 2), (2, 1), (1, 1)))) for _ in range(60)]
    ratings = [
        {each.policy: each.rating for each in compute_standings(results).policies}
        for order in range(3)
        for results in [
            [
                game(block, *(map(seat, players, places)))
                for block, (players, places) in enumerate(Random(order).sample(games, 60))
            ]
        ]
    ]
    assert ratings[0] == ratings[1] == ratings[2]
    assert sum(ratings[0].values()) == pytest.approx(3 * 1500)


def test_a_rating_says_how_often_one_ends_above_another() -> None:
    """Elo: 400 points are ten to one; 21 meetings and one more tie."""
    results = [game(n, seat("a", 1 + (n < 2)), seat("b", 2 - (n < 2))) for n in range(21)]
    a, b = (each.rating for each in compute_standings(results).policies)
    assert a - b == pytest.approx(400 * log10(19.5 / 2.5))
    alone = compute_standings([game(0, seat("a", 1), seat("a", 2))])
    assert [each.rating for each in alone.policies] == [1500]


def test_the_order_in_which_processes_finish_changes_nothing() -> None:
    rng = Random(1)
    results = [game(n, seat("a", 1 + n % 2, rng.randrange(90)), seat("b", 2 - n % 2, 50)) for n in range(9)]
    assert compute_standings(results) == compute_standings(rng.sample(results, 9))


# -- what is written -------------------------------------------------------------------------


def test_there_is_a_row_for_every_seat() -> None:
    rows = csv_rows([game(0, seat("a", 1, 90, 2, 1), seat("b", 2, 70))])
    assert [
        (row["seat"], row["policy"], row["total"], row["tickets made"], row["tickets made of"])
        for row in rows
    ] == [
        (0, "a", 90, 2, 3),
        (1, "b", 70, 0, 0),
    ]


def test_the_page_has_its_charts_and_asks_nothing_of_another_host() -> None:
    results = [
        game(
            n,
            seat("a", 1, 90 + n, 2),
            SeatResult("b", 2, -20, {"routes": 30, "tickets": -50}, {"tickets made": (0, 3)}),
        )
        for n in range(3)
    ]
    page = render_page("<b>", "usa & more.", results, compute_standings(results))
    assert page.count("<svg") == 5 + 2 * 2  # the key, and two charts for each policy
    assert "http" not in page and "<b>" not in page and "usa &amp; more" in page
    assert "tickets: -50.0 points" in page and "<th>tickets made %</th>" in page
