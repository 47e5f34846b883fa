"""The end of a game of `marklin`: SCORE-2 with countries, SCORE-4, TIE-1, END-1, CONDUCT-2."""

from __future__ import annotations

from typing import Any

import pytest

from schemas.commands import Leave, Pass
from schemas.events import GameEnded, TurnStarted
from schemas.trains.commands import ClaimRoute, DrawBlind, MovePassenger
from schemas.trains.events import LastTurnsBegan, PassengerMoved, PassengerPlaced, RouteClaimed, TrainScore
from services.referee.games.trains.scoring import score
from tests.rules.given import Scene, given

BARE: dict[str, Any] = {
    "hands": [{}, {}], "market": (None,) * 5, "deck": (), "ticket_decks": {"short": (), "long": ()},
}  # fmt: skip
TO_FRANKFURT, TO_MANNHEIM = "frankfurt-koln-a", "frankfurt-mannheim-a"
KOLN_TO_THE_NETHERLANDS = ("dusseldorf-koln-a", "dusseldorf-niederlande-a")
FREIBURG_TO_DUSSELDORF = (
    "freiburg-karlsruhe-a", "karlsruhe-mannheim-a", TO_MANNHEIM, TO_FRANKFURT, "dusseldorf-koln-a",
)  # fmt: skip
DENMARK_TO_MUNSTER = ("danemark-kiel-a", "hamburg-kiel-a", "bremen-hamburg-a", "bremen-munster-a")


def marklin(seats: int = 2, **fields: Any) -> Scene:
    return given(seats, rules="marklin", **{"tickets": [[]] * seats, **fields})


def owned(*routes: str, seat: int = 0) -> dict[str, int]:
    return dict.fromkeys(routes, seat)


def scores(scene: Scene) -> tuple[TrainScore, ...]:
    return score(scene.state)


def made(routes: dict[str, int], ticket: str) -> bool:
    first = scores(marklin(owners=routes, tickets=[[ticket], []]))[0]
    value = first.tickets
    assert (ticket in first.made, ticket in first.missed) == (value > 0, value < 0)
    return value > 0


# -- tickets to countries ----------------------------------------------------------------


def test_SCORE_2_a_country_is_an_end_of_a_ticket() -> None:
    way = owned(TO_FRANKFURT, *KOLN_TO_THE_NETHERLANDS)
    assert made(way, "frankfurt:niederlande")
    assert not made(owned(*KOLN_TO_THE_NETHERLANDS), "frankfurt:niederlande")
    assert not made({**way, TO_FRANKFURT: 1}, "frankfurt:niederlande")  # another seat's route


def test_SCORE_2_any_road_into_the_country_will_do() -> None:
    for last in ("freiburg-schweiz-a", "konstanz-schweiz-a"):
        south = owned("freiburg-karlsruhe-a", "freiburg-konstanz-a", "karlsruhe-mannheim-a", TO_MANNHEIM)
        assert made({**south, **owned(TO_FRANKFURT, last)}, "koln:schweiz")


@pytest.mark.parametrize("last", ["munster-niederlande-a", "emden-munster-a"])
def test_SCORE_2_a_ticket_joins_two_countries(last: str) -> None:
    way = owned(*DENMARK_TO_MUNSTER, last)
    assert made(way, "danemark:niederlande") is (last == "munster-niederlande-a")


def test_SCORE_2_no_path_passes_through_a_country() -> None:
    south = owned(*FREIBURG_TO_DUSSELDORF)
    through = owned("dusseldorf-niederlande-a", "emden-niederlande-a")
    assert not made({**south, **through}, "emden:freiburg")
    around = owned("dortmund-dusseldorf-b", "dortmund-munster-a", "emden-munster-a")
    assert made({**south, **around}, "emden:freiburg")


def test_SCORE_2_nor_a_path_between_two_countries_through_a_third() -> None:
    west = owned("frankreich-freiburg-a", "freiburg-schweiz-a", "konstanz-schweiz-a", "konstanz-lindau-a")
    east = owned("lindau-ulm-a", "augsburg-ulm-a", "augsburg-munchen-a")
    assert not made({**west, **east}, "frankreich:munchen")
    assert made({**west, **east, "freiburg-konstanz-a": 0}, "frankreich:munchen")


# -- bonuses -----------------------------------------------------------------------------

MADE_TWO = owned("berlin-magdeburg-a", "hannover-magdeburg-a", "leipzig-magdeburg-a", "chemnitz-leipzig-a")
TWO = ["hannover:leipzig", "berlin:chemnitz"]  # worth 6 each, and those routes make both


def test_SCORE_4_the_seat_with_most_tickets_made_gets_ten_whatever_they_are_worth() -> None:
    routes = {**MADE_TWO, **owned("danemark-kiel-a", "hamburg-kiel-a", "bremen-hamburg-a", "bremen-munster-a",
                                  "munster-niederlande-a", seat=1)}  # fmt: skip
    first, second = scores(marklin(owners=routes, tickets=[TWO, ["danemark:niederlande", "kiel:schweiz"]]))
    assert (first.made, first.most, first.total) == (tuple(TWO), 10, 4 + 7 + 2 + 2 + 12 + 10)
    assert (len(second.made), second.most) == (1, 0)
    assert second.total == 2 + 2 + 4 + 4 + 2 + 10 - 20


def test_SCORE_4_all_tied_seats_get_it() -> None:
    routes = {
        **owned(*KOLN_TO_THE_NETHERLANDS, TO_FRANKFURT),
        "hannover-magdeburg-a": 1,
        "leipzig-magdeburg-a": 1,
    }
    held = [["frankfurt:niederlande"], ["hannover:leipzig"], []]
    assert [s.most for s in scores(marklin(3, owners=routes, tickets=held))] == [10, 10, 0]


def test_SCORE_4_a_seat_that_made_no_ticket_does_not_get_it() -> None:
    assert [s.most for s in scores(marklin(tickets=[["hannover:leipzig"], []]))] == [0, 0]


def test_SCORE_4_a_seat_that_left_still_gets_it() -> None:
    scene = marklin(owners=MADE_TWO, tickets=[TWO, []]).when(0, Leave())
    assert [s.most for s in scores(scene)] == [10, 0]


def test_SCORE_4_a_long_trail_earns_nothing_here() -> None:
    first, second = scores(marklin(owners={**owned(*FREIBURG_TO_DUSSELDORF), "emden-munster-a": 1}))
    assert first.longest > second.longest
    assert (first.bonus, first.total) == (0, first.routes)


@pytest.mark.parametrize("points", [0, 17])
def test_SCORE_1_merchandise_is_part_of_the_total(points: int) -> None:
    first, _ = scores(marklin(owners={TO_FRANKFURT: 0}, merchandise=[points]))
    assert (first.routes, first.merchandise, first.total) == (7, points, 7 + points)


# -- ties --------------------------------------------------------------------------------


def test_TIE_1_of_equals_who_made_more_tickets_comes_first_before_merchandise_is_looked_at() -> None:
    scene = marklin(owners=MADE_TWO, tickets=[TWO, []], merchandise=[0, 37])
    assert [(s.total, s.place) for s in scores(scene)] == [(37, 1), (37, 2)]


def test_TIE_1_then_whose_merchandise_is_worth_more() -> None:
    scene = marklin(owners={TO_FRANKFURT: 0, "emden-munster-a": 1, TO_MANNHEIM: 1}, merchandise=[5, 3])
    assert [(s.total, s.merchandise, s.place) for s in scores(scene)] == [(12, 5, 1), (12, 3, 2)]


def test_TIE_1_then_they_share_the_place() -> None:
    owners = {TO_FRANKFURT: 0, "emden-munster-a": 1, "frankfurt-kassel-a": 2}
    scene = marklin(4, owners=owners, merchandise=[3, 3, 2, 4])
    assert [(s.total, s.place) for s in scores(scene)] == [(10, 1), (10, 1), (9, 3), (4, 4)]


# -- the last turns ----------------------------------------------------------------------


def test_END_1_a_passengers_move_can_begin_the_last_turns() -> None:
    """A seat that ends its turn with two cars triggers them, whatever it did."""
    scene = marklin(cars=[2, 45], owners={TO_FRANKFURT: 0}, passengers={"koln": 0})
    scene.when(0, MovePassenger("koln", (TO_FRANKFURT,)))
    scene.then_types(PassengerMoved, LastTurnsBegan, TurnStarted)


def test_END_1_every_seat_has_one_more_turn_the_triggers_last() -> None:
    scene = marklin(cars=[6, 45], hands=[{"red": 4}, {"red": 9}])
    scene.when(0, ClaimRoute(TO_FRANKFURT, {"red": 4}))
    assert scene.events_of(LastTurnsBegan) == (LastTurnsBegan((1, 0)),)
    scene.when(1, ClaimRoute(TO_MANNHEIM, {"red": 2}, "mannheim"))
    scene.then_types(RouteClaimed, PassengerPlaced, TurnStarted)
    scene.when(0, DrawBlind(), DrawBlind())
    assert isinstance(scene.events[-1], GameEnded)


def test_END_1_three_cars_are_not_few_enough() -> None:
    scene = marklin(cars=[7, 45], hands=[{"red": 4}]).when(0, ClaimRoute(TO_FRANKFURT, {"red": 4}))
    assert not scene.events_of(LastTurnsBegan)


def test_TURN_4_a_seat_whose_passenger_can_move_does_not_pass() -> None:
    scene = marklin(owners={TO_FRANKFURT: 0}, passengers={"koln": 0}, **BARE)
    assert scene.legal(0) == [MovePassenger("koln", (TO_FRANKFURT,))]
    scene.when(0, Pass()).refused("TURN-4")
    scene.when(0, MovePassenger("koln", (TO_FRANKFURT,)))
    assert scene.legal(1) == [Pass()]


def test_TURN_4_a_seat_whose_passenger_can_go_nowhere_does() -> None:
    """The only way is another seat's, and the seat has no passenger card; or it leads into a country."""
    scene = marklin(
        owners={TO_FRANKFURT: 1, "konstanz-schweiz-a": 0}, passengers={"koln": 0, "konstanz": 0}, **BARE
    )
    assert scene.legal(0) == [Pass()]
    scene.when(0, Pass()).when(1, Pass())
    assert isinstance(scene.events[-1], GameEnded)


# -- seats that go out -------------------------------------------------------------------


def test_CONDUCT_2_the_passengers_of_a_removed_seat_leave_and_its_tokens_count_nothing() -> None:
    scene = marklin(
        3,
        options={"strict": True},
        owners={TO_FRANKFURT: 0, TO_MANNHEIM: 1},
        passengers={"koln": 0, "mannheim": 0, "frankfurt": 1},
        merchandise=[30, 0, 0],
        hands=[{}, {"green": 4, "passenger": 2}],
    )
    scene.when(0, Pass())
    assert scene.state.own.passenger_owners == {"frankfurt": 1}
    assert [(s.total, s.place) for s in scores(scene)] == [(0, 3), (2, 1), (0, 2)]
    assert MovePassenger("frankfurt", (TO_FRANKFURT,)) not in scene.legal(1)  # nobody's now
    assert MovePassenger("frankfurt", (TO_MANNHEIM,)) in scene.legal(1)
    scene.when(1, ClaimRoute(TO_FRANKFURT, {"green": 4}, "koln"))
    assert scene.state.own.passenger_owners == {"frankfurt": 1, "koln": 1}


def test_CONDUCT_2_a_removed_seats_triple_route_opens_as_a_whole() -> None:
    scene = marklin(3, options={"strict": True}, owners={"dortmund-dusseldorf-b": 0}, hands=[{}, {"red": 1}])
    scene.when(0, Pass())
    offered = {c.route for c in scene.legal(1) if isinstance(c, ClaimRoute)}
    assert {f"dortmund-dusseldorf-{envelope}" for envelope in "abc"} <= offered


def test_CONDUCT_3_the_passengers_of_a_seat_that_left_stay_in_their_cities() -> None:
    scene = marklin(3, passengers={"mannheim": 0}, hands=[{}, {"red": 2}], merchandise=[4]).when(0, Leave())
    scene.when(1, ClaimRoute(TO_MANNHEIM, {"red": 2}, "mannheim")).refused("PASSENGER-1")
    assert scores(scene)[0].total == 4
