"""Games with given cards."""

from __future__ import annotations

from typing import Any

import pytest

from schemas.trains.boards.form import BoardForm
from schemas.trains.boards.trains import read_trains_map
from schemas.trains.commands import KeepTickets, RequestCards
from services.referee.games import decide_and_apply
from services.tournament.knock_out import GameOutcome
from services.trains.cases import KINDS, TOO_FEW_DESTINATIONS, answer_case
from services.trains.given_cards import PLAYERS, TooFewDestinationsError, play_game, start_game
from services.trains.player_state import STATE, build_game_state
from tests.rules.trains_map import CONNECTIONS

MAP = {
    "width": 200,
    "height": 100,
    "cities": [[city, [10 * n, 10]] for n, city in enumerate(("Ash", "Bow", "Cam", "Dee", "Esk"))],
    "connections": CONNECTIONS,
}
CARDS = ["red", "blue", "green", "white"] * 50
PLAYER_STATE: dict[str, Any] = {
    "this": {
        "destination1": ["Ash", "Bow"],
        "destination2": ["Ash", "Cam"],
        "rails": 4,
        "cards": {"red": 4, "green": 0, "white": 5},
        "acquired": [["Ash", "Bow", "blue", 4]],
    },
    "acquired": [[["Ash", "Bow", "red", 3]]],
}


@pytest.fixture
def form() -> BoardForm:
    return read_trains_map(MAP)


def test_hands_are_dealt_from_the_front_of_the_given_cards_four_to_each_in_turn_order(
    form: BoardForm,
) -> None:
    state = start_game(form, 2, ["red"] * 4 + ["blue"] * 4 + ["green", "white"])
    hands = [{card: n for card, n in seat_state.own.hand.items() if n} for seat_state in state.seats]
    assert hands == [{"red": 4}, {"blue": 4}]
    assert state.own.deck == ["white", "green"]  # the top is the last


def test_destinations_are_offered_in_the_order_of_their_names(form: BoardForm) -> None:
    state = start_game(form, 2, CARDS)
    assert state.seats[0].own.offer == ["ash:bow", "ash:cam", "ash:dee", "ash:esk", "bow:cam"]


def test_the_next_is_offered_the_first_five_destinations_not_yet_kept(form: BoardForm) -> None:
    state = start_game(form, 2, CARDS)
    decide_and_apply(state, 0, KeepTickets((1, 3)))
    assert state.seats[1].own.offer == ["ash:bow", "ash:dee", "bow:cam", "bow:dee", "bow:esk"]


def test_a_request_gives_the_two_cards_at_the_front(form: BoardForm) -> None:
    state = start_game(form, 2, ["red"] * 8 + ["green", "white", "blue"])
    for seat in (0, 1):
        decide_and_apply(state, seat, KeepTickets((0, 1)))
    decide_and_apply(state, 0, RequestCards())
    assert {card: n for card, n in state.seats[0].own.hand.items() if n} == {"red": 4, "green": 1, "white": 1}
    assert state.own.deck == ["blue"]


def test_a_result_has_the_names_of_a_rank_and_of_the_removed_sorted() -> None:
    """With nothing but four white cards each nobody can acquire anything, so that all who play fair are equal."""
    players = [["Zoe", "Cheat"], ["Yan", "Hold-10"], ["Bob", "Cheat"], ["Ann", "Hold-10"]]
    cities = [[city, [10 * n, 20]] for n, city in enumerate(("Ash", "Bow", "Cam", "Dee", "Esk", "Fen"))]
    line = {"Ash": {"Bow": {"red": 3}}, "Bow": {"Cam": {"red": 3}}, "Cam": {"Dee": {"red": 3}},
            "Dee": {"Esk": {"red": 3}}, "Esk": {"Fen": {"red": 3}}}  # fmt: skip
    wide = {**MAP, "cities": cities, "connections": line}
    assert answer_case(KINDS["8-xref"], [wide, players, ["white"] * 16]) == [[["Ann", "Yan"]], ["Bob", "Zoe"]]
    assert answer_case(KINDS["9-xmanager"], [wide, players, ["white"] * 16]) == [
        ["Ann", "Yan"],
        ["Bob", "Zoe"],
    ]


def test_a_cheat_keeps_destinations_and_is_removed_at_its_first_turn(form: BoardForm) -> None:
    outcome = play_game(form, [PLAYERS["Cheat"], PLAYERS["Hold-10"]], CARDS)
    assert outcome == GameOutcome(((1,),), (0,))
    assert play_game(form, [PLAYERS["Cheat"]] * 2, CARDS) == GameOutcome((), (0, 1))


def test_a_map_with_too_few_destinations_is_an_error(form: BoardForm) -> None:
    with pytest.raises(TooFewDestinationsError):
        play_game(form, [PLAYERS["Hold-10"]] * 4, CARDS)
    four = [[name, "Hold-10"] for name in ("Ann", "Bob", "Cyd", "Dee")]
    assert answer_case(KINDS["8-xref"], [MAP, four, CARDS]) == TOO_FEW_DESTINATIONS
    assert answer_case(KINDS["9-xmanager"], [MAP, four, CARDS]) == TOO_FEW_DESTINATIONS
    assert answer_case(KINDS["8-xref"], [MAP, four[:3], CARDS]) != TOO_FEW_DESTINATIONS


@pytest.mark.parametrize(
    ("wanted", "may"),
    [
        (["Ash", "Cam", "red", 4], True),
        (["Ash", "Cam", "red", 3], False),  # there is none of this length
        (["Bow", "Cam", "green", 3], False),  # no green cards
        (["Cam", "Dee", "white", 5], False),  # rails for four
        (["Ash", "Bow", "red", 3], False),  # another player's
        (["Ash", "Bow", "blue", 4], False),  # its own
        (["Ash", "Zed", "red", 3], False),  # not on the map
    ],
    ids=str,
)
def test_what_a_player_may_acquire(wanted: list[object], may: bool) -> None:
    assert answer_case(KINDS["5-xlegal"], [MAP, PLAYER_STATE, wanted]) is may


def test_a_player_state_is_a_state_in_which_the_player_has_to_act(form: BoardForm) -> None:
    state = build_game_state(form, STATE.read(PLAYER_STATE))
    assert state.turn == 0
    assert state.seats[0].own.cars == 4
    assert state.own.route_owners == {"ash-bow-blue": 0, "ash-bow-red": 1}
