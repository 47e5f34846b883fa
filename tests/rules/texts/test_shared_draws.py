"""SETUP-*, TURN-*, CARD-* and MARKET-*: the sentences that usa, europe and marklin share, in each of them."""

from __future__ import annotations

import pytest

from schemas.commands import Command, Leave, Pass
from schemas.events import DeckShuffled, HandDealt, Passed, TurnStarted
from schemas.trains.commands import ClaimRoute, DrawBlind, DrawMarket, DrawTickets, KeepTickets
from schemas.trains.events import (
    CardDrawn,
    DeckRecreated,
    MarketCardTaken,
    MarketFilled,
    MarketFlushed,
    TicketsKept,
    TicketsOffered,
)
from services.referee.games import redact_for
from tests.rules.given import MARKET, Scene, given, started
from tests.rules.texts.market_games import IN_EVERY_MARKET_GAME, MarketGame

LOCO = "locomotive"
SUPPLY = ("black", "orange", "purple", "white", "yellow", "green", "black", "orange", "purple")


def choosing(game: MarketGame, seats: int = 2) -> Scene:
    """A game just dealt, its seats choosing which starting tickets to keep."""
    scene = started(seats, rules=game.rules)
    for seat in range(seats):
        if game.rules == "marklin":
            scene.when(seat, DrawTickets({"short": 2, "long": 2}))
    return scene


# -- setting up -------------------------------------------------------------------------------


@IN_EVERY_MARKET_GAME
def test_SETUP_1_every_hand_is_four_cards_of_the_shuffled_deck_and_the_market_comes_after(
    game: MarketGame,
) -> None:
    scene = started(3, rules=game.rules)
    (shuffled,), hands = scene.events_of(DeckShuffled), scene.events_of(HandDealt)
    assert [(hand.seat, hand.cards) for hand in hands] == [
        (seat, shuffled.order[4 * seat : 4 * seat + 4]) for seat in range(3)
    ]
    laid = scene.events_of(MarketFilled)[0]
    assert laid.cards == shuffled.order[12:17]
    assert scene.events.index(hands[-1]) < scene.events.index(laid)
    assert len(shuffled.order) == {"usa": 110, "europe": 110, "marklin": 118}[game.rules]


@IN_EVERY_MARKET_GAME
@pytest.mark.parametrize("last", [0, 1, 2])
def test_SETUP_2_the_first_seat_begins_when_the_last_has_chosen_be_it_any_seat(
    game: MarketGame, last: int
) -> None:
    scene = choosing(game, 3)
    for seat in sorted(range(3), key=lambda seat: (seat == last, seat)):
        assert scene.state.turn is None
        scene.when(seat, KeepTickets((0, 1)))
    assert scene.events[-1] == TurnStarted(0)


@IN_EVERY_MARKET_GAME
def test_SETUP_3_a_seat_may_keep_all_that_it_is_offered(game: MarketGame) -> None:
    scene = choosing(game)
    offer = list(scene.seat_state(0).own.offer)
    scene.when(0, KeepTickets(tuple(range(len(offer)))))
    assert scene.seat_state(0).own.tickets == offer


# -- whose turn, and what it is ------------------------------------------------------------------


@IN_EVERY_MARKET_GAME
def test_TURN_1_nobody_acts_in_the_turn_of_another(game: MarketGame) -> None:
    scene = given(3, rules=game.rules, hands=[{"blue": 3}] * 3)
    for command in (DrawBlind(), DrawMarket(0), game.draw, ClaimRoute(game.blue, {"blue": 3}), Pass()):
        scene.when(1, command).refused("TURN-1")


@IN_EVERY_MARKET_GAME
def test_TURN_1_to_choose_starting_tickets_is_nobodys_turn(game: MarketGame) -> None:
    scene = choosing(game)
    assert scene.state.turn is None
    assert set(scene.state.pending_choices) == {0, 1}
    scene.when(0, DrawBlind()).refused("TURN-3")


@IN_EVERY_MARKET_GAME
def test_TURN_2_whatever_the_action_it_is_the_whole_turn(game: MarketGame) -> None:
    claim = ClaimRoute(game.blue, {"blue": 3})
    for action in ([DrawBlind(), DrawBlind()], [claim], [game.draw, KeepTickets((0,))]):
        scene = given(2, rules=game.rules, hands=[{"blue": 6}])
        assert scene.when(0, *action).state.turn == 1
        scene.when(0, DrawBlind()).refused("TURN-1")


@IN_EVERY_MARKET_GAME
def test_TURN_3_a_second_card_or_a_choice_of_tickets_comes_before_all_else(game: MarketGame) -> None:
    claim = ClaimRoute(game.blue, {"blue": 3})
    others: tuple[Command, ...] = (claim, game.draw, KeepTickets((0,)), Pass())
    drawing = given(2, rules=game.rules, hands=[{"blue": 3}]).when(0, DrawBlind())
    for command in others:
        drawing.when(0, command).refused("TURN-3")
    choosing_tickets = given(2, rules=game.rules, hands=[{"blue": 3}]).when(0, game.draw)
    for command in (*others[:2], DrawBlind(), DrawMarket(0), Pass()):
        choosing_tickets.when(0, command).refused("TURN-3")


def starved(game: MarketGame, hands: list[dict[str, int]] | None = None) -> Scene:
    """No card and no ticket to draw, and nothing in hand unless it is named."""
    decks: dict[str, tuple[str, ...]] = (
        {"short": (), "long": ()} if game.rules == "marklin" else {"regular": ()}
    )
    return given(
        2, rules=game.rules, hands=hands or [{}, {}], market=(None,) * 5, deck=(), ticket_decks=decks
    )


@IN_EVERY_MARKET_GAME
def test_TURN_4_with_nothing_to_do_a_seat_passes_and_with_anything_it_may_not(game: MarketGame) -> None:
    scene = starved(game)
    assert scene.legal(0) == [Pass()]
    scene.when(0, Pass()).then(Passed(0), TurnStarted(1))
    starved(game, [{"blue": 3}, {}]).when(0, Pass()).refused("TURN-4")


# -- drawing ------------------------------------------------------------------------------------------


@IN_EVERY_MARKET_GAME
def test_CARD_1_two_cards_each_from_the_market_or_blind_and_the_gap_is_filled_before_the_second(
    game: MarketGame,
) -> None:
    scene = given(rules=game.rules, deck=SUPPLY).when(0, DrawMarket(1))
    scene.then(MarketCardTaken(0, 1, MARKET[1]), MarketFilled((1,), ("black",)))
    scene.when(0, DrawBlind()).then(CardDrawn(0, "orange"), TurnStarted(1))


@IN_EVERY_MARKET_GAME
def test_CARD_2_a_locomotive_from_the_market_is_a_whole_draw_and_a_blind_one_is_one_card(
    game: MarketGame,
) -> None:
    market = (LOCO, *MARKET[1:])
    given(rules=game.rules, market=market, deck=SUPPLY).when(0, DrawMarket(0)).then_types(
        MarketCardTaken, MarketFilled, TurnStarted
    )
    scene = given(rules=game.rules, market=market, deck=(LOCO, *SUPPLY)).when(0, DrawBlind())
    scene.then(CardDrawn(0, LOCO)).when(0, DrawMarket(0)).refused("CARD-2")
    scene.when(0, DrawBlind()).then(CardDrawn(0, "black"), TurnStarted(1))


@IN_EVERY_MARKET_GAME
def test_CARD_4_the_discards_become_the_deck_when_it_has_run_out_and_no_sooner(game: MarketGame) -> None:
    scene = given(rules=game.rules, deck=("red",), discards={"blue": 9})
    scene.when(0, DrawBlind()).then(CardDrawn(0, "red"))
    scene.when(0, DrawBlind())
    rebuilt = scene.only(DeckShuffled, DeckRecreated)
    assert rebuilt.order == ("blue",) * 9
    assert len(scene.state.own.deck) == 8
    assert sum(scene.state.own.discards.values()) == 0


@IN_EVERY_MARKET_GAME
def test_CARD_4_with_deck_and_discards_empty_only_the_market_can_be_drawn_from(game: MarketGame) -> None:
    scene = given(rules=game.rules, deck=())
    scene.when(0, DrawBlind()).refused("CARD-4")
    scene.when(0, DrawMarket(2)).then(MarketCardTaken(0, 2, MARKET[2]))
    assert scene.state.own.market[2] is None


@IN_EVERY_MARKET_GAME
def test_CARD_4_a_gap_is_filled_after_the_next_card_from_the_market(game: MarketGame) -> None:
    scene = given(rules=game.rules, market=(None, *MARKET[1:]), deck=SUPPLY)
    scene.when(0, DrawMarket(3)).then(
        MarketCardTaken(0, 3, MARKET[3]), MarketFilled((0, 3), ("black", "orange"))
    )


@IN_EVERY_MARKET_GAME
def test_CARD_4_or_a_gap_is_filled_at_the_end_of_a_turn(game: MarketGame) -> None:
    scene = given(rules=game.rules, market=(None, *MARKET[1:]), deck=SUPPLY)
    scene.when(0, DrawBlind()).then(CardDrawn(0, "black"))
    scene.when(0, DrawBlind()).then(CardDrawn(0, "orange"), MarketFilled((0,), ("purple",)), TurnStarted(1))


@IN_EVERY_MARKET_GAME
@pytest.mark.parametrize("rest", [None, LOCO])
def test_CARD_4_the_turn_ends_after_the_first_card_where_there_is_no_second(
    game: MarketGame, rest: str | None
) -> None:
    scene = given(rules=game.rules, deck=(), market=("red", rest, None, None, None))
    scene.when(0, DrawMarket(0)).then(MarketCardTaken(0, 0, "red"), TurnStarted(1))


@IN_EVERY_MARKET_GAME
def test_CARD_5_a_hand_has_no_limit(game: MarketGame) -> None:
    scene = given(rules=game.rules, hands=[{"red": 11, "blue": 11, "green": 11, "white": 11, LOCO: 14}])
    scene.when(0, DrawBlind(), DrawBlind())
    assert (scene.seat_state(0).own.cards, scene.state.turn) == (60, 1)


@IN_EVERY_MARKET_GAME
def test_MARKET_1_all_see_the_market_and_a_seat_alone_its_blind_card(game: MarketGame) -> None:
    scene = given(rules=game.rules, deck=SUPPLY).when(0, DrawMarket(0))
    for viewer in (None, 0, 1):
        assert tuple(redact_for(viewer, event) for event in scene.events) == scene.events
    drawn = scene.when(0, DrawBlind()).events[0]
    assert [redact_for(viewer, drawn) for viewer in (None, 0, 1)] == [
        CardDrawn(0, None), CardDrawn(0, "orange"), CardDrawn(0, None),
    ]  # fmt: skip


@IN_EVERY_MARKET_GAME
def test_MARKET_2_three_locomotives_have_all_five_discarded_and_five_turned_up(game: MarketGame) -> None:
    scene = given(rules=game.rules, market=(LOCO, LOCO, "red", "blue", "green"), deck=(LOCO, *SUPPLY))
    scene.when(0, DrawMarket(2))
    scene.then_types(MarketCardTaken, MarketFilled, MarketFlushed, MarketFilled)
    assert scene.state.own.market == list(SUPPLY[:5])
    assert {card: n for card, n in scene.state.own.discards.items() if n} == {LOCO: 3, "blue": 1, "green": 1}


@IN_EVERY_MARKET_GAME
def test_MARKET_2_as_many_again_are_swept_again(game: MarketGame) -> None:
    scene = given(
        rules=game.rules,
        market=(LOCO, LOCO, "red", "blue", "green"),
        deck=(LOCO, LOCO, LOCO, LOCO, "red", "blue", *SUPPLY),
    )
    scene.when(0, DrawMarket(2))
    scene.then_types(MarketCardTaken, *[MarketFilled, MarketFlushed] * 2, MarketFilled)
    assert scene.state.own.market == list(SUPPLY[:5])


@IN_EVERY_MARKET_GAME
def test_MARKET_2_CARD_4_of_a_deck_of_fewer_than_five_the_rest_comes_first_except_in_europe(
    game: MarketGame,
) -> None:
    """The deck has two blue cards left when the market is swept; twenty red ones were discarded."""
    scene = given(
        rules=game.rules,
        market=(LOCO, LOCO, "green", "green", "green"),
        deck=(LOCO, "blue", "blue"),
        discards={"red": 20},
    )
    scene.when(0, DrawMarket(2))
    rebuilt = scene.only(DeckShuffled, DeckRecreated)
    if game.rules == "europe":
        assert isinstance(rebuilt, DeckRecreated)
        assert (rebuilt.order.count("blue"), len(rebuilt.order)) == (2, 2 + 20 + 5)
        assert scene.state.own.market == list(rebuilt.order[:5])
    else:
        assert isinstance(rebuilt, DeckShuffled)
        assert (rebuilt.order.count("blue"), len(rebuilt.order)) == (0, 20 + 5)
        assert scene.state.own.market == ["blue", "blue", *rebuilt.order[:3]]


@IN_EVERY_MARKET_GAME
def test_MARKET_2_the_market_is_looked_at_only_when_a_card_is_turned_up_in_it(game: MarketGame) -> None:
    three = (LOCO, LOCO, LOCO, "red", "blue")
    scene = given(rules=game.rules, market=three, deck=SUPPLY)
    scene.when(0, DrawBlind(), DrawBlind()).then_types(CardDrawn, TurnStarted)
    scene.when(1, Leave())
    assert scene.state.own.market == list(three)
    scene = given(rules=game.rules, market=(*three[:4], None), deck=())
    scene.when(0, DrawMarket(3)).then(MarketCardTaken(0, 3, "red"), TurnStarted(1))


@IN_EVERY_MARKET_GAME
def test_TICKET_1_what_is_drawn_is_offered_one_is_kept_and_the_rest_goes_to_the_bottom(
    game: MarketGame,
) -> None:
    scene = given(rules=game.rules, ticket_decks={game.deck: game.tickets}, tickets=[[], []])
    offered = scene.when(0, game.draw).only(TicketsOffered)
    assert offered.tickets == game.tickets[: len(offered.tickets)]
    assert len(offered.tickets) == {"usa": 3, "europe": 3, "marklin": 4}[game.rules]
    scene.when(0, KeepTickets(())).refused("TICKET-1")
    scene.when(0, KeepTickets((1,)))
    back = [ticket for ticket in offered.tickets if ticket != game.tickets[1]]
    assert scene.state.own.ticket_decks[game.deck][::-1] == [*game.tickets[len(offered.tickets) :], *back]


@IN_EVERY_MARKET_GAME
def test_TICKET_1_with_no_ticket_left_none_can_be_drawn(game: MarketGame) -> None:
    starved(game).when(0, game.draw).refused("TICKET-1")


@IN_EVERY_MARKET_GAME
def test_TICKET_2_kept_tickets_are_seen_by_their_seat_alone(game: MarketGame) -> None:
    scene = given(rules=game.rules, ticket_decks={game.deck: game.tickets}).when(0, game.draw)
    kept = scene.when(0, KeepTickets((0,))).events[0]
    assert redact_for(0, kept) == kept == TicketsKept(0, game.tickets[:1])
    for viewer in (None, 1):
        assert redact_for(viewer, kept) == TicketsKept(0, (None,))
