"""Bugs that come back in project after project, each with its own test in every ruleset that has
the thing."""

from __future__ import annotations

from random import Random

import pytest

from schemas.commands import Leave, Pass
from schemas.events import DeckShuffled, GameEnded, TurnStarted
from schemas.field_types import Seat
from schemas.stored.codec import unpack_entry
from schemas.trains.commands import (
    BuildStation,
    ClaimRoute,
    DrawBlind,
    DrawMarket,
    MovePassenger,
    RequestCards,
)
from schemas.trains.events import DeckRecreated, LastTurnsBegan, MarketFilled, MarketFlushed, TunnelRevealed
from schemas.trains.field_types import LOCOMOTIVE, PASSENGER, PLUS_FOUR
from services.referee.games.trains import board as boards
from services.referee.games.trains.board import GRAY, Route
from services.referee.games.trains.rulesets import TRAIN_RULESETS
from tests.rules.given import Scene, given
from tests.rules.random_games import RandomGame, small_deck

WITH_MARKET = [name for name, rules in TRAIN_RULESETS.items() if rules.rule_options.market]
FLUSHES = [(name, kind) for name, rules in TRAIN_RULESETS.items() for kind in rules.rule_options.flush]
EVERY_RULESET = pytest.mark.parametrize("rules", TRAIN_RULESETS)
EVERY_MARKET = pytest.mark.parametrize("rules", WITH_MARKET)
RESHUFFLES = (DeckShuffled, DeckRecreated)
GAPS = (None,) * 5
SAME_KIND = ("red", "red", "red", "red", "blue")


def a_route(rules: str, kind: str = "rail") -> Route:
    """A coloured route of three spaces on the default board of these rules."""
    routes = boards.load_board(TRAIN_RULESETS[rules].default_board).routes.values()
    return next(r for r in routes if (r.kind, r.length) == (kind, 3) and r.color != GRAY and not r.parallels)


def take_a_turn(scene: Scene, seat: Seat) -> None:
    """Whatever the seat may do first, until its turn is over."""
    while scene.state.turn == seat:
        scene.when(seat, scene.legal(seat)[0])


# -- the deck isn't rebuilt, so the game can't end -------------------------------------------


@EVERY_MARKET
def test_an_empty_deck_is_rebuilt_by_the_draw_that_needs_it(rules: str) -> None:
    scene = given(rules=rules, deck=[], market=GAPS, discards={"red": 9, "blue": 9})
    assert DrawBlind() in scene.legal(0)
    scene.when(0, DrawBlind())
    assert [len(shuffled.order) for shuffled in scene.events_of(*RESHUFFLES)] == [18]
    scene.when(0, DrawBlind())
    assert scene.state.turn == 1
    assert len(scene.state.own.deck) + sum(card is not None for card in scene.state.own.market) == 16


@EVERY_MARKET
@pytest.mark.parametrize("seats", [2, 4])
def test_a_game_with_a_deck_that_is_used_up_again_and_again_ends_in_last_turns(
    rules: str, seats: int
) -> None:
    options = {"cards": small_deck(rules), "clock_ms": None}
    play = RandomGame(Random(7), TRAIN_RULESETS[rules].default_board, seats, habit="claims", options=options)
    assert len([*play.steps()]) > 30
    events = [event for entry in play.log for event in unpack_entry(entry).events]
    assert sum(isinstance(event, RESHUFFLES) for event in events) > 3
    assert play.state.result
    assert play.state.result.reason == "last turns"


def test_a_tunnel_has_the_deck_rebuilt_before_cards_are_turned_up() -> None:
    tunnel = a_route("europe", "tunnel")
    scene = given(rules="europe", hands=[{tunnel.color: 3}], deck=["white"], discards={"white": 8})
    scene.when(0, ClaimRoute(tunnel.id, {tunnel.color: 3}))
    ((shuffled,), (revealed,)) = scene.events_of(*RESHUFFLES), scene.events_of(TunnelRevealed)
    assert len(shuffled.order) == 9
    assert revealed.revealed == ("white",) * 3


@pytest.mark.parametrize("left", [0, 1])
def test_without_a_deck_to_rebuild_a_round_of_requests_ends_the_game(left: int) -> None:
    scene = given(3, rules="trains", deck=["red"] * left)
    scene.when(0, RequestCards()).when(1, RequestCards())
    assert scene.state.result is None
    scene.when(2, RequestCards())
    end = scene.only(GameEnded)
    assert end.reason == "no change"


# -- the market isn't refilled after the deck was empty --------------------------------------


@EVERY_MARKET
def test_a_market_that_ran_dry_is_filled_from_the_next_cards_that_are_discarded(rules: str) -> None:
    route = a_route(rules)
    scene = given(rules=rules, deck=[], market=GAPS, hands=[{route.color: 3}])
    scene.when(0, ClaimRoute(route.id, {route.color: 3}))
    assert len(scene.events_of(*RESHUFFLES)) == len(scene.events_of(MarketFilled)) == 1
    assert scene.state.own.market == [route.color] * 3 + [None] * 2
    assert DrawMarket(0) in scene.legal(1)


def test_the_cards_of_a_station_fill_the_market_too() -> None:
    scene = given(rules="europe", deck=[], market=(*SAME_KIND[:4], None), hands=[{"green": 1}])
    scene.when(0, BuildStation("wien", {"green": 1}))
    assert scene.state.own.market == [*SAME_KIND[:4], "green"]


def test_the_passenger_cards_of_a_journey_fill_the_market_too() -> None:
    scene = given(
        rules="marklin",
        deck=[],
        market=(*SAME_KIND[:4], None),
        hands=[{PASSENGER: 1}],
        owners={"berlin-leipzig-a": 1},
        passengers={"berlin": 0},
    )
    scene.when(0, MovePassenger("berlin", ("berlin-leipzig-a",)))
    assert scene.state.own.market == [*SAME_KIND[:4], PASSENGER]


# -- a locomotive is taken as the second card ------------------------------------------------


@EVERY_MARKET
@pytest.mark.parametrize("first", [DrawBlind(), DrawMarket(4)])
def test_a_face_up_locomotive_is_no_second_card(rules: str, first: DrawBlind | DrawMarket) -> None:
    scene = given(rules=rules, market=(LOCOMOTIVE, *SAME_KIND[:3], "blue"), deck=["green"] * 9)
    assert DrawMarket(0) in scene.legal(0)
    scene.when(0, first)
    assert DrawMarket(0) not in scene.legal(0)
    scene.when(0, DrawMarket(0)).refused("CARD-2")
    scene.when(0, DrawMarket(color=LOCOMOTIVE)).refused("CARD-2")
    scene.when(0, DrawMarket(1))
    assert scene.state.turn == 1


@pytest.mark.parametrize("card", [PLUS_FOUR, PASSENGER])
def test_a_plus_four_or_a_passenger_card_is_one(card: str) -> None:
    scene = given(rules="marklin", market=(card, *SAME_KIND[:3], "blue"), deck=["green"] * 9, hands=[{}])
    scene.when(0, DrawBlind(), DrawMarket(0))
    assert (scene.seat_state(0).own.hand[card], scene.state.turn) == (1, 1)


# -- stuck in the last turn ------------------------------------------------------------------


def at_the_end(rules: str, seats: int) -> Scene:
    """Seat 1 has just begun the last turns."""
    route = a_route(rules)
    hands: list[dict[str, int]] = [{}, {route.color: 3}]
    scene = given(seats, rules=rules, hands=hands, cars=[45, 5], turn=1, options={"strict": False})
    scene.when(1, ClaimRoute(route.id, {route.color: 3}))
    assert scene.events_of(LastTurnsBegan)
    return scene


@EVERY_RULESET
@pytest.mark.parametrize("seats", [2, 3, 5])
def test_after_the_last_turn_of_every_seat_the_game_is_over(rules: str, seats: int) -> None:
    scene, turns = at_the_end(rules, seats), 0
    while not scene.state.result:
        seat = scene.state.turn
        assert seat is not None
        take_a_turn(scene, seat)
        turns += 1
    assert scene.state.result.reason == "last turns"
    assert turns == (seats if TRAIN_RULESETS[rules].rule_options.last_turns == "all" else seats - 1)
    assert [scene.legal(seat) for seat in range(seats)] == [[]] * seats


@EVERY_RULESET
def test_a_seat_that_leaves_in_the_last_turns_delays_nobody(rules: str) -> None:
    scene = at_the_end(rules, 3)
    scene.when(0, Leave())
    take_a_turn(scene, 2)
    if TRAIN_RULESETS[rules].rule_options.last_turns == "all":
        assert scene.state.result is None
        take_a_turn(scene, 1)
    assert scene.state.result


@EVERY_MARKET
def test_a_seat_with_nothing_to_do_in_its_last_turn_passes(rules: str) -> None:
    scene = at_the_end(rules, 2)
    state = scene.state
    state.own.deck, state.own.market, state.own.open_routes = [], [None] * 5, {}
    state.own.discards = dict.fromkeys(state.own.discards, 0)
    state.own.ticket_decks = {deck: [] for deck in state.own.ticket_decks}
    for seat in (0, 1):
        state.seats[seat].own.hand = dict.fromkeys(state.seats[seat].own.hand, 0)
        assert scene.legal(seat) == ([Pass()] if seat == state.turn else [])
        scene.when(seat, Pass())
    assert state.result


@EVERY_RULESET
def test_a_second_seat_with_few_cars_does_not_begin_the_last_turns_again(rules: str) -> None:
    scene = at_the_end(rules, 3)
    scene.state.seats[2].own.cars = 0
    take_a_turn(scene, 2)
    assert scene.events_of(LastTurnsBegan) == ()
    assert scene.events_of(TurnStarted) == (TurnStarted(0),)


# -- the flush that never ends ---------------------------------------------------------------


@pytest.mark.parametrize(("rules", "kind"), FLUSHES)
def test_a_market_of_one_kind_is_flushed_until_the_deck_was_rebuilt_five_times(rules: str, kind: str) -> None:
    scene = given(rules=rules, market=(kind, kind, *SAME_KIND[2:]), deck=[kind] * 60)
    scene.when(0, DrawMarket(4))
    assert len(scene.events_of(*RESHUFFLES)) == 5
    assert len(scene.events_of(MarketFlushed)) > 5
    assert scene.state.own.market == [kind] * 5
    scene.when(0, DrawBlind())
    assert scene.state.turn == 1


@pytest.mark.parametrize(("rules", "kind"), FLUSHES)
def test_a_flush_that_only_turns_its_own_discards_up_again_ends_too(rules: str, kind: str) -> None:
    scene = given(rules=rules, market=(kind, kind, *SAME_KIND[2:]), deck=[], discards={kind: 8})
    scene.when(0, DrawMarket(4))
    assert 1 <= len(scene.events_of(*RESHUFFLES)) <= 1 + 5
    assert scene.state.pending_choices == {0: "second card"}
    assert None not in scene.state.own.market
