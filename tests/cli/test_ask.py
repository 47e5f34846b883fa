"""`ledgerline ask`: a position and commands in, verdicts out; an error is one clear line."""

from __future__ import annotations

import json
import re
import subprocess
import sys
from pathlib import Path
from resource import RUSAGE_CHILDREN, getrusage
from typing import Any

import pytest

from schemas.errors import InvalidInputError
from services.cli.trains.ask import answer_file, answer_query
from services.referee.games.trains.rulesets import TRAIN_RULESETS
from tests.cli.command_line import ROOT, run_in_process, run_process
from tests.schemas.board_examples import AIMAS, OURS, TRAINS
from tests.schemas.test_forms import published
from tests.schemas.test_position_queries import WHOLE

PAGE = (ROOT / "docs/reference/ask.md").read_text()
EXAMPLES = re.findall(
    r"^```(json|yaml)\n(.*?)^```\n\n^```json\n(.*?)^```", PAGE.split("## Worked examples")[1], re.M | re.S
)
MARKET = ["red", "blue", "green", "yellow", "white"]


def ask(**question: Any) -> Any:
    """The answer to a query; both fit their published schemas."""
    published("inquiry").validate(question)
    answer = json.loads(json.dumps(answer_query(question, ROOT)))
    published("answer").validate(answer)
    return answer


def claim(seat: int, route: str, **cards: int) -> dict[str, Any]:
    return {"seat": seat, "type": "claim_route", "route": route, "cards": cards}


# -- the page --------------------------------------------------------------------------


def test_the_page_has_an_example_of_every_ruleset() -> None:
    assert [re.findall(r'ruleset"?: "?(\w+)', question)[0] for _, question, _ in EXAMPLES] == [
        *TRAIN_RULESETS
    ]


@pytest.mark.parametrize("example", EXAMPLES, ids=[*TRAIN_RULESETS])
def test_the_pages_examples_come_out_as_printed(example: tuple[str, str, str], tmp_path: Path) -> None:
    file_type, question, expected = example
    file = tmp_path / f"question.{file_type}"
    file.write_text(question, encoding="utf-8")
    assert json.loads(json.dumps(answer_file(str(file)))) == json.loads(expected)
    published("answer").validate(json.loads(expected))


def test_the_page_names_every_field_and_leads_to_every_command() -> None:
    query_schema, answer_schema = published("inquiry").schema, published("answer").schema
    assert isinstance(query_schema, dict) and isinstance(answer_schema, dict)
    position = query_schema["$defs"]["Position"]["properties"]
    for name in (*query_schema["properties"], *position, *answer_schema["properties"]):
        assert f"`{name}`" in PAGE, name
    commands = {
        part["$ref"].split("/")[-1] for part in query_schema["properties"]["commands"]["items"]["oneOf"]
    }
    assert "(events.md#commands)" in PAGE.split("## The commands")[1]
    listed = (ROOT / "docs/reference/events.md").read_text().split("## Events")[0]
    assert commands <= set(re.findall(r"^\| `(\w+)` \|", listed, re.M))


# -- verdicts --------------------------------------------------------------------------


def test_the_question_of_the_specification_is_answered() -> None:
    question = {**WHOLE, "commands": [claim(0, "barcelona-pamplona-a", red=2)]}
    answer = ask(**question)
    (verdict,) = answer["verdicts"]
    assert verdict["accepted"]
    assert verdict["events"][0]["type"] == "tunnel_revealed"
    scored = answer["score"][1]
    assert (scored["routes"], scored["longest"], scored["longest_bonus"]) == (7, 4, 10)  # points: 0 was given
    ((ticket,), total) = answer["score"][0]["tickets"], answer["score"][0]["total"]
    assert ticket == {"between": ["essen", "wien"], "points": 8, "made": False}
    assert total == -8 + 3 * 4


def test_commands_go_on_from_the_state_that_the_earlier_ones_left() -> None:
    position = {"hands": [{"blue": 3}, {"red": 2}], "market": MARKET}
    answer = ask(
        ruleset="usa", seats=2, position=position,
        commands=[
            claim(1, "montreal-toronto-a", red=2),
            claim(0, "montreal-new-york-a", red=3),
            claim(0, "montreal-new-york-a", blue=3),
            {"seat": 1, "type": "draw_market", "slot": 0},
            {"seat": 1, "type": "draw_market", "color": "blue"},
            claim(0, "boston-montreal-a", blue=2),
        ],
    )  # fmt: skip
    rules = [verdict.get("rule") for verdict in answer["verdicts"]]
    assert rules == ["TURN-1", "ROUTE-2", None, None, None, "ROUTE-3"]
    assert answer["verdicts"][2]["events"][0]["points"] == 4
    assert "events" not in answer["verdicts"][0]
    assert answer.keys() == {"verdicts"}


def test_every_wrong_command_gets_its_own_verdict_however_many_there_are() -> None:
    answer = ask(ruleset="usa", seats=2, commands=[claim(0, "nowhere-a", red=1)] * 60)
    assert {verdict["rule"] for verdict in answer["verdicts"]} == {"ROUTE-1"}


def test_a_seat_that_does_not_exist_is_refused() -> None:
    (verdict,) = ask(ruleset="usa", seats=2, commands=[{"seat": 5, "type": "pass"}])["verdicts"]
    assert (verdict["accepted"], verdict["rule"]) == (False, "TOKEN-1")


def test_with_the_option_strict_a_refusal_shows_what_it_costs() -> None:
    (verdict,) = ask(ruleset="trains", seats=3, commands=[claim(0, "nowhere-a", red=1)])["verdicts"]
    assert (verdict["accepted"], verdict["rule"]) == (False, "ROUTE-1")
    assert [e["type"] for e in verdict["events"]] == ["seat_gone", "seat_cleared", "turn_started"]


def test_after_the_end_every_command_is_refused_and_nothing_is_legal() -> None:
    leave = [{"seat": seat, "type": "leave"} for seat in (0, 1, 0)]
    answer = ask(ruleset="usa", seats=2, commands=leave, legal=True, score=True)
    assert [verdict.get("rule") for verdict in answer["verdicts"]] == [None, None, "GAME-3"]
    assert answer["legal"] == []
    assert [row["place"] for row in answer["score"]] == [1, 1]


def test_legal_commands_are_those_of_the_seat_to_act_after_the_commands_and_are_accepted() -> None:
    position = {"turn": 1, "hands": [{"blue": 3}, {"red": 2, "locomotive": 1}], "market": MARKET}
    draw = {"seat": 1, "type": "draw_blind"}
    before = ask(ruleset="usa", seats=2, position=position, legal=True)["legal"]
    assert {command["seat"] for command in before} == {1}
    assert {command["type"] for command in before} == {
        "claim_route", "draw_blind", "draw_market", "draw_tickets",
    }  # fmt: skip
    assert claim(1, "boston-new-york-b", red=2) in before
    for command in before:
        (verdict,) = ask(ruleset="usa", seats=2, position=position, commands=[command])["verdicts"]
        assert verdict["accepted"], command
    after = ask(ruleset="usa", seats=2, position=position, commands=[draw, draw], legal=True)["legal"]
    assert {command["seat"] for command in after} == {0}


def test_the_score_is_that_of_a_game_that_ends_now() -> None:
    answer = ask(
        ruleset="marklin", seats=2, score=True,
        position={
            "routes": {"berlin-leipzig-a": 1, "dresden-leipzig-a": 1},
            "tickets": [
                [{"between": ["kiel", "ulm"], "points": 9}],
                [{"between": ["berlin", "dresden"], "points": 4}],
            ],
            "merchandise": [5],
        },
    )  # fmt: skip
    none = {"longest": 0, "longest_bonus": 0, "stations": [], "station_points": 0}
    missed = {"between": ["kiel", "ulm"], "points": 9, "made": False}
    made = {"between": ["berlin", "dresden"], "points": 4, "made": True}
    first, second = answer["score"]
    assert first == {
        **none, "seat": 0, "routes": 0, "tickets": [missed], "ticket_points": -9, "merchandise": 5,
        "most_tickets_bonus": 0, "total": -4, "place": 2,
    }  # fmt: skip
    assert second == {
        **none, "seat": 1, "routes": 7 + 4, "tickets": [made], "ticket_points": 4, "merchandise": 0,
        "most_tickets_bonus": 10, "total": 25, "place": 1, "longest": 7,
    }  # fmt: skip


def test_options_override_rule_options_and_the_board_has_a_default_ruleset() -> None:
    position = {"hands": [{"blue": 3}]}
    (verdict,) = ask(
        seats=2, board="usa", options={"route_points": [9, 9, 9, 9, 9, 9]}, position=position,
        commands=[claim(0, "montreal-new-york-a", blue=3)],
    )["verdicts"]  # fmt: skip
    assert verdict["events"][0]["points"] == 9
    (verdict,) = ask(seats=2, board="germany", commands=[{"seat": 0, "type": "request_cards"}])["verdicts"]
    assert verdict["rule"] == "TURN-2"
    assert ask(seats=2, legal=True)["legal"]


# -- boards ----------------------------------------------------------------------------

FEW_TICKETS = {"start_tickets": {"regular": 0}, "start_keep": 0, "draw_tickets": {"regular": 1}}
LAKES = {**OURS, "rules": "europe", "options": None}
LAKES["cities"] = [{k: v for k, v in city.items() if k in {"id", "name", "at"}} for city in OURS["cities"]]
BOARD_FILES = [
    ("lakes.json", json.dumps(LAKES), "europe", FEW_TICKETS, claim(0, "e-w", blue=4)),
    (
        "map.json",
        json.dumps(TRAINS),
        "trains",
        {"start_tickets": {"regular": 0}, "start_keep": 0, "start_keep_most": 0},
        claim(0, "aarau-st-gallen-blue", blue=4),
    ),
    ("alps.xml", AIMAS, "europe", FEW_TICKETS, claim(0, "wien-zurich-a", red=3)),
]  # fmt: skip


@pytest.mark.parametrize(
    ("name", "text", "rules", "options", "command"), BOARD_FILES, ids=["ours", "trains", "ai-mas"]
)
def test_a_board_of_any_form_is_taken_from_a_file_beside_the_question_and_in_place(
    name: str, text: str, rules: str, options: Any, command: Any, tmp_path: Path
) -> None:
    (tmp_path / name).write_text(text, encoding="utf-8")
    position = {"hands": [{"blue": 4, "red": 4}], "deck": []}
    question = {"seats": 2, "ruleset": rules, "options": options, "position": position, "commands": [command]}
    (tmp_path / "question.json").write_text(json.dumps({**question, "board": name}))
    in_place = text if text.startswith("<") else json.loads(text)
    answer = ask(**question, board=in_place)
    assert answer["verdicts"][0]["accepted"], answer
    assert json.loads(json.dumps(answer_file(str(tmp_path / "question.json")))) == answer


@pytest.mark.parametrize(
    ("board", "why"),
    [
        ("atlantis", "there is no board 'atlantis'"),
        ("no-such-file.json", "board: .*no-such-file.json: can't be read"),
        (".", "can't be read"),
        ("a\0.json", "can't be read"),
        ({"format": 1}, "board: .*is missing"),
        ({**LAKES, "routes": [{**LAKES["routes"][0], "length": 0}]}, r"board: routes.0.length \('n-e'\)"),
        ({"connections": {}}, "board: "),
        ("<map", "board: "),
        ("{", "board: "),
    ],
    ids=lambda value: str(value)[:30],
)
def test_a_board_that_cannot_be_is_refused_by_its_entry(board: Any, why: str) -> None:
    with pytest.raises(InvalidInputError, match=why):
        answer_query({"seats": 2, "board": board}, ROOT)


# -- the same answer, soon, from the command line ----------------------------------------


def test_the_same_question_has_the_same_answer_to_the_byte(tmp_path: Path) -> None:
    draw = {"seat": 0, "type": "draw_blind"}
    question = {"seats": 2, "ruleset": "usa", "commands": [draw, draw], "legal": True, "score": True}
    file = tmp_path / "question.json"
    file.write_text(json.dumps(question))
    result = run_process("ask", str(file))
    other = run_in_process("ask", "-", stdin=json.dumps(question))
    assert (result.returncode, result.stderr) == (0, "")
    assert result.stdout == other.stdout
    published("answer").validate(json.loads(result.stdout))
    assert '\n  "verdicts": [\n' in result.stdout
    seeded = ask(**question, seed="another")
    assert seeded != json.loads(result.stdout)
    assert seeded == ask(**question, seed="another")


def test_refused_commands_are_an_answer_and_yaml_is_a_question() -> None:
    text = "seats: 2\ncommands:\n  - {seat: 0, type: pass}\n"
    result = run_in_process("ask", "-", stdin=text)
    assert (result.returncode, result.stderr) == (0, "")
    assert json.loads(result.stdout)["verdicts"][0]["rule"] == "TURN-4"


def test_an_answer_takes_less_than_a_second_of_work_from_a_cold_start() -> None:
    """CPU time: the bench measures the time that a person waits."""
    times: list[float] = []
    while len(times) < 5 and min(times, default=1) >= 1:
        before = getrusage(RUSAGE_CHILDREN)
        assert run_process("ask", "-", stdin=json.dumps({**WHOLE, "legal": True})).returncode == 0
        after = getrusage(RUSAGE_CHILDREN)
        times.append(after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime)
    assert min(times) < 1


def test_a_question_imports_nothing_of_the_server() -> None:
    """That keeps its start short."""
    code = (
        "import sys, services.cli; print(sorted({'redis', 'fastapi', 'httpx', 'structlog'} & {*sys.modules}))"
    )
    imported = subprocess.run(
        [sys.executable, "-c", code], cwd=ROOT, capture_output=True, text=True, check=True
    )
    assert imported.stdout.strip() == "[]"
