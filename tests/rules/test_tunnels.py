"""TUNNEL-1 to TUNNEL-4: what is turned up, what it asks for, and who pays it."""

from __future__ import annotations

from itertools import combinations_with_replacement

import pytest

from schemas.events import CommandRefused, TurnStarted
from schemas.trains.commands import ClaimRoute, DeclineTunnel, DrawBlind, PayTunnel
from schemas.trains.events import (
    CardDrawn,
    DeckRecreated,
    MarketFilled,
    RevealedDiscarded,
    RouteClaimed,
    TunnelDeclined,
    TunnelRevealed,
)
from schemas.trains.field_types import COLORS
from services.referee.games import redact_for
from tests.rules.given import MARKET, Scene, given
from tests.rules.open_tunnels import EXAMPLE, LOCO, PAMPLONA, Payment, begin_tunnel, discards, hand

# -- what is turned up ---------------------------------------------------------------------


def test_TUNNEL_1_the_top_three_cards_are_turned_up_beside_the_base_payment() -> None:
    scene = begin_tunnel({"red": 4}, {"red": 2}, (*EXAMPLE, "white"))
    scene.then(TunnelRevealed(0, PAMPLONA, {"red": 2}, EXAMPLE, 2))
    assert scene.state.own.deck == ["white"]
    assert scene.state.pending_choices == {0: "tunnel"}
    assert scene.state.own.route_owners == {}
    assert (scene.seat_state(0).own.cars, scene.seat_state(0).own.points) == (45, 0)


def test_TUNNEL_1_all_may_see_them() -> None:
    (shown,) = begin_tunnel({"red": 4}, {"red": 2}).exactly(1)
    assert [redact_for(viewer, shown) for viewer in (None, 0, 1)] == [shown] * 3


def test_TUNNEL_1_the_base_payment_stays_with_its_seat_till_the_tunnel_is_settled() -> None:
    scene = begin_tunnel({"red": 4}, {"red": 2})
    assert hand(scene) == {"red": 4}
    assert discards(scene) == {}


def test_TUNNEL_1_a_deck_of_three_is_not_shuffled() -> None:
    scene = begin_tunnel({"red": 2}, {"red": 2}, ("blue", "blue", "green"), discards={"white": 9})
    scene.then_types(TunnelRevealed, RouteClaimed, RevealedDiscarded, TurnStarted)
    assert scene.events[0] == TunnelRevealed(0, PAMPLONA, {"red": 2}, ("blue", "blue", "green"), 0)


def test_TUNNEL_1_with_fewer_than_three_all_the_cards_are_shuffled_together() -> None:
    scene = begin_tunnel({"red": 2}, {"red": 2}, ("blue", "blue"), discards={"white": 20})
    recreated, shown = scene.events[:2]
    assert isinstance(recreated, DeckRecreated)
    assert sorted(map(str, recreated.order)) == ["blue"] * 2 + ["white"] * 20
    assert isinstance(shown, TunnelRevealed)
    assert (shown.revealed, shown.extra) == (recreated.order[:3], 0)
    assert scene.state.own.deck[::-1] == list(recreated.order[3:])


def test_TUNNEL_1_what_was_left_of_the_deck_may_come_up_anywhere() -> None:
    """Of two blue cards and twenty white discards, a random three are not blue, blue, white each time."""
    turned_up = set()
    for seed in range(60):
        scene = given(
            rules="europe", hands=[{"red": 2}], deck=("blue", "blue"), discards={"white": 20}, market=MARKET
        )
        scene.state.shuffle_key = f"{seed:064x}"
        scene.when(0, ClaimRoute(PAMPLONA, {"red": 2}))
        turned_up.add(scene.events_of(TunnelRevealed)[0].revealed)
    assert ("white",) * 3 in turned_up
    assert len(turned_up) > 2


def test_TUNNEL_1_the_base_payment_is_not_among_what_is_shuffled_in() -> None:
    scene = begin_tunnel({"red": 4}, {"red": 2}, (), discards={"red": 1, "blue": 4})
    shuffled = scene.events[0]
    assert isinstance(shuffled, DeckRecreated)
    assert sorted(map(str, shuffled.order)) == ["blue"] * 4 + ["red"]


def test_TUNNEL_1_with_too_few_cards_as_many_are_turned_up_as_there_are() -> None:
    scene = begin_tunnel({"red": 4}, {"red": 2}, ("red",), discards={"red": 1})
    scene.then_types(DeckRecreated, TunnelRevealed)
    assert scene.events[1] == TunnelRevealed(0, PAMPLONA, {"red": 2}, ("red", "red"), 2)


def test_TUNNEL_1_possibly_none_and_then_nothing_is_asked() -> None:
    scene = begin_tunnel({"red": 2}, {"red": 2}, ())
    scene.then(
        TunnelRevealed(0, PAMPLONA, {"red": 2}, (), 0),
        RouteClaimed(0, PAMPLONA, {"red": 2}, 2),
        RevealedDiscarded(),
        TurnStarted(1),
    )


@pytest.mark.parametrize(
    ("payment", "rule"),
    [({"red": 3}, "ROUTE-2"), ({"red": 1, "blue": 1}, "ROUTE-2"), ({"blue": 2}, "ROUTE-3")],
)
def test_TUNNEL_1_a_base_payment_that_does_not_pay_turns_nothing_up(payment: Payment, rule: str) -> None:
    scene = begin_tunnel({"red": 9, "blue": 1}, payment).refused(rule)
    assert len(scene.state.own.deck) == 3
    begin_tunnel({"red": 9}, {"red": 2}, cars=[1]).refused("ROUTE-4")


# -- what is asked ---------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("payment", "revealed", "extra"),
    [
        ({"red": 2}, EXAMPLE, 2),
        ({LOCO: 2}, EXAMPLE, 1),
        ({"green": 2}, ("red", "blue", "blue"), 0),
        ({"red": 2}, ("red", "red", "red"), 3),
        ({"red": 2}, (LOCO, LOCO, LOCO), 3),
        ({"red": 1, LOCO: 1}, EXAMPLE, 2),
        ({LOCO: 2}, ("red", "red", "blue"), 0),
        ({LOCO: 2}, (LOCO, LOCO, LOCO), 3),
        ({"blue": 2}, EXAMPLE, 2),
        ({"blue": 2}, ("red", "green", LOCO), 1),
    ],
)
def test_TUNNEL_2_the_played_colour_and_locomotives_ask_for_a_card_each(
    payment: Payment, revealed: tuple[str, ...], extra: int
) -> None:
    """The first two are the worked examples of the rules."""
    plenty = {**dict.fromkeys(COLORS, 9), LOCO: 9}
    assert begin_tunnel(plenty, payment, revealed).events[0] == TunnelRevealed(
        0, PAMPLONA, payment, revealed, extra
    )


def test_TUNNEL_2_more_is_paid_in_that_colour_or_with_locomotives() -> None:
    for more in ({"red": 2}, {"red": 1, LOCO: 1}, {LOCO: 2}):
        scene = begin_tunnel({"red": 4, LOCO: 2, "blue": 3}, {"red": 2}).when(0, PayTunnel(more))
        scene.then_types(RouteClaimed, RevealedDiscarded, TurnStarted)


def test_TUNNEL_2_after_locomotives_only_locomotives_pay() -> None:
    scene = begin_tunnel({LOCO: 3, "red": 5}, {LOCO: 2})
    scene.when(0, PayTunnel({"red": 1})).refused("TUNNEL-3")
    scene.when(0, PayTunnel({LOCO: 1})).then_types(RouteClaimed, RevealedDiscarded, TurnStarted)


# -- pay or decline ----------------------------------------------------------------------------


def test_TUNNEL_3_with_nothing_asked_the_route_is_claimed_at_once() -> None:
    scene = begin_tunnel({"green": 2}, {"green": 2}, ("red", "blue", "blue"))
    scene.then(
        TunnelRevealed(0, PAMPLONA, {"green": 2}, ("red", "blue", "blue"), 0),
        RouteClaimed(0, PAMPLONA, {"green": 2}, 2),
        RevealedDiscarded(),
        TurnStarted(1),
    )
    assert (scene.seat_state(0).own.cars, scene.seat_state(0).own.points, hand(scene)) == (43, 2, {})


def test_TUNNEL_3_base_and_extra_are_discarded_together() -> None:
    scene = begin_tunnel({"red": 3, LOCO: 2}, {"red": 1, LOCO: 1}).when(0, PayTunnel({"red": 1, LOCO: 1}))
    scene.then(RouteClaimed(0, PAMPLONA, {"red": 2, LOCO: 2}, 2), RevealedDiscarded(), TurnStarted(1))
    assert hand(scene) == {"red": 1}
    assert discards(scene) == {"red": 3, LOCO: 3, "blue": 1}
    assert scene.state.own.route_owners == {PAMPLONA: 0}
    assert (scene.seat_state(0).own.cars, scene.seat_state(0).own.points) == (43, 2)


@pytest.mark.parametrize(
    "payment", [{"red": 1}, {"red": 3}, {"blue": 2}, {"red": 1, "blue": 1}, {"passenger": 2}, {LOCO: 3}]
)
def test_TUNNEL_3_exactly_what_is_asked(payment: Payment) -> None:
    plenty = {"red": 9, "blue": 9, LOCO: 9, "passenger": 2}
    scene = begin_tunnel(plenty, {"red": 2}).when(0, PayTunnel(payment)).refused("TUNNEL-3")
    assert scene.state.pending_choices == {0: "tunnel"}
    scene.when(0, PayTunnel({"red": 2})).then_types(RouteClaimed, RevealedDiscarded, TurnStarted)


def test_TUNNEL_3_more_is_paid_from_what_is_left_of_the_hand() -> None:
    scene = begin_tunnel({"red": 3, LOCO: 1}, {"red": 2}).when(0, PayTunnel({"red": 2})).refused("ROUTE-3")
    scene.when(0, PayTunnel({LOCO: 2})).refused("ROUTE-3")
    scene.when(0, PayTunnel({"red": 1, LOCO: 1})).then_types(RouteClaimed, RevealedDiscarded, TurnStarted)
    assert hand(scene) == {}


def test_TUNNEL_3_declined_the_cards_come_back_and_the_turn_is_over() -> None:
    scene = begin_tunnel({"red": 4}, {"red": 2}).when(0, DeclineTunnel())
    scene.then(TunnelDeclined(0), RevealedDiscarded(), TurnStarted(1))
    assert hand(scene) == {"red": 4}
    assert discards(scene) == {"red": 1, LOCO: 1, "blue": 1}
    assert (scene.state.own.route_owners, scene.seat_state(0).own.cars, scene.seat_state(0).own.points) == (
        {},
        45,
        0,
    )
    assert scene.state.own.tunnel is None


@pytest.mark.parametrize(
    ("held", "base"),
    [
        ({"red": 4, LOCO: 2}, {"red": 2}),
        ({"red": 3, LOCO: 1, "blue": 5}, {"red": 1, LOCO: 1}),
        ({"red": 9, LOCO: 3}, {LOCO: 2}),
        ({"red": 2}, {"red": 2}),
        ({"red": 3}, {"red": 2}),
    ],
)
def test_TUNNEL_3_what_is_offered_is_what_is_accepted(held: Payment, base: Payment) -> None:
    offered = begin_tunnel(held, base).legal(0)
    ways = [{card: row.count(card) for card in row} for n in (1, 2, 3) for row in _rows(n)]
    paid: list[PayTunnel | DeclineTunnel] = [
        PayTunnel(way) for way in ways if not _refuses(begin_tunnel(held, base).when(0, PayTunnel(way)))
    ]
    assert sorted(map(str, offered)) == sorted(map(str, map(_ordered, [*paid, DeclineTunnel()])))


def _rows(cards: int) -> list[tuple[str, ...]]:
    return list(combinations_with_replacement((*COLORS, LOCO), cards))


def _refuses(scene: Scene) -> bool:
    return isinstance(scene.events[0], CommandRefused)


def _ordered(command: PayTunnel | DeclineTunnel) -> PayTunnel | DeclineTunnel:
    if isinstance(command, PayTunnel):
        return PayTunnel(dict(sorted(command.cards.items(), key=lambda pair: pair[0] == LOCO)))
    return command


def test_TUNNEL_3_who_cannot_pay_can_only_decline() -> None:
    assert begin_tunnel({"red": 2, "blue": 7}, {"red": 2}).legal(0) == [DeclineTunnel()]


def test_TUNNEL_3_the_same_tunnel_may_be_tried_again_next_turn() -> None:
    scene = begin_tunnel({"red": 4}, {"red": 2}, (*EXAMPLE, "white", "white", "green", "black", "black"))
    scene.when(0, DeclineTunnel()).when(1, DrawBlind(), DrawBlind())
    scene.when(0, ClaimRoute(PAMPLONA, {"red": 2}))
    scene.then_types(TunnelRevealed, RouteClaimed, RevealedDiscarded, TurnStarted)
    assert scene.state.own.route_owners == {PAMPLONA: 0}


def test_TUNNEL_3_nor_can_another_seat_pay_it() -> None:
    scene = begin_tunnel({"red": 4}, {"red": 2})
    scene.when(1, PayTunnel({"green": 2})).refused("TURN-1")
    scene.when(1, DeclineTunnel()).refused("TURN-1")


def test_TUNNEL_3_without_a_tunnel_there_is_nothing_to_pay_or_decline() -> None:
    scene = given(rules="europe", hands=[{"red": 4}])
    scene.when(0, PayTunnel({"red": 2})).refused("TURN-2")
    scene.when(0, DeclineTunnel()).refused("TURN-2")
    scene.when(0, DrawBlind(), DeclineTunnel()).refused("TURN-3")
    given(hands=[{"red": 4}]).when(0, DeclineTunnel()).refused("TURN-2")


# -- what becomes of what was turned up --------------------------------------------------------


def test_TUNNEL_4_the_revealed_cards_stay_until_the_turn_ends() -> None:
    scene = begin_tunnel({"red": 4}, {"red": 2})
    assert discards(scene) == {}
    assert scene.state.own.tunnel is not None
    assert scene.state.own.tunnel.revealed == EXAMPLE
    scene.when(0, PayTunnel({"red": 2}))
    assert discards(scene) == {"red": 5, LOCO: 1, "blue": 1}
    assert scene.state.own.tunnel is None


def test_TUNNEL_4_they_fill_a_gap_in_the_market_only_once_they_are_discarded() -> None:
    scene = begin_tunnel({"red": 4}, {"red": 2}, market=(None, *MARKET[1:]))
    assert scene.state.own.market[0] is None
    scene.when(0, DeclineTunnel())
    scene.then_types(TunnelDeclined, RevealedDiscarded, DeckRecreated, MarketFilled, TurnStarted)
    assert scene.state.own.market[0] in EXAMPLE


def test_TUNNEL_4_they_can_be_drawn_again_by_the_next_seat() -> None:
    scene = begin_tunnel({"red": 4}, {"red": 2}).when(0, DeclineTunnel())
    scene.when(1, DrawBlind()).then_types(DeckRecreated, CardDrawn)
