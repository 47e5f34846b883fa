"""END-*, CLOCK-*, CONDUCT-*: the sentences that usa, europe and marklin share, in each of them."""

from __future__ import annotations

from typing import Any

import pytest

from schemas.commands import CallTime, Command, Leave, Pass, StartGame
from schemas.events import CommandRefused, GameEnded, SeatCleared, SeatGone, TurnStarted
from schemas.trains.commands import ClaimRoute, DrawBlind, KeepTickets
from schemas.trains.events import LastTurnsBegan, TicketsKept, TicketsShown
from services.referee.games import GameState, UnloggedRejectionError, fold_events
from services.referee.games.trains.scoring import train_scores
from tests.rules.given import Scene, created, given
from tests.rules.texts.market_games import IN_EVERY_MARKET_GAME, MarketGame

DRAW: tuple[Command, ...] = (DrawBlind(), DrawBlind())
BLUE = {"blue": 3}
CLOCK = {"clock_ms": 1000, "move_ms": None}


def nothing_left(game: MarketGame, seats: int, **more: Any) -> Scene:
    """No card and no ticket to draw, and no card in any hand."""
    fields: dict[str, Any] = {
        "hands": [{}] * seats,
        "market": (None,) * 5,
        "deck": (),
        "tickets": [[]] * seats,
    }
    scene = given(seats, rules=game.rules, **{**fields, **more})
    scene.state.own.ticket_decks = {deck: [] for deck in scene.state.own.ticket_decks}
    return scene


def result(scene: Scene) -> GameEnded:
    assert scene.state.result
    return scene.state.result


# -- the end ------------------------------------------------------------------------------------


@IN_EVERY_MARKET_GAME
def test_END_1_two_cars_or_fewer_give_every_seat_one_more_turn_and_the_seat_itself_the_last(
    game: MarketGame,
) -> None:
    scene = given(3, rules=game.rules, hands=[BLUE], cars=[5]).when(0, ClaimRoute(game.blue, BLUE))
    assert scene.events[-2:] == (LastTurnsBegan((1, 2, 0)), TurnStarted(1))
    for seat in (1, 2, 0):
        assert (scene.state.turn, scene.state.result) == (seat, None)
        scene.when(seat, *DRAW)
    assert result(scene).reason == "last turns"


@IN_EVERY_MARKET_GAME
def test_END_1_it_counts_how_a_turn_ends_whatever_was_done_in_it(game: MarketGame) -> None:
    begun = given(2, rules=game.rules, cars=[2]).when(0, *DRAW)
    assert begun.events_of(LastTurnsBegan) == (LastTurnsBegan((1, 0)),)
    three = given(2, rules=game.rules, cars=[3]).when(0, *DRAW)
    assert three.events_of(LastTurnsBegan) == ()


@IN_EVERY_MARKET_GAME
def test_END_1_nothing_begins_the_last_turns_twice(game: MarketGame) -> None:
    scene = given(2, rules=game.rules, cars=[2, 2]).when(0, *DRAW).when(1, *DRAW)
    assert scene.events_of(LastTurnsBegan) == ()
    assert result(scene.when(0, *DRAW)).reason == "last turns"


@IN_EVERY_MARKET_GAME
@pytest.mark.parametrize("seats", [2, 4])
def test_END_3_the_game_is_over_when_all_pass_one_after_the_other(game: MarketGame, seats: int) -> None:
    scene = nothing_left(game, seats)
    for seat in range(seats):
        assert scene.state.result is None
        scene.when(seat, Pass())
    assert result(scene).reason == "all passed"


@IN_EVERY_MARKET_GAME
def test_END_4_the_game_is_over_when_no_seat_has_time_left(game: MarketGame) -> None:
    scene = given(2, rules=game.rules, options=CLOCK).after_ms(1000).when(None, CallTime(0))
    assert scene.state.result is None
    assert result(scene.after_ms(1000).when(None, CallTime(1))).reason == "out of time"


@IN_EVERY_MARKET_GAME
def test_TICKET_2_at_the_end_all_see_the_tickets_and_not_before(game: MarketGame) -> None:
    scene = nothing_left(game, 2, tickets=[game.tickets[:2], game.tickets[2:3]]).when(0, Pass())
    assert scene.events_of(TicketsShown) == ()
    scene.when(1, Pass())
    assert scene.events_of(TicketsShown) == (
        TicketsShown(0, game.tickets[:2]), TicketsShown(1, game.tickets[2:3]),
    )  # fmt: skip


# -- time ----------------------------------------------------------------------------------------------


@IN_EVERY_MARKET_GAME
def test_CLOCK_1_a_clock_runs_only_while_the_game_waits_for_its_seat(game: MarketGame) -> None:
    scene = given(2, rules=game.rules, options=CLOCK).after_ms(300).when(0, *DRAW)
    scene.after_ms(600).when(1, *DRAW)
    assert [seat.clock_ms for seat in scene.state.seats] == [700, 400]


@IN_EVERY_MARKET_GAME
def test_CLOCK_1_a_replay_takes_all_time_from_the_log(game: MarketGame) -> None:
    """What the log records is folded again, at another hour, by who has no clock of its own."""
    scene = created(2, CLOCK, rules=game.rules)
    log = [(scene.state.at_ms, scene.events)]
    for passed, seat, command in ((0, None, StartGame()), (300, 0, Leave()), (200, None, CallTime(1))):
        scene.after_ms(passed).when(seat, command)
        log.append((scene.state.at_ms, scene.events))
    replayed = GameState()
    for at_ms, events in log:
        fold_events(replayed, at_ms, events)
    assert [seat.clock_ms for seat in replayed.seats] == [seat.clock_ms for seat in scene.state.seats]
    assert replayed.seats[1].clock_ms == 500


@IN_EVERY_MARKET_GAME
def test_CLOCK_1_a_move_has_three_days_that_only_a_new_turn_begins_anew(game: MarketGame) -> None:
    days = 3 * 86_400_000
    scene = given(2, rules=game.rules, options={"clock_ms": None}).after_ms(days - 2).when(0, DrawBlind())
    scene.when(0, Pass()).refused("TURN-3")
    scene.after_ms(1).when(None, CallTime(0)).refused("CLOCK-2")
    scene.when(0, DrawBlind()).then_types(type(scene.events[0]), TurnStarted)
    assert scene.state.next_deadline() == (scene.state.at_ms + days, 1)


@IN_EVERY_MARKET_GAME
def test_CLOCK_2_who_is_out_of_time_is_skipped_its_draw_ends_and_it_still_scores(game: MarketGame) -> None:
    scene = given(3, rules=game.rules, options=CLOCK, owners={game.blue: 0}, tickets=[[], [], []])
    scene.when(0, DrawBlind()).after_ms(1000).when(None, CallTime(0))
    scene.then(SeatGone(0, "out of time"), TurnStarted(1))
    scene.when(1, *DRAW).when(2, *DRAW)
    assert scene.state.turn == 1
    for seat in (1, 2):
        scene.after_ms(1000).when(None, CallTime(seat))
    assert train_scores(result(scene))[0].routes == 4


@IN_EVERY_MARKET_GAME
def test_CLOCK_2_open_tickets_are_kept_in_the_order_offered_as_few_as_must_be(game: MarketGame) -> None:
    scene = given(2, rules=game.rules, options=CLOCK, ticket_decks={game.deck: game.tickets})
    scene.when(0, game.draw).after_ms(1000).when(None, CallTime(0))
    assert scene.events[0] == TicketsKept(0, game.tickets[:1])


# -- conduct ----------------------------------------------------------------------------------------------


@IN_EVERY_MARKET_GAME
def test_CONDUCT_1_a_refused_command_changes_nothing_and_the_log_has_its_rule_and_the_reason(
    game: MarketGame,
) -> None:
    scene = given(2, rules=game.rules, hands=[{}]).when(0, ClaimRoute(game.blue, BLUE)).refused("ROUTE-3")
    assert scene.state.turn == 0
    scene.when(0, *DRAW).then_types(type(scene.events[0]), TurnStarted)


@IN_EVERY_MARKET_GAME
def test_CONDUCT_1_after_twenty_refusals_in_a_turn_no_more_are_kept(game: MarketGame) -> None:
    scene = given(2, rules=game.rules)
    for _ in range(20):
        scene.when(1, DrawBlind()).refused("TURN-1")
    with pytest.raises(UnloggedRejectionError, match="RATE-1"):
        scene.when(1, DrawBlind())
    scene.when(0, *DRAW).when(1, DrawBlind())
    assert scene.events_of(CommandRefused) == ()


@IN_EVERY_MARKET_GAME
def test_CONDUCT_2_no_game_is_strict_unless_it_was_made_so(game: MarketGame) -> None:
    scene = given(2, rules=game.rules).when(1, DrawBlind()).refused("TURN-1")
    assert scene.seat_state(1).exit_reason is None


@IN_EVERY_MARKET_GAME
def test_CONDUCT_2_a_removed_seat_has_nothing_left_scores_0_and_comes_last(game: MarketGame) -> None:
    """It had a route and a ticket; the others have less than nothing."""
    tickets = [game.tickets[:1], game.tickets[1:2], game.tickets[2:3]]
    options = {"strict": True, "station_points": 0}
    hands = [{"red": 1}, {}, {}]
    scene = nothing_left(game, 3, options=options, owners={game.blue: 0}, tickets=tickets, hands=hands)
    scene.when(0, Pass())
    assert scene.events[1:] == (SeatGone(0, "removed"), SeatCleared(0), TurnStarted(1))
    assert (scene.seat_state(0).own.cards, scene.seat_state(0).own.tickets, scene.state.own.route_owners) == (
        0,
        [],
        {},
    )
    scene.when(1, Pass()).when(2, Pass())
    first, *others = train_scores(result(scene))
    assert (first.total, first.routes, first.tickets, first.bonus, first.place) == (0, 0, 0, 0, 3)
    assert all(seat.total < 0 and seat.place < 3 for seat in others)


@IN_EVERY_MARKET_GAME
def test_CONDUCT_2_out_of_time_removes_from_a_strict_game(game: MarketGame) -> None:
    scene = given(3, rules=game.rules, options={**CLOCK, "strict": True}).after_ms(1000)
    scene.when(None, CallTime(0)).then(SeatGone(0, "removed"), SeatCleared(0), TurnStarted(1))


@IN_EVERY_MARKET_GAME
def test_CONDUCT_3_a_seat_that_leaves_is_skipped_and_scores_and_the_last_one_plays_on(
    game: MarketGame,
) -> None:
    scene = given(3, rules=game.rules, owners={game.blue: 0}, tickets=[[], [], []]).when(0, Leave())
    scene.when(1, *DRAW).when(2, Leave())
    scene.when(1, game.draw, KeepTickets((0,))).when(1, *DRAW)
    assert (scene.state.turn, scene.state.result) == (1, None)
    scores = train_scores(result(scene.when(1, Leave())))
    assert (result(scene).reason, scores[0].routes) == ("all gone", 4)
