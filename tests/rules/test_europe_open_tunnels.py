"""TURN-3, END-1, CLOCK-1, CLOCK-2, CONDUCT-2 and CONDUCT-3 while a tunnel waits to be paid."""

from __future__ import annotations

import pytest

from schemas.commands import CallTime, Command, Leave, Pass
from schemas.events import CommandRefused, GameEnded, SeatCleared, SeatGone, SeedRevealed, TurnStarted
from schemas.trains.commands import (
    BuildStation,
    ClaimRoute,
    DrawBlind,
    DrawMarket,
    DrawTickets,
    KeepTickets,
    PayTunnel,
)
from schemas.trains.events import (
    LastTurnsBegan,
    MarketCardTaken,
    MarketFilled,
    RevealedDiscarded,
    RouteClaimed,
    TicketsShown,
    TunnelDeclined,
    TunnelRevealed,
)
from tests.rules.given import given
from tests.rules.open_tunnels import LOCO, PAMPLONA, SOCHI, begin_tunnel, discards, hand

# -- other commands while one is open -----------------------------------------------------


@pytest.mark.parametrize(
    "command",
    [
        DrawBlind(),
        DrawMarket(0),
        DrawTickets(),
        KeepTickets((0,)),
        ClaimRoute(PAMPLONA, {"red": 2}),
        ClaimRoute("cadiz-lisboa-a", {"blue": 2}),
        BuildStation("wien", {"red": 1}),
        Pass(),
    ],
)
def test_TURN_3_while_a_tunnel_is_open_the_seat_pays_or_declines(command: Command) -> None:
    begin_tunnel({"red": 4, "blue": 2}, {"red": 2}).when(0, command).refused("TURN-3")


def test_TURN_3_other_seats_wait_meanwhile() -> None:
    begin_tunnel({"red": 4}, {"red": 2}).when(1, DrawBlind()).refused("TURN-1")


def test_END_1_a_tunnel_can_begin_the_last_turns_once_it_is_laid() -> None:
    scene = begin_tunnel({"red": 5}, {"red": 3}, route=SOCHI, cars=[4])
    assert not scene.state.own.in_last_turns
    scene.when(0, PayTunnel({"red": 2}))
    scene.then_types(RouteClaimed, RevealedDiscarded, LastTurnsBegan, TurnStarted)


# -- seats that go while theirs is open ------------------------------------------------------------


def test_CONDUCT_3_a_seat_that_leaves_declines_its_tunnel() -> None:
    scene = begin_tunnel({"red": 4}, {"red": 2}).when(0, Leave())
    scene.then(TunnelDeclined(0), SeatGone(0, "left"), RevealedDiscarded(), TurnStarted(1))
    assert hand(scene) == {"red": 4}
    assert discards(scene) == {"red": 1, LOCO: 1, "blue": 1}
    scene.when(1, ClaimRoute(PAMPLONA, {"green": 2}))
    assert scene.events_of(RouteClaimed) or scene.events_of(TunnelRevealed)


def test_CONDUCT_3_another_seat_that_leaves_does_not_touch_it() -> None:
    scene = begin_tunnel({"red": 4}, {"red": 2}).when(1, Leave()).then(SeatGone(1, "left"))
    scene.when(0, PayTunnel({"red": 2})).then_types(RouteClaimed, RevealedDiscarded, TurnStarted)
    assert scene.state.turn == 0


def test_CONDUCT_3_the_last_seat_may_leave_with_one_open() -> None:
    scene = begin_tunnel({"red": 4}, {"red": 2}).when(1, Leave()).when(0, Leave())
    scene.then_types(
        TunnelDeclined, SeatGone, RevealedDiscarded, TicketsShown, TicketsShown, SeedRevealed, GameEnded
    )
    assert scene.state.own.tunnel is None


def test_CONDUCT_2_a_seat_that_is_removed_takes_its_hand_out_of_the_game_but_not_what_was_turned_up() -> None:
    scene = begin_tunnel({"red": 4}, {"red": 2}, options={"strict": True}, stations={"wien": (0, None)})
    scene.when(0, PayTunnel({"red": 1}))
    refusal = scene.only(CommandRefused)
    assert refusal.rule == "TUNNEL-3"
    scene.then(
        refusal,
        TunnelDeclined(0),
        SeatGone(0, "removed"),
        SeatCleared(0),
        RevealedDiscarded(),
        TurnStarted(1),
    )
    assert hand(scene) == {}
    assert discards(scene) == {"red": 1, LOCO: 1, "blue": 1}
    assert (scene.state.own.station_owners, scene.seat_state(0).own.stations) == ({}, {})


def test_CLOCK_1_the_clock_runs_while_a_tunnel_waits_to_be_paid() -> None:
    scene = begin_tunnel({"red": 4}, {"red": 2})
    assert scene.state.next_deadline() == (scene.state.at_ms + 120_000, 0)
    scene.after_ms(20_000).when(0, PayTunnel({"red": 2}))
    assert [seat_state.clock_ms for seat_state in scene.state.seats] == [100_000, 120_000]


def test_CLOCK_2_an_open_tunnel_is_declined() -> None:
    scene = begin_tunnel({"red": 4}, {"red": 2}).after_ms(120_000)
    scene.when(0, PayTunnel({"red": 2})).refused("CLOCK-2")
    scene.when(None, CallTime(0))
    scene.then(TunnelDeclined(0), SeatGone(0, "out of time"), RevealedDiscarded(), TurnStarted(1))
    assert (hand(scene), scene.state.own.route_owners) == ({"red": 4}, {})


def test_CLOCK_2_an_open_card_draw_ends() -> None:
    scene = given(rules="europe", hands=[{}]).when(0, DrawMarket(0))
    scene.then_types(MarketCardTaken, MarketFilled)
    scene.after_ms(120_000).when(None, CallTime(0)).then(SeatGone(0, "out of time"), TurnStarted(1))
    assert scene.seat_state(0).own.cards == 1
