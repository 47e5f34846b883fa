"""SETUP-1 to SETUP-3: dealing, and the choice of the starting tickets."""

from __future__ import annotations

import pytest

from schemas.commands import CreateGame, Leave, SeatPlan, StartGame, TakeSeat
from schemas.events import DeckShuffled, GameStarted, HandDealt, TurnStarted
from schemas.trains.commands import DrawBlind, KeepTickets
from schemas.trains.events import (
    MarketFilled,
    TicketsKept,
    TicketsOffered,
    TicketsReturned,
    TicketsShuffled,
)
from schemas.trains.field_types import COLORS
from services.referee.games import UnloggedRejectionError
from tests.rules.given import SEED, create_from, created, started

BOT = SeatPlan("bot", "random")


def test_SETUP_1_hands_are_dealt_from_the_shuffled_deck_and_then_the_market_is_laid_out() -> None:
    scene = started(3).then_types(
        GameStarted, DeckShuffled, TicketsShuffled, HandDealt, HandDealt, HandDealt, MarketFilled,
        TicketsOffered, TicketsOffered, TicketsOffered,
    )  # fmt: skip
    shuffled = scene.only(DeckShuffled)
    dealt = [card for hand in scene.events_of(HandDealt) for card in hand.cards]
    market = scene.only(MarketFilled)
    assert len(shuffled.order) == 110
    assert [*dealt, *market.cards] == list(shuffled.order[:17])
    assert [seat_state.own.cards for seat_state in scene.state.seats] == [4, 4, 4]
    assert scene.state.own.deck[::-1] == list(shuffled.order[17:])


def test_SETUP_1_a_first_market_of_too_many_locomotives_is_flushed() -> None:
    cards = {**dict.fromkeys(COLORS, 1), "locomotive": 200}
    scene = started(2, {"cards": cards, "hand": 1})
    types = [event.type for event in scene.events]
    assert types.count("market_flushed") > 5
    assert types.count("deck_shuffled") == 1 + 5


@pytest.mark.parametrize("seats", [2, 3, 4, 5])
def test_SETUP_1_two_to_five_seats_play(seats: int) -> None:
    scene = started(seats)
    assert [seat_state.own.cars for seat_state in scene.state.seats] == [45] * seats


@pytest.mark.parametrize("seats", [1, 6])
def test_SETUP_1_other_numbers_of_seats_do_not(seats: int) -> None:
    with pytest.raises(UnloggedRejectionError, match="GAME-6"):
        create_from(CreateGame((BOT,) * seats))


@pytest.mark.parametrize(
    "command",
    [
        CreateGame((BOT, BOT), ruleset="chess"),
        CreateGame((BOT, BOT), board="atlantis"),
        CreateGame((BOT, BOT), options={"carts": 45}),
        CreateGame((BOT, BOT), options={"cars": "45"}),
        CreateGame((BOT, BOT), options={"cards": {"red": 12}}),
        CreateGame((BOT, BOT), options={"route_points": (1, 2, 4, 7, 10)}),
        CreateGame((BOT, BOT), options={"start_tickets": {"regular": 16}}),
        CreateGame((BOT, BOT), options={"start_keep": 4}),
        CreateGame((BOT, BOT), options={"draw_keep": 4}),
        CreateGame((BOT, SeatPlan("bot"))),
        CreateGame((BOT, SeatPlan("human", "random"))),
    ],
)
def test_SETUP_1_a_game_that_could_not_be_dealt_and_scored_is_not_created(command: CreateGame) -> None:
    with pytest.raises(UnloggedRejectionError, match="GAME-6"):  # there is no log yet to hold a refusal
        create_from(command)


def test_SETUP_1_the_rule_options_are_recorded_with_what_the_game_overrides() -> None:
    rule_options = created(2, {"cars": 20}).state.rule_options
    assert (rule_options.cars, rule_options.hand, rule_options.market, rule_options.clock_ms) == (
        20,
        4,
        5,
        None,
    )
    assert rule_options.route_points == (1, 2, 4, 7, 10, 15)
    assert sum(rule_options.cards.values()) == 110


def test_SETUP_1_a_game_starts_once_when_every_seat_is_taken() -> None:
    scene = create_from(CreateGame((BOT, SeatPlan())))
    scene.when(0, DrawBlind()).refused("GAME-2")
    scene.when(None, StartGame()).refused("GAME-5")
    scene.when(None, TakeSeat("Ann", 0)).refused("GAME-4")
    scene.when(None, TakeSeat("Ann")).when(None, TakeSeat("Bea")).refused("GAME-4")
    scene.when(None, StartGame())
    assert scene.state.started
    scene.when(None, StartGame()).refused("GAME-5")


def test_SETUP_1_two_people_in_a_game_have_different_names() -> None:
    scene = create_from(CreateGame((SeatPlan(), SeatPlan()))).when(None, TakeSeat("Ann"))
    scene.when(None, TakeSeat("Ann")).refused("GAME-4")


def test_SETUP_1_a_game_is_created_once() -> None:
    with pytest.raises(UnloggedRejectionError, match="GAME-6"):
        created().when(None, CreateGame((BOT, BOT)))


def test_SETUP_1_the_same_seed_deals_the_same_game() -> None:
    command = CreateGame((BOT, BOT), seed="spring")
    first, second = (create_from(command).when(None, StartGame()).events for _ in range(2))
    other = create_from(CreateGame((BOT, BOT), seed="autumn")).when(None, StartGame()).events
    assert first == second != other
    assert create_from(command).state.seed != SEED == created().state.seed


def test_SETUP_1_a_deck_may_have_no_locomotives() -> None:
    scene = started(2, {"cards": dict.fromkeys(COLORS, 5)})
    for seat in (0, 1):
        scene.when(seat, KeepTickets((0, 1)))
    assert DrawBlind() in scene.legal(0)


def test_SETUP_2_each_seat_is_offered_three_tickets_and_all_choose_at_once_in_any_order() -> None:
    scene = started(3)
    assert [len(seat_state.own.offer) for seat_state in scene.state.seats] == [3, 3, 3]
    assert set(scene.state.pending_choices) == {0, 1, 2}
    scene.when(2, KeepTickets((0, 2))).then_types(TicketsKept)
    scene.when(0, KeepTickets((0, 1, 2))).then_types(TicketsKept)
    assert scene.state.turn is None
    scene.when(1, KeepTickets((1, 2))).then_types(TicketsKept, TicketsReturned, TicketsReturned, TurnStarted)
    assert scene.state.turn == 0


def test_SETUP_2_nobody_plays_or_chooses_again_before_all_have_chosen() -> None:
    scene = started(2)
    scene.when(0, DrawBlind()).refused("TURN-3")
    scene.when(0, KeepTickets((0, 1))).when(0, KeepTickets((0, 1))).refused("SETUP-2")
    scene.when(0, DrawBlind()).refused("SETUP-2")


@pytest.mark.parametrize("keep", [(0, 3), (0, 0), (0, 1, 1)])
def test_SETUP_2_only_offered_tickets_are_kept_and_each_once(keep: tuple[int, ...]) -> None:
    started(2).when(0, KeepTickets(keep)).refused("SETUP-2")


def test_SETUP_2_the_order_of_the_indexes_to_keep_means_nothing() -> None:
    one, other = started(2).when(0, KeepTickets((0, 2))), started(2).when(0, KeepTickets((2, 0)))
    assert one.events == other.events


@pytest.mark.parametrize("keep", [(), (1,)])
def test_SETUP_3_fewer_than_two_are_not_enough(keep: tuple[int, ...]) -> None:
    started(2).when(0, KeepTickets(keep)).refused("SETUP-3")


def test_SETUP_3_what_is_given_back_goes_to_the_bottom_in_seat_order_whatever_the_order_of_answers() -> None:
    keeps = {0: KeepTickets((1, 2)), 1: KeepTickets((0, 2)), 2: KeepTickets((0, 1))}
    decks = []
    for order in ((0, 1, 2), (2, 0, 1), (1, 2, 0)):
        scene = started(3)
        back = [
            scene.seat_state(0).own.offer[0],
            scene.seat_state(1).own.offer[1],
            scene.seat_state(2).own.offer[2],
        ]
        for seat in order:
            scene.when(seat, keeps[seat])
        deck = scene.state.own.ticket_decks["regular"]
        assert len(deck) == 24
        assert deck[2::-1] == back  # the last one given back is at the bottom
        decks.append(deck)
    assert decks[0] == decks[1] == decks[2]


def test_SETUP_3_a_seat_that_leaves_while_choosing_delays_nobody() -> None:
    scene = started(3).when(1, KeepTickets((0, 1))).when(0, Leave())
    assert len(scene.seat_state(0).own.tickets) == 2
    scene.when(2, KeepTickets((0, 1)))
    assert scene.state.turn == 1


def test_SETUP_2_starting_tickets_are_chosen_once() -> None:
    scene = started(2).when(0, KeepTickets((0, 1)))
    scene.when(0, KeepTickets((0, 1))).refused("SETUP-2")


def test_TICKET_1_a_game_in_which_tickets_could_be_drawn_for_ever_is_not_created() -> None:
    with pytest.raises(UnloggedRejectionError, match="draw_keep"):
        create_from(CreateGame((BOT, BOT), options={"draw_keep": 0}))
    create_from(CreateGame((BOT, BOT), options={"draw_tickets": {"regular": 0}, "draw_keep": 0}))
