"""What the rule texts leave open, as the rule pages decide it, where no other test shows it.

`decisions.py` lists every decision with the test that shows it."""

from __future__ import annotations

from typing import Any

import pytest

from schemas.events import GameCreated, TurnStarted, write_event
from schemas.trains.commands import BuildStation, ClaimRoute, DrawBlind, DrawMarket, RequestCards
from schemas.trains.events import CardDrawn, MarketCardTaken, MarketFilled, MarketFlushed, RouteClaimed
from services.referee.games import UnloggedRejectionError, redact_for
from services.referee.games.trains.board import load_board
from services.referee.games.trains.rulesets import TRAIN_RULESETS
from services.referee.games.trains.scoring import score
from tests.rules.given import created, given, started
from tests.rules.texts.market_games import IN_EVERY_MARKET_GAME, MarketGame
from tests.rules.trains_map import ASH_BOW_RED, trains_game

LOCO = "locomotive"
RED = {"red": 3}


@IN_EVERY_MARKET_GAME
def test_decided_MARKET_2_a_market_with_gaps_that_holds_the_count_is_swept(game: MarketGame) -> None:
    scene = given(rules=game.rules, market=(LOCO, LOCO, "red", None, None), deck=(LOCO,))
    scene.when(0, DrawMarket(2))
    assert [type(event) for event in scene.events[:3]] == [MarketCardTaken, MarketFilled, MarketFlushed]


@IN_EVERY_MARKET_GAME
def test_decided_MARKET_2_a_market_that_was_set_up_with_three_is_swept_at_the_next_fill(
    game: MarketGame,
) -> None:
    scene = given(rules=game.rules, market=(LOCO, LOCO, LOCO, "red", "blue"), deck=("green",) * 9)
    scene.when(0, DrawBlind()).then(CardDrawn(0, "green"))
    scene.when(0, DrawMarket(3))
    scene.then_types(MarketCardTaken, MarketFilled, MarketFlushed, MarketFilled, TurnStarted)


@IN_EVERY_MARKET_GAME
def test_decided_TURN_1_turns_go_as_seated_unless_an_order_is_set(game: MarketGame) -> None:
    assert started(3, rules=game.rules, ages=(20, 70, 8)).state.turn_order == (0, 1, 2)
    for order, seats in (("age", (1, 0, 2)), ("youngest", (2, 0, 1))):
        aged = started(3, {"order": order}, rules=game.rules, ages=(20, 70, 8))
        assert aged.state.turn_order == seats


@pytest.mark.parametrize("rules", TRAIN_RULESETS)
def test_decided_ROUTE_6_a_game_with_a_route_that_the_table_has_no_points_for_is_not_created(
    rules: str,
) -> None:
    longest = max(route.length for route in load_board(TRAIN_RULESETS[rules].default_board).routes.values())
    with pytest.raises(UnloggedRejectionError, match=r"GAME-6.*points"):
        created(2, {"route_points": (1,) * (longest - 1)}, rules=rules)


def test_decided_ROUTE_6_europe_has_no_points_for_five_or_seven_spaces() -> None:
    with pytest.raises(UnloggedRejectionError, match=r"GAME-6.*points"):
        created(2, rules="europe", board="usa")


@pytest.mark.parametrize(
    ("rules", "route"),
    [("usa", "montreal-new-york-a"), ("europe", "constantinople-sofia-a"), ("trains", ASH_BOW_RED)],
)
def test_decided_SCORE_3_a_single_route_counts_as_the_longest(rules: str, route: str) -> None:
    play = trains_game if rules == "trains" else given
    extra: dict[str, Any] = {} if rules == "trains" else {"rules": rules}
    ours, theirs = score(play(2, owners={route: 0}, tickets=[[], []], **extra).state)
    assert (ours.longest, theirs.longest) == (3, 0)
    assert (ours.bonus, theirs.bonus) == (20 if rules == "trains" else 10, 0)


@pytest.mark.parametrize("pair", ["kristiansand-stavanger", "mo-i-rana-trondheim"])
def test_decided_DOUBLE_1_DOUBLE_2_parallel_routes_of_unequal_length_are_double_routes(pair: str) -> None:
    board = load_board("nordic")
    assert board.routes[f"{pair}-a"].length != board.routes[f"{pair}-b"].length
    claim = ClaimRoute(f"{pair}-a", {LOCO: board.routes[f"{pair}-a"].length})
    fields: dict[str, Any] = {"rules": "europe", "board": "nordic", "hands": [{LOCO: 9}] * 3}
    given(2, **fields, owners={f"{pair}-b": 0}).when(0, claim).refused("DOUBLE-1")
    given(2, **fields, owners={f"{pair}-b": 1}).when(0, claim).refused("DOUBLE-2")
    given(3, **fields, owners={f"{pair}-b": 1}).when(0, claim).then_types(RouteClaimed, TurnStarted)


def test_decided_SETUP_2_europe_keeps_its_printed_tickets_of_5_and_13_points() -> None:
    tickets = load_board("europe").tickets.values()
    values = [ticket.points for ticket in tickets if ticket.deck == "regular"]
    assert (min(values), max(values), values.count(5), values.count(13)) == (5, 13, 5, 1)


@pytest.mark.parametrize("board", ["nordic", "switzerland"])
def test_decided_CLOCK_1_europe_on_other_boards_has_no_clock_unless_it_is_set(board: str) -> None:
    assert created(2, rules="europe", board=board).state.rule_options.clock_ms is None
    timed = created(2, {"clock_ms": 60_000}, rules="europe", board=board)
    assert timed.state.rule_options.clock_ms == 60_000
    assert created(2, rules="europe").state.rule_options.clock_ms == 120_000


def test_decided_MARKET_1_in_trains_all_see_how_many_cards_and_rails_a_seat_has() -> None:
    scene = trains_game(2, hands=[RED, {}], deck=["red", "blue"]).when(0, ClaimRoute(ASH_BOW_RED, RED))
    assert redact_for(1, scene.events[0]) == scene.events[0]  # the connection, and so the rails it took
    given_cards = scene.when(1, RequestCards()).events[0]
    shown = redact_for(0, given_cards)
    assert len(getattr(shown, "cards", ())) == 2


def test_decided_CONDUCT_2_a_removed_seat_has_no_points_for_stations_that_it_did_not_build() -> None:
    scene = given(3, rules="europe", options={"strict": True}, tickets=[[], [], []], hands=[{}])
    assert score(scene.state)[0].stations == 12
    scene.when(0, BuildStation("wien", {"red": 1}))
    removed = score(scene.state)[0]
    assert (scene.seat_state(0).exit_reason, removed.stations, removed.total) == ("removed", 0, 0)


@pytest.mark.parametrize("name", ["usa", "europe", "germany"])
def test_decided_ROUTE_1_only_neighbours_have_a_route_to_claim(name: str) -> None:
    board = load_board(name)
    joined = {frozenset((route.a, route.b)) for route in board.routes.values()}
    for ticket in board.tickets.values():
        if frozenset((ticket.a, ticket.b)) not in joined:
            way = f"{ticket.a}-{ticket.b}-a"
            given(2, rules=board.default_ruleset).when(0, ClaimRoute(way, {"red": 2})).refused("ROUTE-1")


@IN_EVERY_MARKET_GAME
def test_decided_ROUTE_4_a_piece_on_the_board_is_its_seats_number(game: MarketGame) -> None:
    scene = given(2, rules=game.rules, hands=[{"red": 2}]).when(0, ClaimRoute(game.gray, {"red": 2}))
    assert scene.state.own.route_owners == {game.gray: 0}
    assert not any("colo" in field for event in scene.events for field in write_event(event))


def test_decided_SETUP_1_in_trains_the_players_follow_from_the_view() -> None:
    created_event = created(8, rules="trains").only(GameCreated)
    for seat in range(8):
        shown = redact_for(seat, created_event)
        assert isinstance(shown, GameCreated)
        assert len(shown.seats) == 8
