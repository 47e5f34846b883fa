"""P4 and the rules that version 4 changed: what the third version decided it goes on to decide, in its own games."""

from __future__ import annotations

from collections import Counter

import pytest

from schemas.commands import ClaimRoute, DrawMarket, DrawTickets, KeepTickets, Leave, StartGame
from schemas.events import (
    DeckRecreated,
    DeckShuffled,
    HandReturned,
    MarketFlushed,
    SeatCleared,
    SeatGone,
    TicketsOffered,
    TicketsReturned,
    TicketsShuffled,
    TunnelRevealed,
)
from services.referee.rules.determinization import collect_knowledge, determinize
from services.referee.rules.rulesets import RULESET_VERSIONS
from services.text.events import event_sentence
from tests.rules.given import Scene, created, given
from tests.rules.open_tunnels import PAMPLONA
from tests.rules.trains_map import SMALL, choosing_destinations

LOCO = "locomotive"
BOTH_VERSIONS = pytest.mark.parametrize("version", [3, 4])


def by_version(scene: Scene, version: int) -> Scene:
    """The same game, as if it had been created by this version of its rules."""
    scene.state.ruleset = RULESET_VERSIONS[scene.state.ruleset.name, version]
    return scene


@BOTH_VERSIONS
def test_P4_TUNNEL_1_how_a_short_deck_is_rebuilt_follows_from_the_games_version(version: int) -> None:
    scene = given(rules="europe", hands=[{"red": 2}], deck=("blue", "blue"), discards={"white": 20})
    by_version(scene, version).when(0, ClaimRoute(PAMPLONA, {"red": 2}))
    (shuffled,) = scene.events_of(DeckShuffled, DeckRecreated)
    assert (len(shuffled.order), type(shuffled)) == {3: (20, DeckShuffled), 4: (22, DeckRecreated)}[version]
    if version == 3:
        assert scene.events_of(TunnelRevealed)[0].revealed == ("blue", "blue", "white")


@BOTH_VERSIONS
def test_P4_MARKET_2_what_is_limited_to_five_follows_from_the_games_version(version: int) -> None:
    scene = given(market=(LOCO, LOCO, "red", "red", "blue"), deck=[LOCO] * 36 + ["green"] * 5)
    by_version(scene, version).when(0, DrawMarket(4))
    assert len(scene.events_of(MarketFlushed)) == {3: 5, 4: 8}[version]


@BOTH_VERSIONS
def test_P4_TICKET_3_what_a_short_deck_gives_follows_from_the_games_version(version: int) -> None:
    decks = {"short": ["berlin:chemnitz"], "long": ["berlin:mainz", "kiel:schweiz"]}
    scene = by_version(given(2, rules="marklin", ticket_decks=decks, tickets=[[], []]), version)
    scene.when(0, DrawTickets({"short": 3, "long": 1}))
    (offered,) = scene.events_of(TicketsOffered)
    assert len(offered.tickets) == {3: 2, 4: 3}[version]


def test_P4_TICKET_3_the_third_version_refuses_what_is_not_four_in_all() -> None:
    decks = {"short": ["berlin:chemnitz"], "long": ["berlin:mainz", "kiel:schweiz"]}
    scene = by_version(given(2, rules="marklin", ticket_decks=decks, tickets=[[], []]), 3)
    scene.when(0, DrawTickets({"short": 1, "long": 2})).refused("TICKET-3")


def test_P4_CONDUCT_2_the_third_version_shuffles_the_offer_in_and_drops_the_hand() -> None:
    scene = by_version(choosing_destinations(3), 3)
    deck = list(scene.state.deck)
    scene.when(0, Leave())
    scene.then_types(TicketsReturned, SeatGone, SeatCleared, TicketsShuffled, TicketsOffered)
    assert scene.events_of(TicketsReturned)[0].to == "shuffled"
    assert scene.state.deck == deck


def test_P4_GAME_6_the_third_version_plays_on_any_board() -> None:
    board = created(2).state.board
    RULESET_VERSIONS["trains", 3].require_board(RULESET_VERSIONS["trains", 3].rule_options, board)


# -- who knows what, and what is said ----------------------------------------------------------


@pytest.mark.parametrize("viewer", [None, 0, 1])
def test_CONDUCT_2_a_fork_deals_the_hand_that_went_on_top_afresh_with_the_deck(viewer: int | None) -> None:
    scene = created(2, rules="trains", board=SMALL)
    events = [*scene.events, *scene.when(None, StartGame()).events, *scene.when(0, Leave()).events]
    knowledge = collect_knowledge(viewer, events)
    assert not knowledge.hand(0)
    dealt = determinize(scene.state, knowledge, lambda row: row[::-1])
    assert (len(dealt.deck), dealt.seats[0].cards) == (len(scene.state.deck), 0)
    assert Counter(dealt.deck) + Counter(dealt.seats[1].hand) == Counter(scene.state.rule_options.cards)


def test_CONDUCT_2_and_TUNNEL_1_sentences_say_what_became_of_hand_and_deck() -> None:
    scene = choosing_destinations(2).when(0, Leave())
    (returned,) = scene.events_of(HandReturned)
    assert event_sentence(scene.state, returned) == "random 1 leaves 4 cards on top of the deck."
    scene = given(rules="europe", hands=[{"red": 2}], deck=("blue",), discards={"white": 5})
    (recreated,) = scene.when(0, ClaimRoute(PAMPLONA, {"red": 2})).events_of(DeckRecreated)
    sentence = "What is left of the deck and the discards are shuffled together."
    assert event_sentence(scene.state, recreated) == sentence


def test_CONDUCT_2_the_next_seat_chooses_from_the_offer_of_the_removed_one() -> None:
    scene = choosing_destinations(2)
    offer = list(scene.seat_state(0).offer)
    scene.when(0, Leave()).when(1, KeepTickets((0, 4)))
    assert scene.seat_state(1).tickets == [offer[0], offer[4]]
