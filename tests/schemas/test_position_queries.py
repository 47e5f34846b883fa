"""The form of a question: strict, named entry by entry, and its schema says the same."""

from __future__ import annotations

from typing import Any

import pytest

from schemas.commands import Pass, write_command
from schemas.errors import InvalidInputError
from schemas.published_contracts import PLAYER_COMMANDS
from schemas.trains.commands import ClaimRoute
from schemas.trains.positions import (
    MAX_COMMANDS,
    POSITION_QUERY_SCHEMA,
    InvalidCommand,
    Position,
    PositionQuery,
    SeatCommand,
    StationGiven,
    TicketGiven,
)
from tests.schemas import examples
from tests.schemas.test_forms import published, through_json

WHOLE: dict[str, Any] = {
    "ruleset": "europe",
    "board": "europe",
    "seats": 3,
    "options": {"cars": 45},
    "position": {
        "turn": 0,
        "hands": [{"red": 3, "locomotive": 1}, {}, {}],
        "market": ["red", "blue", None, "white", "black"],
        "deck": ["red", "locomotive", "blue"],
        "discard": {"green": 4},
        "routes": {"warszawa-wien-a": 1},
        "cars": [45, 41, 45],
        "tickets": [[{"between": ["essen", "wien"], "points": 8}], [], []],
        "ticket_decks": {"regular": [{"between": ["paris", "wien"], "points": 5}]},
        "stations": {"wien": {"seat": 2, "neighbour": "budapest"}},
        "passengers": {"berlin": 0},
        "tokens": {"berlin": [7, 6, 5, 4]},
        "merchandise": [0, 0, 0],
        "points": [0, 0, 0],
    },
    "commands": [{"seat": 0, "type": "claim_route", "route": "a-b", "cards": {"red": 2}}],
    "score": True,
    "legal": False,
    "seed": "any text",
}


def test_a_whole_question_is_read_and_fits_its_schema() -> None:
    asked = POSITION_QUERY_SCHEMA.read(WHOLE)
    assert asked.commands == (SeatCommand(0, ClaimRoute("a-b", {"red": 2})),)
    assert asked.position is not None
    assert asked.position.stations == {"wien": StationGiven(2, "budapest")}
    assert asked.position.tickets[0] == (TicketGiven(("essen", "wien"), 8),)
    assert (asked.score, asked.legal, asked.seed) == (True, False, "any text")
    published("inquiry").validate(WHOLE)


def test_only_the_seats_must_be_there() -> None:
    assert POSITION_QUERY_SCHEMA.read({"seats": 2}) == PositionQuery(seats=2)
    assert POSITION_QUERY_SCHEMA.read({"seats": 2, "position": {}}).position == Position()
    published("inquiry").validate({"seats": 2, "position": {}})
    for left_out in WHOLE.keys() - {"seats"}:
        POSITION_QUERY_SCHEMA.read({name: value for name, value in WHOLE.items() if name != left_out})
    position = WHOLE["position"]
    for left_out in position:
        less = {name: value for name, value in position.items() if name != left_out}
        POSITION_QUERY_SCHEMA.read({"seats": 3, "position": less})


@pytest.mark.parametrize("board", ["usa", "boards/mine.json", "<map/>", {"format": 1}, {"connections": []}])
def test_a_board_is_a_name_a_file_or_written_in_place(board: object) -> None:
    assert POSITION_QUERY_SCHEMA.read({"seats": 2, "board": board}).board == board
    published("inquiry").validate({"seats": 2, "board": board})


@pytest.mark.parametrize("command", [c for c in examples.COMMANDS if type(c) in PLAYER_COMMANDS], ids=str)
def test_a_command_is_as_on_the_commands_stream_with_its_seat(command: Any) -> None:
    written = {"seat": 1, **through_json(write_command(command))}
    (spoken,) = POSITION_QUERY_SCHEMA.read({"seats": 2, "commands": [written]}).commands
    assert spoken.seat == 1
    assert not isinstance(spoken.command, InvalidCommand)
    assert through_json(write_command(spoken.command)) == through_json(write_command(command))
    published("inquiry").validate({"seats": 2, "commands": [written]})


PASS: dict[str, Any] = {"seat": 0, "type": "pass"}
WRONG: list[tuple[Any, str]] = [
    ([], "question"),
    ({}, "seats"),
    ({"seats": "3"}, "seats"),
    ({"seats": True}, "seats"),
    ({"seats": 3.0}, "seats"),
    ({"seats": 9}, "seats"),
    ({"seats": 2, "rules": "usa"}, "rules"),
    ({"seats": 2, "ruleset": "No Rules"}, "ruleset"),
    ({"seats": 2, "board": 7}, "board"),
    ({"seats": 2, "board": ""}, "board"),
    ({"seats": 2, "options": ["cars"]}, "options"),
    ({"seats": 2, "score": "yes"}, "score"),
    ({"seats": 2, "legal": 1}, "legal"),
    ({"seats": 2, "seed": ""}, "seed"),
    ({"seats": 2, "position": []}, "position"),
    ({"seats": 2, "position": {"turn": -1}}, "position.turn"),
    ({"seats": 2, "position": {"hands": [{"red": -1}]}}, "position.hands.0.red"),
    ({"seats": 2, "position": {"hands": [{"red": "1"}]}}, "position.hands.0.red"),
    ({"seats": 2, "position": {"hands": [{"pink": 1}]}}, "position.hands.0.pink"),
    ({"seats": 2, "position": {"market": ["pink"]}}, "position.market.0"),
    ({"seats": 2, "position": {"deck": "red"}}, "position.deck"),
    ({"seats": 2, "position": {"discard": {"red": -4}}}, "position.discard.red"),
    ({"seats": 2, "position": {"routes": {"a-b": "0"}}}, "position.routes.a-b"),
    ({"seats": 2, "position": {"routes": {"a-b": [0, 1]}}}, "position.routes.a-b"),
    ({"seats": 2, "position": {"cars": [-1]}}, "position.cars.0"),
    ({"seats": 2, "position": {"tickets": [[{"between": ["a"], "points": 1}]]}}, "position.tickets.0.0.between.1"),
    ({"seats": 2, "position": {"tickets": [[{"between": ["a", "b"]}]]}}, "position.tickets.0.0.points"),
    ({"seats": 2, "position": {"stations": {"a": 1}}}, "position.stations.a"),
    ({"seats": 2, "position": {"passengers": {"a": None}}}, "position.passengers.a"),
    ({"seats": 2, "position": {"tokens": {"a": [0]}}}, "position.tokens.a.0"),
    ({"seats": 2, "position": {"merchandise": [-1]}}, "position.merchandise.0"),
    ({"seats": 2, "commands": {}}, "commands"),
    ({"seats": 2, "commands": ["pass"]}, "commands.0"),
    ({"seats": 2, "commands": [{"type": "pass"}]}, "commands.0"),
    ({"seats": 2, "commands": [PASS, {"seat": 8, "type": "pass"}]}, "commands.1"),
    ({"seats": 2, "commands": [{"seat": "0", "type": "pass"}]}, "commands.0"),
    ({"seats": 2, "commands": [PASS] * (MAX_COMMANDS + 1)}, "commands"),
]  # fmt: skip


@pytest.mark.parametrize(("wrong", "entry"), WRONG, ids=[str(wrong)[:70] for wrong, _ in WRONG])
def test_what_is_wrong_is_refused_by_its_entry_and_by_the_schema(wrong: Any, entry: str) -> None:
    with pytest.raises(InvalidInputError) as error:
        POSITION_QUERY_SCHEMA.read(wrong)
    assert error.value.field == entry
    looser = wrong == {"seats": 3.0}  # to a schema that is a whole number
    assert published("inquiry").is_valid(wrong) == looser


CLAIM: dict[str, Any] = {"seat": 0, "type": "claim_route", "route": "a-b"}
NO_COMMANDS: list[tuple[dict[str, Any], str, str]] = [
    ({"seat": 0}, "SHAPE-1", "type: must be one of"),
    ({"seat": 0, "type": "fly"}, "SHAPE-1", "type: must be one of"),
    ({"seat": 0, "type": ["pass"]}, "SHAPE-1", "type: must be one of"),
    ({"seat": 0, "type": "start_game"}, "SHAPE-1", "type: must be one of"),
    ({"seat": 0, "type": "call_time"}, "SHAPE-1", "type: must be one of"),
    ({**PASS, "now": True}, "SHAPE-1", "now: there is no such field"),
    ({"seat": 0, "type": "claim_route", "cards": {"red": 1}}, "SHAPE-1", "route: is missing"),
    (CLAIM, "SHAPE-1", "cards: is missing"),
    ({**CLAIM, "cards": None}, "SHAPE-1", "cards"),
    ({**CLAIM, "cards": {"red": -1}}, "SHAPE-1", "cards.red"),
    ({**CLAIM, "cards": {"red": False}}, "SHAPE-1", "cards.red"),
    ({**CLAIM, "cards": {"pink": 1}}, "SHAPE-1", "cards.pink"),
    ({**CLAIM, "cards": {}}, "ROUTE-2", "cards"),
    ({**CLAIM, "cards": {"red": 0}}, "ROUTE-2", "cards"),
    ({"seat": 0, "type": "pay_tunnel", "cards": {}}, "TUNNEL-3", "cards"),
    ({"seat": 0, "type": "build_station", "city": "a", "cards": {}}, "STATION-2", "cards"),
    ({"seat": 0, "type": "move_passenger", "city": "a", "path": []}, "PASSENGER-2", "path"),
]  # fmt: skip


@pytest.mark.parametrize(("wrong", "rule", "why"), NO_COMMANDS, ids=[str(row[0]) for row in NO_COMMANDS])
def test_what_is_no_command_says_what_is_wrong_with_it(wrong: Any, rule: str, why: str) -> None:
    question = {"seats": 2, "commands": [wrong, PASS]}
    spoken, after = POSITION_QUERY_SCHEMA.read(question).commands
    assert isinstance(spoken.command, InvalidCommand)
    assert (spoken.seat, spoken.command.rule) == (0, rule)
    assert spoken.command.why.startswith(why)
    assert after == SeatCommand(0, Pass())
    assert not published("inquiry").is_valid(question)


def test_none_of_a_card_is_as_good_as_not_naming_it() -> None:
    (spoken,) = POSITION_QUERY_SCHEMA.read(
        {"seats": 2, "commands": [{**CLAIM, "cards": {"red": 2, "blue": 0}}]}
    ).commands
    assert spoken.command == ClaimRoute("a-b", {"red": 2})
