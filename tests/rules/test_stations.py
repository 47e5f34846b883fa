"""STATION-1 to STATION-4 and SCORE-5: building stations, and what they are worth at the end."""

from __future__ import annotations

from itertools import combinations_with_replacement
from typing import Any

import pytest

from schemas.commands import Leave, Pass
from schemas.events import CommandRefused, GameEnded, TurnStarted
from schemas.trains.commands import BuildStation, ClaimRoute
from schemas.trains.events import StationBuilt, TrainScore
from schemas.trains.field_types import CARDS, COLORS
from services.referee.games.trains.scoring import score
from tests.rules.given import Scene, given

LOCO = "locomotive"
PLENTY = {**dict.fromkeys(COLORS, 12), LOCO: 14}
Payment = dict[str, int]

# Seat 0 joins Paris and München; München - Wien is another seat's. The ticket is Paris - Wien, 8.
PARIS_MUNCHEN = {"frankfurt-paris-a": 0, "frankfurt-munchen-a": 0}
MUNCHEN_WIEN = {**PARIS_MUNCHEN, "munchen-wien-a": 1}


def europe(seats: int = 3, **more: Any) -> Scene:
    more.setdefault("hands", [PLENTY] * seats)
    return given(seats, rules="europe", **more)


def built(*stations: str) -> dict[str, tuple[int, str | None]]:
    """Stations of seat 0, without a neighbour."""
    return dict.fromkeys(stations, (0, None))


def of_seat_0(scene: Scene) -> TrainScore:
    """Its score as if the game ended now."""
    return score(scene.state)[0]


# -- building ------------------------------------------------------------------------------


def test_STATION_1_a_station_is_built_where_nobody_has_a_route() -> None:
    scene = europe().when(0, BuildStation("wien", {"red": 1}))
    scene.then(StationBuilt(0, "wien", {"red": 1}, None), TurnStarted(1))
    assert scene.state.own.station_owners == {"wien": 0}
    assert scene.seat_state(0).own.stations == {"wien": None}


@pytest.mark.parametrize("holder", [0, 1])
def test_STATION_1_a_city_holds_at_most_one_of_any_seat(holder: int) -> None:
    scene = europe(stations={"wien": (holder, None)})
    payment = {"red": 2} if holder == 0 else {"red": 1}
    assert "wien" not in {getattr(choice, "city_name", None) for choice in scene.legal(0)}
    scene.when(0, BuildStation("wien", payment)).refused("STATION-1")


def test_STATION_1_a_seat_builds_three_and_no_more() -> None:
    scene = europe(2)
    for number, city in enumerate(("wien", "roma", "london"), start=1):
        scene.when(0, BuildStation(city, {"red": number})).then_types(StationBuilt, TurnStarted)
        scene.when(
            1, ClaimRoute(("cadiz-lisboa-a", "brindisi-roma-a", "brest-dieppe-a")[number - 1], {LOCO: 2})
        )
    assert not [choice for choice in scene.legal(0) if isinstance(choice, BuildStation)]
    scene.when(0, BuildStation("paris", {"red": 4})).refused("STATION-1")


def test_STATION_1_one_a_turn() -> None:
    scene = europe().when(0, BuildStation("wien", {"red": 1}))
    scene.when(0, BuildStation("roma", {"red": 2})).refused("TURN-1")


def test_STATION_1_a_city_that_is_not_on_the_board_is_refused() -> None:
    europe().when(0, BuildStation("atlantis", {"red": 1})).refused("STATION-1")


def test_STATION_1_rules_without_stations_have_no_such_action() -> None:
    given(hands=[PLENTY]).when(0, BuildStation("miami", {"red": 1})).refused("TURN-2")


@pytest.mark.parametrize("number", [1, 2, 3])
def test_STATION_2_the_first_costs_one_card_the_second_two_the_third_three_of_one_colour(number: int) -> None:
    before = built(*("roma", "london")[: number - 1])
    plenty = {**PLENTY, "locomotive4": 4, "passenger": 4}
    fits = []
    for count in (1, 2, 3, 4):
        for row in combinations_with_replacement(CARDS, count):
            payment = {card: row.count(card) for card in row}
            scene = europe(hands=[plenty], stations=before).when(0, BuildStation("wien", payment))
            if isinstance(scene.events[0], CommandRefused):
                scene.refused("STATION-2")
            else:
                fits.append(payment)
    expected = [{c: number - n, LOCO: n} for c in COLORS for n in range(number)] + [{LOCO: number}]
    assert sorted(map(_spelled, fits)) == sorted(map(_spelled, expected))
    offered = europe(hands=[plenty], stations=before).legal(0)
    ways = [c.cards for c in offered if isinstance(c, BuildStation) and c.city == "wien"]
    assert sorted(map(_spelled, ways)) == sorted(map(_spelled, fits))


def _spelled(payment: Any) -> str:
    return str(sorted((card, count) for card, count in payment.items() if count))


def test_STATION_2_with_cards_that_the_seat_holds() -> None:
    scene = europe(hands=[{"red": 1, LOCO: 1}], stations=built("roma"))
    scene.when(0, BuildStation("wien", {"red": 2})).refused("ROUTE-3")
    scene.when(0, BuildStation("wien", {"red": 1, LOCO: 1})).then_types(StationBuilt, TurnStarted)


def test_STATION_2_the_cards_are_discarded_and_no_cars_are_used() -> None:
    scene = europe(stations=built("roma", "london")).when(0, BuildStation("wien", {"red": 2, LOCO: 1}))
    assert {card: n for card, n in scene.state.own.discards.items() if n} == {"red": 2, LOCO: 1}
    assert (
        scene.seat_state(0).own.hand["red"],
        scene.seat_state(0).own.hand[LOCO],
        scene.seat_state(0).own.cars,
    ) == (
        10,
        13,
        45,
    )
    assert scene.seat_state(0).own.points == 0


def test_STATION_2_every_free_city_is_offered() -> None:
    scene = europe(stations={"wien": (1, None)})
    cities = {choice.city for choice in scene.legal(0) if isinstance(choice, BuildStation)}
    assert cities == set(scene.state.own.board.cities) - {"wien"}


# -- lending -------------------------------------------------------------------------------


def test_STATION_3_the_neighbour_may_be_named() -> None:
    scene = europe().when(0, BuildStation("wien", {"red": 1}, "munchen"))
    scene.then(StationBuilt(0, "wien", {"red": 1}, "munchen"), TurnStarted(1))
    assert scene.seat_state(0).own.stations == {"wien": "munchen"}


@pytest.mark.parametrize("neighbour", ["paris", "wien", "atlantis"])
def test_STATION_3_it_must_be_one(neighbour: str) -> None:
    europe().when(0, BuildStation("wien", {"red": 1}, neighbour)).refused("STATION-3")


def test_STATION_3_a_station_lends_a_route_of_another_seat_into_its_city() -> None:
    """The example of the rules' page: 12 points better, though a station is spent on it."""
    tickets = [["paris:wien"]]
    without = of_seat_0(europe(owners=MUNCHEN_WIEN, tickets=tickets))
    assert (without.tickets, without.stations, without.lent) == (-8, 12, ())
    for city in ("wien", "munchen"):
        lent = of_seat_0(europe(owners=MUNCHEN_WIEN, tickets=tickets, stations=built(city)))
        assert (lent.tickets, lent.stations, lent.lent) == (8, 8, ("munchen-wien-a",))
        assert lent.total == without.total + 12


def test_STATION_3_not_a_route_of_nobody_nor_one_elsewhere() -> None:
    free = of_seat_0(europe(owners=PARIS_MUNCHEN, tickets=[["paris:wien"]], stations=built("wien")))
    assert (free.tickets, free.lent) == (-8, (None,))
    elsewhere = of_seat_0(europe(owners=MUNCHEN_WIEN, tickets=[["paris:wien"]], stations=built("zagrab")))
    assert (elsewhere.tickets, elsewhere.lent) == (-8, (None,))


def test_STATION_3_a_station_of_another_seat_lends_nothing() -> None:
    scene = europe(owners=MUNCHEN_WIEN, tickets=[["paris:wien"]], stations={"wien": (2, None)})
    assert of_seat_0(scene).tickets == -8


def test_STATION_3_one_route_each() -> None:
    """Two routes of others are missing: one station lends one of them, two lend both."""
    owners = {"frankfurt-paris-a": 0, "frankfurt-munchen-a": 1, "munchen-wien-a": 1}
    one = of_seat_0(europe(owners=owners, tickets=[["paris:wien"]], stations=built("munchen")))
    assert (one.tickets, one.lent) == (-8, (None,))
    two = of_seat_0(europe(owners=owners, tickets=[["paris:wien"]], stations=built("munchen", "wien")))
    assert (two.tickets, two.lent) == (8, ("frankfurt-munchen-a", "munchen-wien-a"))


def test_STATION_3_the_same_for_all_its_tickets() -> None:
    """Budapest lends the way to Wien or the way to Zagrab, not each to the ticket that it suits."""
    owners = {"munchen-wien-a": 0, "budapest-wien-a": 1, "budapest-zagrab-a": 1, "venezia-zagrab-a": 0}
    tickets = [["budapest:zurich", "constantinople:venezia"]]  # 6 through Wien, 10 through Zagrab
    owners |= {
        "munchen-zurich-a": 0,
        "constantinople-sofia-a": 0,
        "sarajevo-sofia-a": 0,
        "budapest-sarajevo-a": 0,
    }
    lent = of_seat_0(europe(owners=owners, tickets=tickets, stations=built("budapest")))
    assert (lent.made, lent.missed) == (("constantinople:venezia",), ("budapest:zurich",))
    assert (lent.tickets, lent.won, lent.lent) == (4, 10, ("budapest-zagrab-a",))


@pytest.mark.parametrize(("neighbour", "tickets"), [("wien", -4), ("zagrab", 4), ("kyiv", -16)])
def test_STATION_3_a_named_neighbour_is_the_one_or_none(neighbour: str, tickets: int) -> None:
    owners = {
        "munchen-wien-a": 0, "budapest-wien-a": 1, "budapest-zagrab-a": 1, "venezia-zagrab-a": 0,
        "munchen-zurich-a": 0, "constantinople-sofia-a": 0, "sarajevo-sofia-a": 0, "budapest-sarajevo-a": 0,
    }  # fmt: skip
    wanted = [["budapest:zurich", "constantinople:venezia"]]
    scene = europe(owners=owners, tickets=wanted, stations={"budapest": (0, neighbour)})
    assert of_seat_0(scene).tickets == tickets


def test_STATION_3_the_best_choice_of_all_stations_together() -> None:
    """Each station's own best would be another: only both choices together make the dear ticket."""
    owners = {
        "berlin-frankfurt-a": 1, "frankfurt-paris-a": 1,  # Berlin - Frankfurt - Paris takes both stations
        "berlin-essen-a": 1, "kyiv-warszawa-a": 0, "berlin-warszawa-a": 0,  # Essen - Kyiv takes one
        "dieppe-paris-a": 0, "dieppe-london-a": 0,
    }  # fmt: skip
    cheap = europe(4, owners=owners, tickets=[["essen:kyiv"]], stations=built("frankfurt", "berlin"))
    assert of_seat_0(cheap).made == ("essen:kyiv",)
    both = [["essen:kyiv", "berlin:london"]]
    dear = of_seat_0(europe(4, owners=owners, tickets=both, stations=built("frankfurt", "berlin")))
    assert dear.made == ("essen:kyiv",)  # 10 with one station against 7 with both
    more = built("frankfurt", "berlin", "paris")
    all_three = of_seat_0(europe(4, owners=owners, tickets=both, stations=more))
    assert (all_three.made, all_three.tickets) == (("essen:kyiv", "berlin:london"), 17)


def test_STATION_3_a_removed_seats_routes_are_nobodys_to_lend() -> None:
    scene = europe(
        owners=MUNCHEN_WIEN, tickets=[["paris:wien"]], stations=built("wien"), options={"strict": True}
    )
    assert of_seat_0(scene).tickets == 8
    scene.when(1, Pass())
    assert of_seat_0(scene).tickets == -8


def test_STATION_3_a_seat_that_left_still_lends_and_borrows() -> None:
    owners = {**MUNCHEN_WIEN, "kyiv-warszawa-a": 0}
    scene = europe(owners=owners, tickets=[["paris:wien"]], stations=built("wien"))
    scene.when(1, Leave()).when(0, Leave())
    assert of_seat_0(scene).tickets == 8


def test_SCORE_2_with_lent_routes_and_without() -> None:
    assert of_seat_0(europe(owners=MUNCHEN_WIEN, tickets=[["paris:wien"]], stations=built("wien"))).won == 8
    assert of_seat_0(europe(owners=MUNCHEN_WIEN, tickets=[["paris:wien"]])).won == 0


def test_STATION_4_lent_routes_are_no_part_of_the_longest_trail() -> None:
    scene = europe(owners=MUNCHEN_WIEN, tickets=[["paris:wien"]], stations=built("wien"))
    assert of_seat_0(scene).lent == ("munchen-wien-a",)
    assert (of_seat_0(scene).longest, of_seat_0(scene).routes) == (5, 6)


def test_SCORE_3_the_longest_trail_of_the_seats_own_routes() -> None:
    """With the three spaces that it is lent, seat 0 would draw level with seat 1."""
    owners = {**MUNCHEN_WIEN, "berlin-wien-a": 1, "danzig-warszawa-a": 1}
    scene = europe(owners=owners, tickets=[["paris:wien"]], stations=built("wien"))
    scores = score(scene.state)
    assert [(seat.longest, seat.bonus) for seat in scores] == [(5, 0), (6, 10), (0, 0)]


@pytest.mark.parametrize("number", [0, 1, 2, 3])
def test_SCORE_5_four_points_for_each_station_not_built(number: int) -> None:
    scene = europe(stations=built(*("wien", "roma", "london")[:number]), tickets=[[]])
    assert (of_seat_0(scene).stations, of_seat_0(scene).total) == (12 - 4 * number, 12 - 4 * number)


def test_SCORE_5_a_seat_that_left_keeps_them_and_a_removed_one_does_not() -> None:
    scene = europe(2, tickets=[[], []]).when(0, Leave()).when(1, Leave())
    end = scene.only(GameEnded)
    assert [seat.stations for seat in end.scores] == [12, 12]
    scene = europe(2, tickets=[[], []], options={"strict": True}).when(0, Leave()).when(1, Leave())
    end = scene.only(GameEnded)
    assert [(seat.stations, seat.total) for seat in end.scores] == [(0, 0), (0, 0)]
