"""A game's state as a position: `ask` takes it, goes on from the same state, and answers with the same position."""

from __future__ import annotations

import json
from pathlib import Path
from random import Random
from typing import Any, NamedTuple

import pytest

from schemas.commands import write_command
from schemas.errors import InvalidInputError
from schemas.events import DeckShuffled, SeedRevealed, write_event
from schemas.field_types import Seat
from schemas.trains.events import DeckRecreated, TicketsShuffled
from schemas.trains.positions import POSITION_QUERY_SCHEMA
from services.cli.trains.ask import answer_query, build_state, position_question
from services.referee.games import GameState, decide, legal
from services.referee.games.state import ACTION
from services.referee.games.trains.scoring import score
from services.referee.games.trains.train_state import SECOND_CARD, TICKETS, TUNNEL
from tests.cli.command_line import ROOT
from tests.cli.test_ask import ask
from tests.long_runs import long_after
from tests.rules.random_games import BOARDS_BY_RULESET, RandomGame
from tests.rules.test_properties import EVERY_TRAIN_RULESET
from tests.schemas.test_forms import published

CHOICES = {"usa": {ACTION, SECOND_CARD, TICKETS}, "trains": {ACTION}}
CHOICES |= {"europe": CHOICES["usa"] | {TUNNEL}, "marklin": CHOICES["usa"]}
SHUFFLES = (DeckShuffled, DeckRecreated, TicketsShuffled, SeedRevealed)


@pytest.mark.parametrize("games", long_after(1, (2, 12)))
@EVERY_TRAIN_RULESET
def test_ask_goes_on_from_every_kind_of_moment_of_a_game(rules: str, games: int) -> None:
    seen: set[Moment] = set()
    for seed in range(games):
        rng = Random(f"{rules} {seed}")
        board, seats = BOARDS_BY_RULESET[rules][0], 2 + seed % 3
        game = RandomGame(rng, board, seats, "anything", leave_share=0.05 * (seed % 2), options={"cars": 14})
        for number in game.steps():
            state = game.state
            if state.turn is None:
                continue
            moment = kind_of(state)
            if moment not in seen or number % 211 == 0:
                seen.add(moment)
                assert_goes_on(state, rng)
    assert {moment.choice for moment in seen} >= CHOICES[rules]
    assert any(moment.in_last_turns for moment in seen)
    assert any(moment.is_gone for moment in seen)


class Moment(NamedTuple):
    """What a moment of a game is a case of."""

    choice: str
    in_last_turns: bool
    is_gone: bool  # any seat
    uses_passengers: bool


def kind_of(state: GameState) -> Moment:
    turn = state.turn or 0
    passengers = any(seat.own.passengers_left != state.rule_options.passengers for seat in state.seats)
    gone = any(seat.exit_reason for seat in state.seats)
    return Moment(state.pending_choices[turn], state.own.in_last_turns, gone, passengers)


def assert_goes_on(state: GameState, rng: Random) -> None:
    """The state as a question is taken, is the same again, and decides commands as the state itself does."""
    question: Any = json.loads(json.dumps(position_question(state)))
    published("inquiry").validate(question)
    turn = state.turn or 0
    commands = legal(state, turn)
    asked = build_state(POSITION_QUERY_SCHEMA.read(question), Path())
    again: Any = position_question(asked)
    again["options"].pop("refusals_kept")  # `ask` keeps every refusal
    assert json.loads(json.dumps(again)) == question
    assert as_texts(legal(asked, turn)) == as_texts(commands)
    assert [row.total for row in score(asked)] == [row.total for row in score(state)]
    for command in rng.sample(commands, min(3, len(commands))):
        events = decide(state, turn, command)
        if any(isinstance(event, SHUFFLES) for event in events):
            continue  # a question has its own seed
        (verdict,) = answer_query({**question, "commands": [command_json(turn, command)]}, ROOT)["verdicts"]
        assert verdict["events"] == json.loads(json.dumps([write_event(event) for event in events]))


def command_json(seat: Seat, command: Any) -> dict[str, Any]:
    return {"seat": seat, **json.loads(json.dumps(write_command(command)))}


def as_texts(commands: Any) -> list[str]:
    return sorted(json.dumps(write_command(command), sort_keys=True) for command in commands)


# -- the table of an answer ------------------------------------------------------------------

HAND = {"red": 3, "locomotive": 1}
DRAW = {"seat": 0, "type": "draw_blind"}


def test_the_table_is_the_position_after_the_commands() -> None:
    answer = ask(
        ruleset="usa",
        seats=2,
        position={"hands": [HAND], "deck": ["blue", "green", "white"], "market": ["red"] * 5},
        commands=[DRAW],
        table=True,
    )
    table = answer["table"]
    assert table["hands"] == [{**HAND, "blue": 1}, {}]
    assert (table["deck"], table["second_card"], table["turn"]) == (["green", "white"], True, 0)
    after = ask(ruleset="usa", seats=2, position=table, commands=[DRAW], table=True)
    assert "second_card" not in after["table"]
    assert (after["table"]["turn"], after["table"]["deck"]) == (1, ["white"])


def test_CARD_2_a_face_up_locomotive_is_no_second_card_in_a_position_either() -> None:
    position = {"second_card": True, "market": ["locomotive", "red"]}
    take = {"seat": 0, "type": "draw_market", "slot": 0}
    answer = ask(ruleset="usa", seats=2, position=position, commands=[take, {**take, "slot": 1}])
    assert [verdict.get("rule") for verdict in answer["verdicts"]] == ["CARD-2", None]


def test_END_1_the_last_turns_of_a_position_are_played_and_no_more() -> None:
    position = {"last_turns": [1], "market": ["red"] * 5, "turn": 0}
    draws = [{"seat": seat, "type": "draw_blind"} for seat in (0, 0, 1, 1, 2)]
    verdicts = ask(ruleset="usa", seats=3, position=position, commands=draws)["verdicts"]
    assert [verdict.get("rule") for verdict in verdicts] == [None] * 4 + ["GAME-3"]


def test_CONDUCT_3_a_seat_that_left_is_skipped_and_still_scores() -> None:
    position = {"gone": [None, "left"], "routes": {"boston-montreal-a": 1}}
    answer = ask(ruleset="usa", seats=3, position=position, commands=[DRAW, DRAW], table=True, score=True)
    assert (answer["table"]["turn"], answer["table"]["gone"]) == (2, [None, "left", None])
    assert answer["score"][1]["routes"] == 2


def test_PASSENGER_1_passengers_that_were_used_up_are_not_placed_again() -> None:
    position = {"hands": [{"red": 9}], "passengers_left": [0]}
    offered = ask(ruleset="marklin", seats=2, position=position, legal=True)["legal"]
    assert not any(command.get("passenger") for command in offered)
    assert any(command["type"] == "claim_route" for command in offered)


def test_TUNNEL_3_a_tunnel_that_was_begun_is_paid_or_declined() -> None:
    tunnel = {"route": "paris-zurich-a", "cards": {"red": 3}, "revealed": ["red", "blue", "locomotive"]}
    position = {"hands": [{"red": 5}], "tunnel": tunnel, "deck": ["green"]}
    answer = ask(ruleset="europe", seats=2, position=position, legal=True)
    assert [command["type"] for command in answer["legal"]] == ["pay_tunnel", "decline_tunnel"]
    paid = ask(ruleset="europe", seats=2, position=position, commands=answer["legal"][:1], table=True)
    assert paid["table"]["routes"] == {"paris-zurich-a": 0}
    assert paid["table"]["hands"] == [{}, {}]


def test_TICKET_1_an_open_offer_is_answered() -> None:
    tickets = [
        {"between": ["boston", "miami"], "points": 12},
        {"between": ["dallas", "new-york"], "points": 11},
    ]
    position = {"offer": {"tickets": tickets}}
    keep = {"seat": 0, "type": "keep_tickets", "keep": [1]}
    answer = ask(ruleset="usa", seats=2, position=position, commands=[keep], table=True)
    assert answer["table"]["tickets"] == [[tickets[1]], []]
    assert answer["table"]["ticket_decks"]["regular"][-1] == tickets[0]


TUNNEL_OF_3 = {"route": "paris-zurich-a", "cards": {"red": 3}, "revealed": ["red"]}
IMPOSSIBLE: list[tuple[str, dict[str, Any], str]] = [
    ("usa", {"order": [0]}, "order: it has all 2 seats"),
    ("usa", {"order": [0, 0]}, "order: a seat is there twice"),
    ("usa", {"last_turns": [2]}, "last_turns: there is no seat 2"),
    ("usa", {"last_turns": [0]}, "last_turns: seat 0's turn has begun"),
    ("usa", {"last_turns": [1], "gone": [None, "left"]}, "last_turns: seat 1 is gone"),
    ("usa", {"gone": ["left"]}, "gone.0: it is this seat's turn"),
    ("usa", {"gone": [None] * 3}, "gone: 3 rows for 2 seats"),
    ("usa", {"second_card": True, "deck": []}, "second_card: there is no card"),
    ("usa", {"passengers_left": [1]}, "passengers_left.0: 1 and 0 on the board, a seat has 0"),
    ("marklin", {"passengers_left": [3], "passengers": {"berlin": 0}}, "passengers_left.0: 3 and 1 on the board"),
    ("trains", {"second_card": True}, "second_card: these rules have no such choice"),
    ("trains", {"offer": {"tickets": [{"between": ["madrid", "toledo"], "points": 10}]}}, "offer: no tickets are drawn"),
    ("usa", {"offer": {"tickets": [{"between": ["boston", "miami"], "points": 12}], "least": 2}}, "offer.least: 2 of 1"),
    ("usa", {"offer": {"tickets": [{"between": ["bostn", "miami"], "points": 12}]}}, "offer.tickets.0: there is no city"),
    ("usa", {"tunnel": TUNNEL_OF_3}, "tunnel: these rules have no such choice"),
    ("europe", {"tunnel": TUNNEL_OF_3, "second_card": True}, "one choice at a time"),
    ("europe", {"tunnel": {**TUNNEL_OF_3, "route": "zzz"}}, "tunnel.route: there is no tunnel zzz"),
    ("europe", {"tunnel": TUNNEL_OF_3}, "tunnel.cards.red: seat 0 doesn't hold 3"),
    ("europe", {"tunnel": TUNNEL_OF_3, "hands": [{"red": 3}], "cars": [2]}, "3 spaces, and seat 0 has 2 cars left"),
    ("europe", {"tunnel": TUNNEL_OF_3, "hands": [{"red": 3}], "routes": {"paris-zurich-a": 1}}, "tunnel.route: the route is"),
    ("europe", {"tunnel": {**TUNNEL_OF_3, "cards": {"red": 2}}, "hands": [{"red": 3}]}, "(ROUTE-2)"),
    ("europe", {"tunnel": {**TUNNEL_OF_3, "revealed": ["blue"]}, "hands": [{"red": 3}]}, "they ask for nothing more"),
    ("europe", {"tunnel": {**TUNNEL_OF_3, "revealed": ["red"] * 4}, "hands": [{"red": 3}]}, "3 cards are turned up at most"),
]  # fmt: skip


@pytest.mark.parametrize(("rules", "position", "why"), IMPOSSIBLE, ids=[why for *_, why in IMPOSSIBLE])
def test_a_turn_that_cannot_be_is_refused_with_its_entry(rules: str, position: Any, why: str) -> None:
    with pytest.raises(InvalidInputError) as error:
        ask(ruleset=rules, seats=2, position=position)
    assert why in str(error.value)
