"""Maps of Trains that are odd but right: names that begin or end with a blank, and maps with hardly a city."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from schemas.errors import InvalidInputError
from schemas.refusals import CommandRefusedError
from schemas.trains.boards.form import BOARD_SCHEMA
from schemas.trains.boards.trains import read_trains_map, write_trains_map
from schemas.trains.commands import ClaimRoute, RequestCards
from services.bots.trains.trains_strategies import connection_of
from services.cli.trains.ask import answer_query
from services.referee.games import UnloggedRejectionError
from services.referee.games.trains.board import build_board
from services.referee.games.trains.scoring import score
from services.text.sentences import describe_command
from services.text.trains import tickets_suffix
from services.trains.cases import KINDS, TOO_FEW_DESTINATIONS, answer_case
from services.trains.given_cards import TooFewDestinationsError, choose_map
from services.verification.trains.train_report import board_map
from tests.rules.given import given as given_game
from tests.trains.test_games import CARDS, MAP, PLAYER_STATE

ANN, BOB = ["Ann", "Hold-10"], ["Bob", "Buy-Now"]
NAMES = ("Ash", " Ash", "Ash ", " ", "  ", "Bow. ")
BLANKS: Mapping[str, Any] = {
    "width": 100,
    "height": 100,
    "cities": [[name, [10 * n, 10]] for n, name in enumerate(NAMES)],
    "connections": {
        "Ash": {" Ash": {"red": 3}, "Ash ": {"red": 4}},
        " ": {"  ": {"blue": 3}, "Ash": {"white": 5}},
        "Bow. ": {"  ": {"green": 3}},
    },
}
OWN = {**PLAYER_STATE["this"], "destination1": [" ", "Ash"], "destination2": [" Ash", "Ash"], "acquired": []}


def one_city_map(*names: str) -> dict[str, Any]:
    return {"width": 10, "height": 10, "cities": [[name, [0, 0]] for name in names], "connections": {}}


# -- names that begin or end with a blank ------------------------------------------------------------


def test_names_with_blanks_at_their_ends_are_cities_of_their_own_with_ids_of_their_own() -> None:
    form = read_trains_map(BLANKS)
    assert [city.name for city in form.cities] == list(NAMES)
    assert [city.id for city in form.cities] == ["ash", "ash-2", "ash-3", "city", "city-2", "bow"]
    assert [route.id for route in form.routes] == [
        "city-city-2-blue", "city-ash-white", "city-2-bow-green", "ash-2-ash-red", "ash-ash-3-red",
    ]  # fmt: skip
    assert read_trains_map(write_trains_map(form)) == form
    assert BOARD_SCHEMA.read(BOARD_SCHEMA.write(form)) == form


def test_a_connection_is_looked_up_and_ordered_by_the_names_as_they_are() -> None:
    board = build_board(read_trains_map(BLANKS))
    connections = [tuple(connection_of(board, route)) for route in board.routes]
    assert connections == [
        (" ", "  ", 3, "blue"),
        (" ", "Ash", 5, "white"),
        ("  ", "Bow. ", 3, "green"),
        (" Ash", "Ash", 3, "red"),
        ("Ash", "Ash ", 4, "red"),
    ]
    state = {"this": {**OWN, "rails": 9, "cards": {"red": 4}}, "acquired": [[[" Ash", "Ash", "red", 3]]]}
    assert answer_case(KINDS["5-xlegal"], [BLANKS, state, ["Ash", "Ash ", "red", 4]]) is True
    assert (
        answer_case(KINDS["5-xlegal"], [BLANKS, state, [" Ash", "Ash", "red", 3]]) is False
    )  # another player's
    assert answer_case(KINDS["5-xlegal"], [BLANKS, state, ["Ash", " Ash", "red", 3]]) is False  # not in order
    eleven = {"this": {**OWN, "rails": 9, "cards": {"red": 11}}, "acquired": []}
    assert answer_case(KINDS["6-xstrategy"], [BLANKS, eleven]) == [" Ash", "Ash", "red", 3]


def test_a_path_is_found_between_names_as_they_are() -> None:
    apart = {**BLANKS, "connections": {"Ash": {" Ash": {"red": 3}}, "Ash ": {" ": {"red": 4}}}}
    assert answer_case(KINDS["3-xmap"], [" Ash", "Ash", apart]) is True
    assert answer_case(KINDS["3-xmap"], ["Ash ", "Ash", apart]) is False
    with pytest.raises(InvalidInputError, match="the map has no city '   '"):
        answer_case(KINDS["3-xmap"], ["   ", "Ash", apart])


def test_a_game_on_such_a_map_is_played_and_described_with_the_names_as_they_are() -> None:
    game = given_game(2, rules="trains", board=BOARD_SCHEMA.write(read_trains_map(BLANKS)))
    text = describe_command(game.state, 0, ClaimRoute("ash-2-ash-red", {"red": 3}))
    assert text == "claim  Ash - Ash (3, red) with 3 red"
    assert tickets_suffix(game.state, ["city:ash-3"]) == ":   - Ash  (10)"
    assert [label.text for label in board_map(game.state).names] == list(NAMES)
    assert len(score(game.state)) == 2
    assert answer_case(KINDS["8-xref"], [BLANKS, [ANN, BOB], CARDS]) != TOO_FEW_DESTINATIONS


def test_a_question_names_a_city_as_the_map_does() -> None:
    question = {
        "ruleset": "trains",
        "board": BLANKS,
        "seats": 2,
        "position": {
            "tickets": [
                [{"between": [" Ash", "Ash "], "points": 10}],
                [{"between": ["ash", "city"], "points": 10}],
            ]
        },
        "score": True,
    }
    seats: list[Any] = answer_query(question, Path())["score"]
    assert [set(seat["tickets"][0]["between"]) for seat in seats] == [{"ash-2", "ash-3"}, {"city", "ash"}]


@settings(max_examples=60, deadline=None)
@given(names=st.lists(st.text(" .,Aa1", min_size=1, max_size=25), unique=True, max_size=8), data=st.data())
def test_any_names_of_the_form_come_back_as_they_were(names: list[str], data: st.DataObject) -> None:
    connections: dict[str, dict[str, dict[str, int]]] = {}
    for one, other in data.draw(
        st.lists(st.tuples(st.sampled_from(names or ["-"]), st.sampled_from(names or ["-"])), max_size=6)
    ):
        if one < other:
            connections.setdefault(one, {})[other] = {"red": 3}
    value = {**one_city_map(*names), "connections": connections}
    form = read_trains_map(value)
    assert len({city.id for city in form.cities}) == len(names)
    assert write_trains_map(form) == value


@pytest.mark.parametrize("name", ["", "\t", "a\n", "\xa0", "a" * 26, "Ä", "a-b", "a\x00"])
def test_a_blank_is_the_only_white_space_in_a_name(name: str) -> None:
    with pytest.raises(InvalidInputError, match=r"cities.0: .* is no name") as refused:
        read_trains_map(one_city_map(name))
    assert str(refused.value).isprintable()


# -- hardly a city -----------------------------------------------------------------------------------


@pytest.mark.parametrize("names", [(), ("Ash",), ("Ash", "Bow")], ids=["none", "one", "two apart"])
def test_SETUP_4_a_map_with_hardly_a_city_has_not_enough_destinations(names: tuple[str, ...]) -> None:
    tiny = one_city_map(*names)
    assert answer_case(KINDS["8-xref"], [tiny, [ANN, BOB], CARDS]) == TOO_FEW_DESTINATIONS
    assert answer_case(KINDS["9-xmanager"], [tiny, [ANN, BOB], CARDS]) == TOO_FEW_DESTINATIONS
    own = {**OWN, "destination1": ["Ash", "Bow"], "destination2": ["Ash", "Bow"]}
    state = {"this": {**own, "cards": {"red": 11}}, "acquired": []}
    assert answer_case(KINDS["6-xstrategy"], [tiny, state]) == "more cards"
    assert answer_case(KINDS["5-xlegal"], [tiny, state, ["Ash", "Bow", "red", 3]]) is False
    assert write_trains_map(read_trains_map(tiny)) == tiny
    if names:
        assert answer_case(KINDS["3-xmap"], [names[0], names[-1], tiny]) is False


def test_SETUP_4_a_game_on_a_map_without_a_city_is_refused_when_it_is_created() -> None:
    with pytest.raises(UnloggedRejectionError, match="board: 0 destinations, 2 seats need 7") as refused:
        given_game(2, rules="trains", board=BOARD_SCHEMA.write(read_trains_map(one_city_map())))
    assert refused.value.rule == "SETUP-4"


def test_a_tournament_takes_the_first_suggested_map_that_has_enough_destinations() -> None:
    none, one, five, six = (
        read_trains_map(value) for value in (one_city_map(), one_city_map("Ash"), MAP, BLANKS)
    )
    assert choose_map([none, one, five, six], 3, CARDS) is five
    assert choose_map([none, six, five], 3, CARDS) is six
    assert choose_map(iter([five]), 3, CARDS) is five
    for too_few in ([], [none], [none, one, five]):
        with pytest.raises(TooFewDestinationsError):
            choose_map(too_few, 8, CARDS)


def test_a_suggested_map_that_is_too_large_to_play_is_skipped_too() -> None:
    names = [f"C{n}" for n in range(120)]
    large = {**one_city_map(*names), "connections": {"C0": {name: {"red": 3} for name in names[1:]}}}
    five = read_trains_map(MAP)
    assert choose_map([read_trains_map(large), five], 2, CARDS) is five
    with pytest.raises(CommandRefusedError, match="cities in pairs"):
        choose_map([five, read_trains_map(large)], 8, CARDS)


def test_a_question_may_be_about_a_map_without_a_city() -> None:
    question = {"ruleset": "trains", "board": one_city_map(), "seats": 2, "legal": True}
    assert answer_query(question, Path())["legal"] == [{"seat": 0, "type": RequestCards.type}]
