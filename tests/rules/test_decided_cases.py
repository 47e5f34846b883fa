"""The cases where the rule texts are silent, as rules.md decides them, and bugs that many have had."""

from __future__ import annotations

from schemas.commands import CallTime, Pass
from schemas.events import DeckShuffled, GameEnded, Passed, SeedRevealed, TurnStarted
from schemas.trains.commands import ClaimRoute, DrawBlind, DrawMarket, KeepTickets
from schemas.trains.events import CardDrawn, MarketCardTaken, MarketFilled, MarketFlushed, TicketsShown
from tests.rules.given import NEW_YORK, given, started

LOCO = "locomotive"


def test_decided_MARKET_2_a_flush_that_loops_stops_after_five_reshuffles() -> None:
    scene = given(market=("red", *[LOCO] * 4), deck=[LOCO], discards={LOCO: 4})
    scene.when(0, DrawMarket(0))
    assert len(scene.events_of(DeckShuffled)) == 5
    assert len(scene.events_of(MarketFlushed)) == 5
    assert scene.state.own.market == [LOCO] * 5
    assert scene.state.turn == 0  # and a second card may be drawn, blind
    assert scene.legal(0) == [DrawBlind()]


def test_decided_TURN_4_END_3_with_nothing_legal_to_do_all_pass_and_the_game_ends() -> None:
    scene = given(2, hands=[{}, {}], market=(None,) * 5, deck=(), ticket_deck=())
    scene.when(0, Pass()).then(Passed(0), TurnStarted(1))
    scene.when(1, Pass())
    assert scene.state.result
    assert scene.state.result.reason == "all passed"


def test_decided_CLOCK_2_out_of_time_while_choosing_starting_tickets_and_the_game_goes_on() -> None:
    scene = started(3, {"clock_ms": 1000}).when(1, KeepTickets((1, 2)))
    first = scene.seat_state(0).own.offer[:2]
    scene.after_ms(1000).when(None, CallTime(0)).when(2, KeepTickets((0, 1))).refused("CLOCK-2")
    assert (scene.seat_state(0).own.tickets, scene.seat_state(0).exit_reason) == (first, "out of time")
    scene.when(None, CallTime(2))
    assert scene.state.turn == 1
    assert not scene.state.result


def test_bug_CARD_4_a_deck_that_is_not_rebuilt_so_that_no_game_can_end() -> None:
    """Two seats draw and pay until somebody's cars are gone, from a deck of 24 cards."""
    scene = given(2, hands=[{}, {}], deck=["red"] * 19, ticket_deck=())
    shuffles = 0
    while not scene.state.result:
        (seat,) = scene.state.pending_choices
        choices = scene.legal(seat)
        claims = [choice for choice in choices if isinstance(choice, ClaimRoute)]
        scene.when(seat, claims[-1] if claims else choices[0])
        shuffles += len(scene.events_of(DeckShuffled))
    assert shuffles >= 2


def test_bug_CARD_4_a_market_that_is_not_refilled_after_the_deck_was_empty() -> None:
    scene = given(2, deck=[], market=(None, "red", None, None, "red"), hands=[{"blue": 3}, {}])
    scene.when(0, ClaimRoute(NEW_YORK, {"blue": 3}))
    filled = scene.only(MarketFilled)
    assert filled.slots == (0, 2, 3)
    assert scene.state.own.market == ["blue", "red", "blue", "blue", "red"]


def test_bug_CARD_2_a_locomotive_taken_as_the_second_card() -> None:
    scene = given(deck=["red"] * 9, market=(LOCO, LOCO, "red", "red", "red"))
    scene.when(0, DrawMarket(2)).when(0, DrawMarket(1)).refused("CARD-2")
    scene.when(0, DrawMarket(color=LOCO)).refused("CARD-2")


def test_bug_END_1_stuck_in_the_last_turn() -> None:
    """A seat with nothing to do in its last turn passes, and the game ends all the same."""
    scene = given(
        3, hands=[{"blue": 3}, {}, {}], cars=[5], market=(), deck=(), ticket_deck=(), options={"market": 0}
    )
    scene.when(0, ClaimRoute(NEW_YORK, {"blue": 3})).when(1, DrawBlind(), DrawBlind())
    scene.when(2, DrawBlind()).then_types(CardDrawn, TurnStarted)
    assert scene.legal(0) == [Pass()]
    scene.when(0, Pass()).then_types(
        Passed, TicketsShown, TicketsShown, TicketsShown, SeedRevealed, GameEnded
    )
    assert scene.events_of(GameEnded)[0].reason == "last turns"


def test_bug_MARKET_2_an_endless_flush() -> None:
    """Nothing but locomotives is left, deck and discards together fill the market once."""
    scene = given(market=("red", *[LOCO] * 4), deck=[], discards={LOCO: 1}, hands=[{}, {}])
    scene.when(0, DrawMarket(0))
    assert len(scene.events_of(MarketFlushed)) == 5
    scene.when(1, DrawMarket(0)).then(MarketCardTaken(1, 0, "locomotive"), TurnStarted(0))
