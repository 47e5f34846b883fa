"""The europe page: stations, tunnels and clocks where no other test is named by the sentence."""

from __future__ import annotations

from typing import Any

import pytest

from schemas.commands import CallTime, Pass
from schemas.events import Passed, TurnStarted
from schemas.trains.commands import BuildStation, ClaimRoute, DeclineTunnel, DrawBlind
from schemas.trains.events import LastTurnsBegan, RevealedDiscarded, StationBuilt, TunnelRevealed
from services.referee.games.trains.scoring import score
from tests.rules.given import Scene, given
from tests.rules.open_tunnels import EXAMPLE, PAMPLONA, begin_tunnel, discards

LOCO = "locomotive"
KOBENHAVN = "essen-kobenhavn-a"


def starved(**more: Any) -> Scene:
    """No card and no ticket to draw, and no car to lay."""
    empty: dict[str, Any] = {
        "market": (None,) * 5,
        "deck": (),
        "ticket_deck": (),
        "cars": [0, 0],
        "hands": [{}, {}],
    }
    return given(2, rules="europe", **{**empty, **more})


# -- a turn ----------------------------------------------------------------------------------


def test_TURN_2_to_build_a_station_is_the_whole_turn() -> None:
    scene = given(2, rules="europe", hands=[{"red": 3}]).when(0, BuildStation("wien", {"red": 1}))
    scene.then_types(StationBuilt, TurnStarted)
    scene.when(0, DrawBlind()).refused("TURN-1")


def test_TURN_4_a_seat_that_could_only_build_a_station_may_pass() -> None:
    assert starved().legal(0) == [Pass()]
    scene = starved(hands=[{"red": 1}, {}])
    assert {type(choice) for choice in scene.legal(0)} == {BuildStation, Pass}
    scene.when(0, Pass()).then_types(Passed, LastTurnsBegan, TurnStarted)
    assert score(scene.when(1, Pass()).state)[0].stations == 12, "END-3: all passed"


def test_TURN_4_a_seat_that_could_do_more_than_build_a_station_may_not_pass() -> None:
    scene = starved(hands=[{"red": 1}, {}], deck=["blue"])
    assert Pass() not in scene.legal(0)
    scene.when(0, Pass()).refused("TURN-4")


def test_END_1_to_build_a_station_ends_a_turn_like_any_other() -> None:
    scene = given(2, rules="europe", hands=[{"red": 1}], cars=[2]).when(0, BuildStation("wien", {"red": 1}))
    assert scene.events_of(LastTurnsBegan) == (LastTurnsBegan((1, 0)),)


# -- ferries ----------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("payment", "pays"),
    [
        ({"green": 2, LOCO: 1}, True),
        ({"green": 1, LOCO: 2}, True),
        ({LOCO: 3}, True),
        ({"green": 3}, False),
    ],
)
def test_FERRY_1_essen_to_kobenhavn_shows_one_locomotive_that_counts_towards_its_three_spaces(
    payment: dict[str, int], pays: bool
) -> None:
    """Worked example."""
    scene = given(2, rules="europe", hands=[{"green": 3, LOCO: 3}]).when(0, ClaimRoute(KOBENHAVN, payment))
    if pays:
        assert scene.state.own.route_owners == {KOBENHAVN: 0}
    else:
        scene.refused("FERRY-1")


# -- tunnels ----------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("payment", "revealed", "asked"),
    [({"red": 2}, EXAMPLE, 2), ({LOCO: 2}, EXAMPLE, 1), ({"green": 2}, ("red", "blue", "blue"), 0)],
)
def test_TUNNEL_2_the_three_rows_of_the_worked_example(
    payment: dict[str, int], revealed: tuple[str, ...], asked: int
) -> None:
    scene = begin_tunnel({"red": 9, "green": 9, LOCO: 9}, payment, revealed)
    assert scene.events[0] == TunnelRevealed(0, PAMPLONA, payment, revealed, asked)
    assert (scene.state.own.route_owners == {PAMPLONA: 0}) is (asked == 0)


def test_TUNNEL_4_the_cards_turned_up_are_discarded_whatever_was_chosen() -> None:
    shown = {"red": 1, LOCO: 1, "blue": 1}
    declined = begin_tunnel({"red": 2}, {"red": 2}).when(0, DeclineTunnel())
    assert discards(declined) == shown
    late = begin_tunnel({"red": 2}, {"red": 2}).after_ms(120_000).when(None, CallTime(0))
    assert late.events_of(RevealedDiscarded)
    assert discards(late) == shown
    paid_at_once = begin_tunnel({"green": 2}, {"green": 2}, ("red", "blue", "blue"))
    assert discards(paid_at_once) == {"green": 2, "red": 1, "blue": 2}


# -- stations ----------------------------------------------------------------------------------


def test_STATION_3_the_example_of_the_page_is_twelve_points_better() -> None:
    """8 points down become 8 up, and the station that is built costs its 4."""
    owners = {"frankfurt-paris-a": 0, "frankfurt-munchen-a": 0, "munchen-wien-a": 1}
    totals = []
    for stations in ({}, {"wien": (0, None)}, {"munchen": (0, None)}):
        scene = given(2, rules="europe", owners=owners, tickets=[["paris:wien"], []], stations=stations)
        totals.append(score(scene.state)[0].total)
    assert [total - totals[0] for total in totals] == [0, 12, 12]


# -- time --------------------------------------------------------------------------------------


def test_CLOCK_1_the_time_for_a_move_matters_where_a_game_has_longer_clocks_or_none() -> None:
    days = 3 * 86_400_000
    assert given(2, rules="europe").state.next_deadline() == (120_000, 0)
    for clock_ms in (2 * days, None):
        scene = given(2, rules="europe", options={"clock_ms": clock_ms})
        assert scene.state.next_deadline() == (days, 0)
