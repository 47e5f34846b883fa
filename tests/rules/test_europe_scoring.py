"""SCORE-1 and TIE-1 in `europe`, criterion by criterion; and how long scoring takes."""

from __future__ import annotations

from random import Random
from time import thread_time
from typing import Any

import pytest

from schemas.commands import Pass
from services.referee.games import GameState
from services.referee.games.state import SeatState
from services.referee.games.trains.scoring import score
from tests.rules.given import Scene, given

Standing = list[tuple[int, int]]


def standing(scene: Scene) -> Standing:
    """Total and place of each seat, as if the game ended now."""
    return [(seat.total, seat.place) for seat in score(scene.state)]


def europe(seats: int = 2, **more: Any) -> Scene:
    more.setdefault("tickets", [[]] * seats)
    return given(seats, rules="europe", **more)


def test_TIE_1_the_points_decide_first() -> None:
    scene = europe(owners={"cadiz-lisboa-a": 1, "amsterdam-bruxelles-a": 0})
    assert standing(scene) == [(13, 2), (24, 1)]


# Joins Sofia and Smyrna, for a ticket worth 5, by 3 + 2 spaces.
SOFIA_SMYRNA = ("constantinople-sofia-a", "constantinople-smyrna-a")


def test_TIE_1_then_the_points_of_tickets_made() -> None:
    """Both have 28; seat 1 lost on its other ticket what it won by the first, and won more."""
    owners = dict.fromkeys(SOFIA_SMYRNA, 1) | {"berlin-wien-a": 0, "berlin-essen-a": 0}
    tickets = [[], ["smyrna:sofia", "angora:athina"]]  # 5 made, 5 missed
    scene = europe(owners=owners, tickets=tickets)
    first, second = score(scene.state)
    assert (first.total, second.total) == (28, 28)
    assert (first.tickets, second.tickets) == (0, 0)
    assert (first.won, second.won) == (0, 5)
    assert (first.stations, first.bonus) == (second.stations, second.bonus)
    assert standing(scene) == [(28, 2), (28, 1)]


def test_TIE_1_their_number_does_not_count() -> None:
    """Two tickets made for 5 + 5 against one for 11: the dearer one wins."""
    owners = {
        "constantinople-sofia-a": 0, "constantinople-smyrna-a": 0, "angora-constantinople-a": 0,
        "athina-smyrna-a": 0, "kobenhavn-stockholm-a": 1, "essen-kobenhavn-a": 1, "berlin-essen-a": 1,
        "berlin-wien-a": 1,
    }  # fmt: skip
    two_small = ["smyrna:sofia", "angora:athina"]
    scene = europe(owners=owners, tickets=[two_small, ["stockholm:wien"]], stations={})
    first, second = score(scene.state)
    assert (len(first.made), first.won, len(second.made), second.won) == (2, 10, 1, 11)
    level(scene.state, 0, first.total - second.total)
    assert standing(scene)[1][1] == 1
    assert standing(scene)[0][1] == 2
    assert standing(scene)[0][0] == standing(scene)[1][0]


def level(state: GameState, seat: int, ahead: int) -> None:
    """Take the lead out of the seat's account, by something that breaks no tie."""
    state.seats[seat].own.merchandise -= ahead


def test_TIE_1_then_the_points_of_unused_stations() -> None:
    """Seat 0 has four points more from routes and a station less."""
    owners = {"berlin-wien-a": 0, "danzig-warszawa-a": 0, "budapest-zagrab-a": 1, "kharkov-rostov-a": 1}
    owners |= {"cadiz-lisboa-a": 0, "brest-dieppe-a": 0}
    scene = europe(owners=owners, stations={"roma": (0, None)})
    first, second = score(scene.state)
    assert (first.won, second.won, first.stations, second.stations) == (0, 0, 8, 12)
    level(scene.state, 0, first.total - second.total)
    (total, place), (other, winner) = standing(scene)
    assert (total, place, winner) == (other, 2, 1)


def test_TIE_1_then_the_bonus_for_the_longest_route() -> None:
    """Ten points more from short routes that don't touch, against the bonus."""
    apart = ("berlin-wien-a", "cadiz-lisboa-a", "brest-dieppe-a", "roma-venezia-a", "kharkov-rostov-a")
    owners = dict.fromkeys(apart, 0) | {"angora-erzurum-a": 1, "angora-constantinople-a": 1}
    scene = europe(owners=owners)
    first, second = score(scene.state)
    assert (first.bonus, second.bonus, first.stations, second.stations) == (0, 10, 12, 12)
    level(scene.state, 0, first.total - second.total)
    (total, place), (other, winner) = standing(scene)
    assert (total, place, winner) == (other, 2, 1)


def test_TIE_1_what_is_still_tied_shares_the_place() -> None:
    scene = europe(3, owners={"cadiz-lisboa-a": 0, "brest-dieppe-a": 2})
    assert standing(scene) == [(24, 1), (12, 3), (24, 1)]


def test_TIE_1_the_criteria_count_in_their_order() -> None:
    """Seat 1 has the dearer ticket, seat 0 the unused station and the longest trail."""
    owners = dict.fromkeys(SOFIA_SMYRNA, 1) | {
        "danzig-riga-a": 0,
        "danzig-warszawa-a": 0,
        "warszawa-wilno-a": 0,
    }
    scene = europe(owners=owners, tickets=[[], ["smyrna:sofia"]], stations={"roma": (1, None)})
    first, second = score(scene.state)
    assert (first.won, first.stations, first.bonus) == (0, 12, 10)
    assert (second.won, second.stations, second.bonus) == (5, 8, 0)
    level(scene.state, 0, first.total - second.total)
    (total, place), (other, winner) = standing(scene)
    assert (total, place, winner) == (other, 2, 1)


def test_SCORE_1_route_points_are_recounted() -> None:
    scene = europe(owners={"petrograd-stockholm-a": 0, "palermo-smyrna-a": 1})
    assert [seat.routes for seat in score(scene.state)] == [21, 15]
    scene.seat_state(0).own.points += 1
    with pytest.raises(AssertionError, match="SCORE-1"):
        score(scene.state)


# -- how long it takes -----------------------------------------------------------------------------


def crowded(seed: int) -> GameState:
    """Five seats own everything between them, and each has three stations and ten tickets."""
    rng = Random(seed)
    state = europe(5).state
    for route in rng.sample(sorted(state.own.board.routes), len(state.own.board.routes)):
        able = [seat for seat, seat_state in enumerate(state.seats) if fits(seat_state, state, route)]
        if able:
            seat = rng.choice(able)
            state.seats[seat].own.cars -= state.own.board.routes[route].length
            lay(state, route, seat)
    busiest = sorted(state.own.board.cities, key=lambda city: -busy(state, city))
    tickets = rng.sample(sorted(state.own.board.tickets), 46)
    for seat, seat_state in enumerate(state.seats):
        seat_state.own.tickets = [*tickets[seat * 9 : seat * 9 + 9]]
        for city in busiest[seat:15:5]:
            state.own.station_owners[city], seat_state.own.stations[city] = seat, None
    return state


def fits(seat_state: SeatState, state: GameState, route: str) -> bool:
    return (
        seat_state.own.cars >= state.own.board.routes[route].length
        and route not in seat_state.own.blocked_parallels
    )


def lay(state: GameState, name: str, seat: int) -> None:
    seat_state, route = state.seats[seat], state.own.board.routes[name]
    seat_state.own.routes.append(name)
    seat_state.own.blocked_parallels.update(route.parallels)
    seat_state.own.points += state.rule_options.route_points[route.length - 1] or 0
    state.own.route_owners[name] = seat


def busy(state: GameState, city: str) -> int:
    return sum(city in (route.a, route.b) for route in state.own.board.routes.values())


def test_STATION_3_fifteen_stations_are_resolved_and_all_is_scored_in_a_tenth_of_a_second() -> None:
    lent = 0
    for state in map(crowded, range(5)):
        assert sum(len(seat_state.own.stations) for seat_state in state.seats) == 15
        assert len(state.own.route_owners) > 60
        times = []
        for _ in range(3):
            began = thread_time()
            scores = score(state)
            times.append(thread_time() - began)
        assert min(times) < 0.1, times
        lent += sum(loan is not None for seat in scores for loan in seat.lent)
    assert lent


def swiss(*, longest: tuple[int, int], options: dict[str, Any] | None = None, **laid: Any) -> Scene:
    """On a board with countries, where the seats' longest routes are so long."""
    scene = europe(board="switzerland", options=options, **laid)
    assert tuple(seat.longest for seat in score(scene.state)) == longest
    return scene


def test_SCORE_3_the_longest_route_ends_in_a_country_and_does_not_go_through() -> None:
    """Both seats' routes meet only in Italia: 3 + 2 spaces, and 2 + 3."""
    first = {"brig-italia-a": 0, "italia-lugano-a": 0}
    swiss(longest=(3, 3), owners={**first, "brusio-italia-a": 1, "davos-italia-a": 1})


def test_SCORE_3_both_ends_of_it_may_be_countries() -> None:
    swiss(longest=(6, 0), owners={"davos-italia-a": 0, "davos-osterreich-a": 0})


def test_STATION_3_a_station_does_not_lend_what_would_lead_through_a_country() -> None:
    """Genève - France would make Basel - Genève, worth 13, if France were a city."""
    scene = swiss(
        longest=(4, 1),
        options={"station_costs": [1], "station_points": 4},
        owners={"basel-delemont-a": 0, "delemont-france-a": 0, "france-geneve-a": 1},
        tickets=[["basel:geneve"], []],
        stations={"geneve": (0, None)},
    )
    seat = score(scene.state)[0]
    assert (seat.lent, seat.made) == ((None,), ())


def test_STATION_3_but_another_one_that_helps() -> None:
    scene = swiss(
        longest=(6, 5),
        options={"station_costs": [1], "station_points": 4},
        owners={
            "basel-delemont-a": 0, "delemont-france-a": 0, "france-geneve-a": 1, "geneve-lausanne-a": 1,
            "lausanne-martigny-a": 0, "martigny-sion-a": 0,
        },
        tickets=[["basel:geneve", "geneve:sion"], []],
        stations={"geneve": (0, None)},
    )  # fmt: skip
    assert score(scene.state)[0].lent == ("geneve-lausanne-a",)


def test_CONDUCT_2_a_removed_seat_scores_nothing_for_stations_built_or_not() -> None:
    owners = {"cadiz-lisboa-a": 0, "amsterdam-bruxelles-a": 1}
    scene = europe(3, options={"strict": True}, owners=owners, stations={"roma": (0, None)})
    assert [seat.stations for seat in score(scene.state)] == [8, 12, 12]
    scene.when(0, Pass())
    removed, *others = score(scene.state)
    assert (removed.routes, removed.tickets, removed.stations, removed.bonus, removed.total) == (
        0,
        0,
        0,
        0,
        0,
    )
    assert [seat.stations for seat in others] == [12, 12]
    assert removed.place == 3
