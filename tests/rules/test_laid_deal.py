"""A position before the deal (`turn` is null): the decks lie as given, and the game begins with the deal from them."""

from __future__ import annotations

from typing import Any

import pytest

from schemas.commands import CreateGame, Leave, SeatPlan, StartGame
from schemas.events import GameStarted, HandDealt
from schemas.trains.commands import KeepTickets, RequestCards
from schemas.trains.events import CardsGiven, DeckLaid, TicketsOffered
from schemas.trains.positions import POSITION_SCHEMA
from services.referee.games import UnloggedRejectionError, redact_for
from services.referee.games.trains.rulesets import TRAIN_RULESETS
from services.text.sentences import event_sentence
from tests.rules.given import Scene, create_from
from tests.rules.trains_map import SMALL

DECK = ["red", "red", "blue", "green", "white", "white", "white", "blue", "green", "red"]
CITIES = ("ash", "bow", "cam", "dee", "esk")
DESTINATIONS = [{"between": [a, b], "points": 10} for n, a in enumerate(CITIES) for b in CITIES[n + 1 :]]
TOP = {"start_return": "top", "order": "seated"}


def laid(rules: str = "trains", seats: int = 2, board: Any = SMALL, **entries: Any) -> Scene:
    """A game that is created with these entries of a position before the deal."""
    plans = (SeatPlan("bot", "random"),) * seats
    position = POSITION_SCHEMA.read({"turn": None, **entries})
    options = TOP if rules == "trains" else {}
    return create_from(CreateGame(plans, rules, board, "a seed", options, position))


def refused(**entries: Any) -> tuple[str, str]:
    with pytest.raises(UnloggedRejectionError) as refusal:
        laid(**entries)
    return refusal.value.rule, refusal.value.reason


def test_SETUP_1_hands_come_from_the_top_of_the_deck_as_it_lies() -> None:
    scene = laid(deck=DECK, ticket_decks={"regular": DESTINATIONS})
    assert [event.order for event in scene.events_of(DeckLaid)] == [tuple(DECK)]
    scene.when(None, StartGame()).then_types(GameStarted, HandDealt, HandDealt, TicketsOffered)
    assert [event.cards for event in scene.events_of(HandDealt)] == [tuple(DECK[:4]), tuple(DECK[4:8])]
    offer = scene.only(TicketsOffered)
    assert offer.tickets == ("ash:bow", "ash:cam", "ash:dee", "ash:esk", "bow:cam")
    assert event_sentence(scene.state, scene.events[0]) == "The cards are dealt."


def test_CONDUCT_2_what_a_removed_seat_leaves_goes_on_top_of_a_deck_that_was_laid() -> None:
    scene = laid(deck=DECK, ticket_decks={"regular": DESTINATIONS}).when(None, StartGame()).when(0, Leave())
    offer = scene.only(TicketsOffered)
    assert (offer.seat, offer.tickets[0]) == (1, "ash:bow")
    scene.when(1, KeepTickets((0, 1)), RequestCards())
    assert scene.events_of(CardsGiven)[0].cards == ("blue", "red")
    assert scene.state.own.deck[::-1] == ["red", "green", *DECK[8:]]


def test_P5_nobody_sees_the_order_of_decks_that_were_laid() -> None:
    def shown(deck: list[str], destinations: list[Any]) -> list[object]:
        """What the public sees of the creation and the deal."""
        scene = laid(deck=deck, ticket_decks={"regular": destinations})
        created = scene.events
        return [redact_for(None, event) for event in (*created, *scene.when(None, StartGame()).events)]

    assert shown(DECK, DESTINATIONS) == shown(DECK[::-1], DESTINATIONS[::-1])


@pytest.mark.parametrize("rules", TRAIN_RULESETS)
def test_decks_that_are_left_out_are_shuffled_by_the_seed(rules: str) -> None:
    scene = laid(rules, board=None).when(None, StartGame())
    state = scene.state
    assert state.turn is None and state.pending_choices
    assert all(seat_state.own.cards == state.rule_options.hand for seat_state in state.seats)
    assert all(card is not None for card in state.own.market)


def test_GAME_6_a_position_before_the_deal_has_no_hands_and_enough_cards() -> None:
    assert refused(hands=[{"red": 1}])[1].startswith("position.hands: nobody has any before the deal")
    assert refused(tickets=[DESTINATIONS[:1]])[1].startswith("position.tickets: nobody")
    assert refused(deck=DECK[:7]) == ("GAME-6", "position.deck: 7 cards, 8 are dealt at the start")


def test_SETUP_4_a_laid_deck_has_destinations_for_every_seat() -> None:
    rule, reason = refused(deck=DECK, ticket_decks={"regular": DESTINATIONS[:6]})
    assert (rule, reason) == ("SETUP-4", "board: 6 destinations, 2 seats need 7")
