"""The protocol of the Trains server, call by call, over TCP on loopback."""

from __future__ import annotations

import json
import re
from collections.abc import Callable
from itertools import groupby

import pytest

from services.trains_server.protocol_calls import MAX_ANSWER_BYTES, Call
from services.trains_server.remote_tournament import PlayedGame
from tests.trains_server.peers import MAP, Misdeed, Peer, Played, cards_of, play

ANN, BOB, CYD = Peer("Ann"), Peer("Bob", "hold-10"), Peer("Cyd")
COLOURS = ("red", "blue", "green", "white")


def names(played: Played, player: str) -> list[str]:
    """The calls that the player got, those in a row once."""
    return [name for name, _ in groupby(call.name for call in played.calls[player])]


def first(played: Played, player: str, name: str) -> Call:
    """The first such call that the player got."""
    return next(call for call in played.calls[player] if call.name == name)


def answering(value: object) -> Callable[[Call], Misdeed]:
    """A misdeed: this answer, in JSON."""
    return lambda call: Misdeed(json.dumps(value).encode())


# -- order and form of the calls -----------------------------------------------------------------


def test_a_player_is_called_for_start_then_the_game_then_end() -> None:
    played = play([ANN, BOB], cards_of(1))
    for player in ("Ann", "Bob"):
        order = names(played, player)
        assert order[:3] == ["start", "setup", "pick"] and order[-2:] == ["win", "end"]
        assert set(order[3:-2]) == {"play", "more"}
    assert played.result.protocol_json() == [sorted(played.result.winners), []]


def test_the_arguments_have_the_forms_of_the_protocol() -> None:
    played = play([ANN, BOB], ["red"] * 8 + ["green", "white"] * 10)
    assert first(played, "Ann", "start").arguments == [True]
    map_json, rails, cards = first(played, "Ann", "setup").arguments
    assert (map_json, rails, cards) == (MAP, 45, ["red"] * 4)
    (offered,) = first(played, "Ann", "pick").arguments
    assert offered == [["Ash", "Bow"], ["Ash", "Cam"], ["Ash", "Dee"], ["Ash", "Esk"], ["Ash", "Fen"]]
    assert first(played, "Ann", "play").arguments == [
        {
            "this": {
                "destination1": ["Ash", "Esk"],
                "destination2": ["Ash", "Fen"],
                "rails": 45,
                "cards": {"red": 4, "blue": 0, "green": 0, "white": 0},
                "acquired": [],
            },
            "acquired": [[]],
        }
    ]
    assert first(played, "Bob", "play").arguments[0]["acquired"] == [[["Ash", "Bow", "red", 3]]]  # type: ignore[index]
    assert sorted(first(played, "Bob", "more").arguments[0]) == ["green", "white"]  # type: ignore[call-overload]
    flags = {player: first(played, player, "win").arguments for player in ("Ann", "Bob")}
    assert sorted(flags.values()) == [[False], [True]]
    assert flags == {player: first(played, player, "end").arguments for player in ("Ann", "Bob")}


def test_others_are_told_in_turn_order_after_the_player_without_those_removed() -> None:
    bad = Peer("Dee", call="play", nth=1, misdeed=answering("what?"))
    played = play([ANN, bad, BOB, CYD], cards_of(3))
    others = [call.arguments[0]["acquired"] for call in played.calls["Ann"] if call.name == "play"]  # type: ignore[index]
    assert len(others[0]) == 3 and len(others[-1]) == 2


def test_more_follows_only_while_cards_are_left() -> None:
    played = play([BOB, Peer("Cyd", "hold-10")], ["red"] * 8 + ["white"] * 5)
    for player, count in (("Bob", 1), ("Cyd", 1)):
        calls = [call.name for call in played.calls[player]]
        assert calls.count("more") == count
        assert calls.count("play") > count


def test_the_next_player_is_offered_the_first_five_destinations_not_yet_kept() -> None:
    played = play([BOB, ANN], cards_of(1))
    (offered,) = first(played, "Ann", "pick").arguments
    assert offered == [["Ash", "Dee"], ["Ash", "Esk"], ["Ash", "Fen"], ["Ash", "Gap"], ["Bow", "Cam"]]


# -- who fails -----------------------------------------------------------------------------------


@pytest.mark.parametrize("call", ["setup", "pick"])
def test_CONDUCT_2_who_fails_before_its_choice_leaves_cards_and_destinations_to_the_next(call: str) -> None:
    bad = Peer("Dee", call=call, misdeed=answering("what?"))
    cards = ["red"] * 4 + ["blue"] * 4 + ["green"] * 4 + ["white"] * 8
    played = play([bad, BOB, CYD], cards)
    (offered,) = first(played, "Bob", "pick").arguments
    assert offered[0] == ["Ash", "Bow"]  # type: ignore[index]
    assert first(played, "Bob", "setup").arguments[2] == ["blue"] * 4
    assert first(played, "Bob", "more").arguments == [["red", "red"]]
    assert played.result.removed == {"Dee"}


WRONG_ANSWERS: dict[str, tuple[str, object]] = {
    "no map": ("start", "void"),
    "a list for void": ("setup", ["void"]),
    "two of the five": ("pick", [["Ash", "Bow"], ["Ash", "Cam"]]),
    "one three times": ("pick", [["Ash", "Bow"]] * 3),
    "one that wasn't offered": ("pick", [["Ash", "Bow"], ["Ash", "Cam"], ["Fen", "Gap"]]),
    "cities in the wrong order": ("pick", [["Bow", "Ash"], ["Cam", "Ash"], ["Dee", "Ash"]]),
    "another request": ("play", "more"),
    "a connection of no map": ("play", ["Ash", "Gap", "red", 3]),
    "one without the cards": ("play", ["Cam", "Dee", "white", 5]),
    "a length that isn't a whole number": ("play", ["Ash", "Bow", "red", 3.0]),
    "a colour of no card": ("play", ["Ash", "Bow", "gold", 3]),
}


@pytest.mark.parametrize("wrong", WRONG_ANSWERS)
def test_CONDUCT_2_a_wrong_answer_removes_the_player_at_once(wrong: str) -> None:
    call, value = WRONG_ANSWERS[wrong]
    bad = Peer("Dee", call=call, misdeed=answering(value))
    played = play([bad, BOB, CYD], ["red"] * 20)
    assert played.result.removed == {"Dee"}
    assert played.calls["Dee"][-1].name == call
    (failed,) = (player for player in played.result.players if player.name == "Dee")
    assert re.match(rf"{call}: answered wrongly: .|sent what the rules refuse", failed.failure)


def test_an_answer_that_is_too_long_removes_the_player() -> None:
    bad = Peer("Dee", call="more", misdeed=lambda call: Misdeed(b'"' + b"v" * MAX_ANSWER_BYTES))
    assert play([bad, BOB, CYD], cards_of(2)).result.removed == {"Dee"}


def test_a_lone_survivor_plays_on_until_the_game_ends() -> None:
    bad = [Peer(name, call="play", misdeed=answering({})) for name in ("Dee", "Eli")]
    played = play([*bad, BOB], ["white"] * 40)
    assert played.result.protocol_json() == [["Bob"], ["Dee", "Eli"]]
    assert [call.name for call in played.calls["Bob"]].count("play") > 10
    assert first(played, "Bob", "play").arguments[0]["acquired"] == []  # type: ignore[index]


@pytest.mark.parametrize("call", ["win", "end"])
def test_who_fails_at_the_end_is_out_of_its_rank_and_nobody_moves_up(call: str) -> None:
    winner = play([ANN, BOB], cards_of(1)).result.protocol_json()[0][0]  # type: ignore[index]
    peers = [peer._replace(call=call) if peer.name == winner else peer for peer in (ANN, BOB)]
    assert play(peers, cards_of(1)).result.protocol_json() == [[], [winner]]


def test_all_who_fail_at_start_are_removed_and_one_who_is_left_has_won() -> None:
    bad = [Peer(name, call="start", misdeed=answering([])) for name in ("Dee", "Eli")]
    played = play([*bad, ANN], cards_of(1))
    assert played.result.protocol_json() == [["Ann"], ["Dee", "Eli"]]
    assert names(played, "Ann") == ["start", "end"]
    assert first(played, "Ann", "end").arguments == [True]


# -- the map -------------------------------------------------------------------------------------


def test_without_a_map_that_has_enough_destinations_the_result_is_the_error() -> None:
    played = play([ANN, BOB], cards_of(1), {**MAP, "connections": {"Ash": {"Bow": {"red": 3}}}})
    assert played.result.protocol_json() == "error: not enough destinations"
    assert names(played, "Ann") == ["start", "end"]
    assert first(played, "Ann", "end").arguments == [False]


def test_a_map_that_is_larger_than_boards_are_is_no_suggestion() -> None:
    """It is well-formed, and so nobody is removed."""
    cities = [[f"C{place}", [0, 0]] for place in range(501)]
    large = {**MAP, "cities": cities, "connections": {"C0": {"C1": {"red": 3}}}}
    answer = json.dumps(large).encode()
    suggesting = Peer("Dee", call="start", misdeed=lambda call: Misdeed(answer, "close"))
    played = play([suggesting, ANN, BOB], cards_of(1))
    assert names(played, "Ann")[1] == "setup"
    assert [call.name for call in played.calls["Dee"]] == ["start"]
    (failed,) = (player for player in played.result.players if player.name == "Dee")
    assert failed.failure == "setup: closed the connection"


LETTERS = ("Ann", "Bob", "Cyd", "Dee", "Eli", "Fay", "Gus", "Hal", "Ida")
NINE = [Peer(name, ("hold-10", "buy-now")[place % 2]) for place, name in enumerate(LETTERS)]


def games_of(played: Played, number: int) -> list[PlayedGame]:
    """The games of a round."""
    return [game for game in played.result.games if game.round == number]


def winners_of(games: list[PlayedGame]) -> list[int]:
    """All of their first ranks."""
    return sorted(game.players[place] for game in games for place in game.outcome.ranks[0])


def test_the_second_round_has_the_winners_of_the_first() -> None:
    """Nine players make games of seven and two."""
    played = play(NINE, cards_of(4))
    assert sorted(game.players for game in games_of(played, 1)) == [(0, 1, 2, 3, 4, 5, 6), (7, 8)]
    winners = winners_of(games_of(played, 1))
    (final,) = games_of(played, 2)
    assert list(final.players) == winners
    assert played.result.winners == {LETTERS[index] for index in winners_of([final])}
    for index in winners:
        order = names(played, LETTERS[index])
        assert order.count("setup") == 2 and order[-2:] == ["win", "end"]


def test_a_winner_that_fails_at_win_plays_in_no_further_round_and_nobody_does_in_its_place() -> None:
    winners = winners_of(games_of(play(NINE, cards_of(4)), 1))
    failing = [peer._replace(call="win" if place == winners[0] else "") for place, peer in enumerate(NINE)]
    played = play(failing, cards_of(4))
    assert winners_of(games_of(played, 1)) == winners[1:]
    assert all(game.players == tuple(winners[1:]) for game in games_of(played, 2))
    assert played.result.removed == {LETTERS[winners[0]]}
