"""Decks that run short are rebuilt, and what a removed seat gives back goes on top of them: who knows of it, and what is said."""

from __future__ import annotations

from collections import Counter

import pytest

from schemas.commands import Leave, StartGame
from schemas.events import DeckShuffled
from schemas.trains.commands import ClaimRoute, DrawMarket, DrawTickets, KeepTickets
from schemas.trains.events import DeckRecreated, HandReturned, MarketFlushed, TicketsOffered
from services.referee.games.trains.determinization import collect_knowledge, determinize
from services.text.sentences import event_sentence
from tests.rules.given import created, given
from tests.rules.open_tunnels import PAMPLONA
from tests.rules.trains_map import SMALL, choosing_destinations


def test_TUNNEL_1_a_short_deck_and_the_discards_are_shuffled_together() -> None:
    scene = given(rules="europe", hands=[{"red": 2}], deck=("blue", "blue"), discards={"white": 20})
    scene.when(0, ClaimRoute(PAMPLONA, {"red": 2}))
    recreated = scene.only(DeckShuffled, DeckRecreated)
    assert (len(recreated.order), type(recreated)) == (22, DeckRecreated)


def test_MARKET_2_reshuffles_are_limited_to_five_and_not_flushes() -> None:
    market = ("locomotive", "locomotive", "red", "red", "blue")
    scene = given(market=market, deck=["locomotive"] * 36 + ["green"] * 5)
    scene.when(0, DrawMarket(4))
    assert len(scene.events_of(MarketFlushed)) == 8


def test_TICKET_3_short_decks_give_all_that_they_have() -> None:
    decks = {"short": ["berlin:chemnitz"], "long": ["berlin:mainz", "kiel:schweiz"]}
    scene = given(2, rules="marklin", ticket_decks=decks, tickets=[[], []])
    scene.when(0, DrawTickets({"short": 3, "long": 1}))
    offered = scene.only(TicketsOffered)
    assert len(offered.tickets) == 3


# -- who knows what, and what is said ----------------------------------------------------------


@pytest.mark.parametrize("viewer", [None, 0, 1])
def test_CONDUCT_2_a_fork_deals_the_hand_that_went_on_top_afresh_with_the_deck(viewer: int | None) -> None:
    scene = created(2, rules="trains", board=SMALL)
    events = [*scene.events, *scene.when(None, StartGame()).events, *scene.when(0, Leave()).events]
    knowledge = collect_knowledge(viewer, events)
    assert not knowledge.hand(0)
    dealt = determinize(scene.state, knowledge, lambda row: row[::-1])
    assert (len(dealt.own.deck), dealt.seats[0].own.cards) == (len(scene.state.own.deck), 0)
    assert Counter(dealt.own.deck) + Counter(dealt.seats[1].own.hand) == Counter(
        scene.state.rule_options.cards
    )


def test_CONDUCT_2_and_TUNNEL_1_sentences_say_what_became_of_hand_and_deck() -> None:
    scene = choosing_destinations(2).when(0, Leave())
    returned = scene.only(HandReturned)
    assert event_sentence(scene.state, returned) == "random 1 leaves 4 cards on top of the deck."
    scene = given(rules="europe", hands=[{"red": 2}], deck=("blue",), discards={"white": 5})
    recreated = scene.when(0, ClaimRoute(PAMPLONA, {"red": 2})).only(DeckRecreated)
    sentence = "What is left of the deck and the discards are shuffled together."
    assert event_sentence(scene.state, recreated) == sentence


def test_CONDUCT_2_the_next_seat_chooses_from_the_offer_of_the_removed_one() -> None:
    scene = choosing_destinations(2)
    offer = list(scene.seat_state(0).own.offer)
    scene.when(0, Leave()).when(1, KeepTickets((0, 4)))
    assert scene.seat_state(1).own.tickets == [offer[0], offer[4]]
