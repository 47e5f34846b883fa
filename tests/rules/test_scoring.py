"""SCORE-1, 2, 3 and TIE-1: the final scores."""

from __future__ import annotations

from dataclasses import replace

import pytest

from schemas.commands import Leave
from schemas.events import GameEnded
from schemas.trains.events import TrainScore
from services.gateway.models.trains import TableState
from services.referee.games import evolve
from services.referee.games.trains.board import build_board
from services.referee.games.trains.scoring import routes_of_longest, score
from services.tables.table_fold import FoldedTable
from tests.rules.given import NEW_YORK, TORONTO, given

ATLANTIC = ("montreal-new-york-a", "new-york-washington-a")  # Montreal to Washington, 3 + 2 spaces
TO_NEW_YORK = ("atlanta-raleigh-a", "raleigh-washington-a", "new-york-washington-a")
TO_EL_PASO = ("denver-santa-fe-a", "el-paso-santa-fe-a")  # 4 spaces
APART = (
    "boston-montreal-a", "duluth-omaha-a", "atlanta-charleston-a", "chicago-saint-louis-a",
    "dallas-oklahoma-city-a", "denver-santa-fe-a", "las-vegas-los-angeles-a",
)  # fmt: skip  # of two spaces each, and none meets another
CIRCLE = ("atlanta-charleston-a", "charleston-miami-a", "atlanta-miami-a")  # 2 + 4 + 5 spaces


def scores(*routes: tuple[str, ...], tickets: tuple[tuple[str, ...], ...] = ()) -> tuple[TrainScore, ...]:
    """The scores of seats that own these routes and hold these tickets."""
    owners = {route: seat for seat, owned in enumerate(routes) for route in owned}
    held = [*tickets, *[()] * (len(routes) - len(tickets))]
    return score(given(len(routes), owners=owners, tickets=held).state)


def places_of(*routes: tuple[str, ...], tickets: tuple[tuple[str, ...], ...] = ()) -> list[int]:
    return [seat.place for seat in scores(*routes, tickets=tickets)]


def test_SCORE_1_routes_score_as_claimed() -> None:
    first, second = scores((NEW_YORK, "boston-montreal-a"), ("duluth-helena-a",))
    assert (first.routes, second.routes) == (4 + 2, 15)


def test_SCORE_1_the_points_as_claimed_are_compared_with_the_recount() -> None:
    scene = given(2, owners={NEW_YORK: 0})
    assert score(scene.state)[0].routes == scene.seat_state(0).own.points == 4
    scene.seat_state(0).own.points += 1
    with pytest.raises(AssertionError):
        score(scene.state)


def test_SCORE_2_a_ticket_is_made_if_the_seats_own_routes_join_its_cities() -> None:
    made, missed = scores(TO_NEW_YORK, (), tickets=(("atlanta:new-york",), ("atlanta:new-york",)))
    assert (made.made, made.missed, made.tickets) == (("atlanta:new-york",), (), 6)
    assert (missed.made, missed.missed, missed.tickets) == ((), ("atlanta:new-york",), -6)


def test_SCORE_2_routes_of_other_seats_join_nothing() -> None:
    first, _ = scores(
        ("atlanta-raleigh-a", "new-york-washington-a"),
        ("raleigh-washington-a",),
        tickets=(("atlanta:new-york",),),
    )
    assert first.missed == ("atlanta:new-york",)


def test_SCORE_2_tickets_made_count_for_and_missed_ones_against() -> None:
    first, _ = scores(TO_NEW_YORK, (), tickets=(("atlanta:new-york", "boston:miami"),))
    assert (first.tickets, first.made, first.missed) == (6 - 12, ("atlanta:new-york",), ("boston:miami",))
    assert first.total == first.routes + first.tickets + first.bonus


def test_SCORE_3_the_most_spaces_along_a_trail_get_ten() -> None:
    first, second = scores(ATLANTIC, (TORONTO,))
    assert (first.longest, first.bonus) == (5, 10)
    assert (second.longest, second.bonus) == (3, 0)


def test_SCORE_3_a_trail_may_meet_a_city_twice_but_no_route() -> None:
    first, second = scores((*CIRCLE, "atlanta-nashville-a"), (NEW_YORK, TORONTO, "boston-montreal-a"))
    assert first.longest == 2 + 4 + 5 + 1
    assert second.longest == 6


@pytest.mark.parametrize("owned", [(*CIRCLE, *TO_EL_PASO), (*APART, *TO_NEW_YORK), ATLANTIC])
def test_SCORE_3_the_routes_of_the_longest_trail_make_it_and_no_more(owned: tuple[str, ...]) -> None:
    state = given(2, owners=dict.fromkeys(owned, 0)).state
    trail = routes_of_longest(state, state.seats[0])
    spaces = sum(state.own.board.routes[name].length for name in trail)
    assert set(trail) <= set(owned)
    assert spaces == score(state)[0].longest
    assert routes_of_longest(state, state.seats[1]) == []


@pytest.mark.parametrize(("board", "shows"), [("usa", True), ("of one's own", False)])
def test_SCORE_3_the_table_draws_the_longest_trail_on_a_built_in_board(board: str, shows: bool) -> None:
    state = given(2, owners=dict.fromkeys(ATLANTIC, 0)).state
    state.own.board = (
        state.own.board if board == "usa" else build_board(replace(state.own.board.form, title="Mine"))
    )
    evolve(state, GameEnded("last_turns", score(state)))
    folded = FoldedTable("a-game", 0)
    folded.state, folded.number = state, 2
    table = folded.table(0)
    assert isinstance(table, TableState) and table.result
    assert (table.result[0].bonus, bool(table.result[0].trail)) == (10, shows)


def test_SCORE_3_all_tied_seats_get_the_bonus() -> None:
    assert [seat.bonus for seat in scores((NEW_YORK,), (TORONTO,), ("boston-montreal-a",))] == [10, 10, 0]


def test_SCORE_3_nobody_gets_it_at_zero() -> None:
    assert [seat.bonus for seat in scores((), ())] == [0, 0]


def test_SCORE_3_the_bonus_is_a_rule_option() -> None:
    scene = given(2, owners={NEW_YORK: 0}, tickets=[[], []], options={"longest_bonus": 3})
    assert score(scene.state)[0].total == 7


def test_TIE_1_more_points_come_first() -> None:
    assert places_of((), ("duluth-helena-a",), (NEW_YORK,)) == [3, 1, 2]


def tied(*, last: tuple[str, ...], first: tuple[str, ...], ticket: str | None, bonus: int) -> None:
    """Two seats have as many points, and yet the second is placed before the first."""
    owners = {**dict.fromkeys(last, 0), **dict.fromkeys(first, 1)}
    held: list[list[str]] = [[], [ticket] if ticket else []]
    scene = given(2, owners=owners, tickets=held, options={"longest_bonus": bonus})
    loser, winner = score(scene.state)
    assert loser.total == winner.total
    assert (loser.place, winner.place) == (2, 1)


def test_TIE_1_equal_totals_go_by_tickets_made() -> None:
    last = ("helena-winnipeg-a", "atlanta-nashville-a")  # 7 + 1 points
    tied(last=last, first=TO_EL_PASO, ticket="denver:el-paso", bonus=0)  # 2 + 2 + 4


def test_TIE_1_then_by_the_holder_of_the_longest_route() -> None:
    tied(last=APART, first=(NEW_YORK,), ticket=None, bonus=10)  # seven times 2; 4 + 10


def test_TIE_1_tickets_made_count_before_the_longest_route() -> None:
    first = (*TO_EL_PASO, "helena-winnipeg-a", "atlanta-nashville-a")  # 2 + 2 + 7 + 1, and the ticket's 4
    tied(last=ATLANTIC, first=first, ticket="denver:el-paso", bonus=10)  # 4 + 2 + 10


def test_TIE_1_what_is_still_tied_shares_the_place() -> None:
    assert places_of((NEW_YORK,), (TORONTO,), ()) == [1, 1, 3]


def test_TIE_1_places_are_in_the_event_that_ends_the_game() -> None:
    scene = given(2, owners={NEW_YORK: 1}, tickets=[[], []]).when(1, Leave()).when(0, Leave())
    end = scene.only(GameEnded)
    assert [(seat.seat, seat.total, seat.place) for seat in end.scores] == [(0, 0, 2), (1, 14, 1)]


def test_TIE_1_the_longest_trail_breaks_a_tie_though_it_earns_nothing() -> None:
    scene = given(
        options={"longest_bonus": 0},
        tickets=[(), ()],
        owners={
            "atlanta-charleston-a": 0,
            "charleston-raleigh-a": 0,
            "boston-montreal-a": 1,
            "las-vegas-los-angeles-a": 1,
        },
    )
    assert [(s.total, s.longest, s.place) for s in score(scene.state)] == [(4, 4, 1), (4, 2, 2)]
