"""`ledgerline trains-cases`: the tally of a folder, and folders that are not of the form."""

from __future__ import annotations

import asyncio
import json
import os
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any

import pytest

from schemas.errors import InvalidInputError
from services.trains.cases import (
    CaseSolver,
    UnansweredCase,
    check_case,
    iter_json_values,
    read_cases,
    read_values,
    run_folder,
)
from services.trains_server.server_cases import ALL_KINDS
from tests.cli.command_line import CommandResult, run_in_process
from tests.trains.test_games import CARDS, MAP, PLAYER_STATE

ANN, BOB = ["Ann", "Hold-10"], ["Bob", "Buy-Now"]
OWN = PLAYER_STATE["this"]
REACH = ["Ash", "Esk", MAP]
TOO_FEW_PLAYERS = "must have at least 2 items"


def folder(path: Path, *cases: tuple[str, list[Any], Any]) -> Path:
    """A folder of these cases: id, the values of the input, the expected answer."""
    index = []
    for name, given, expected in cases:
        entry = {"id": name, "in": f"{name}-in.json", "out": f"{name}-out.json"}
        index.append(entry)
        (path / name).parent.mkdir(exist_ok=True)
        (path / entry["in"]).write_text("\n".join(json.dumps(value) for value in given))
        (path / entry["out"]).write_text(json.dumps(expected))
    (path / "index.json").write_text(json.dumps(index))
    return path


def unanswered(path: Path) -> UnansweredCase:
    """The one case of a folder, which can't be read."""
    (tally,) = run_folder(path, True, ALL_KINDS)
    assert (tally.cases, tally.passed, tally.failures) == (1, 0, ())
    (case,) = tally.unanswered
    return case


def run_trains_cases(*words: str) -> CommandResult:
    return run_in_process("trains-cases", *words)


def rows(result: CommandResult) -> list[list[str]]:
    """The cells of the table that was printed."""
    lines = (line.split("│")[1:-1] for line in result.stdout.splitlines() if "│" in line)
    return [[cell.strip() for cell in line] for line in lines]


def test_a_folder_whose_cases_all_pass(tmp_path: Path) -> None:
    cases = folder(tmp_path, ("3-xmap/a", REACH, True), ("11-xother/b", [1], 2))
    result = run_trains_cases(str(cases))
    assert (result.returncode, result.stderr) == (0, "")
    assert rows(result) == [
        ["3-xmap", "1", "1", "0", "0", ""],
        ["11-xother", "1", "-", "-", "-", "not played"],
    ]


def test_a_folder_without_an_index_has_the_cases_of_its_files(tmp_path: Path) -> None:
    cases = folder(tmp_path, ("3-xmap/a", REACH, True), ("3-xmap/b", REACH, False))
    (cases / "index.json").unlink()
    (cases / "3-xmap" / "c-out.json").write_text("true")  # of no case
    (tally,) = run_folder(cases, quiet=True)
    assert (tally.kind, tally.cases, [failure.id for failure in tally.failures]) == (
        "3-xmap",
        2,
        ["3-xmap/b"],
    )


def test_a_case_that_fails_is_named_and_the_exit_code_is_1(tmp_path: Path) -> None:
    wrong = [[["Ann", "Bob"]], []]
    cases = folder(
        tmp_path,
        ("8-xref/one", [MAP, [ANN, BOB], CARDS], wrong),
        ("3-xmap/yes", REACH, True),
        ("3-xmap/no", REACH, False),
    )
    result = run_trains_cases(str(cases), "--json")
    assert (result.returncode, result.stderr) == (1, "")
    reach, game = json.loads(result.stdout)["kinds"]
    assert reach == {
        "kind": "3-xmap", "cases": 2, "played": True, "passed": 1,
        "failed": [{"id": "3-xmap/no", "expected": False, "answer": True}], "unanswered": [],
    }  # fmt: skip
    assert (game["passed"], game["failed"][0]["id"], game["failed"][0]["expected"]) == (
        0,
        "8-xref/one",
        wrong,
    )
    in_words = run_trains_cases(str(cases))
    assert in_words.returncode == 1
    assert "│ no " in in_words.stdout
    assert "│ one " in in_words.stdout


def test_a_folder_that_is_not_of_the_form_is_reported_in_one_line_with_exit_code_2(tmp_path: Path) -> None:
    result = run_trains_cases(str(tmp_path))
    assert (result.returncode, result.stdout) == (2, "")
    assert result.stderr == f"ledgerline: {tmp_path}/index.json: can't be read: No such file or directory\n"


BAD_INDEXES: Mapping[str, tuple[str, str]] = {
    "no JSON": ("{", "index.json: isn't JSON"),
    "no list": ("{}", "index.json: must hold one JSON list"),
    "two lists": ("[] []", "index.json: must hold one JSON list"),
    "nothing": ("", "index.json: must hold one JSON list"),
    "no object": ("[7]", "index.json: 0: must be an object"),
    "no out": ('[{"id": "3-xmap/a", "in": "a"}]', "index.json: 0: must be an object"),
    "a number as a path": ('[{"id": "3-xmap/a", "in": 1, "out": "b"}]', "index.json: 0: must be an object"),
    "no kind": ('[{"id": "a", "in": "a", "out": "b"}]', "index.json: 0.id: must be a kind"),
    "outside the folder": (
        '[{"id": "3-xmap/a", "in": "../a", "out": "b"}]',
        "index.json: 0.in: must be a path inside",
    ),
    "an absolute path": (
        '[{"id": "3-xmap/a", "in": "a", "out": "/b"}]',
        "index.json: 0.out: must be a path inside",
    ),
    "a folder": ('[{"id": "3-xmap/a", "in": ".", "out": "b"}]', "must be a path inside"),
}


@pytest.mark.parametrize("bad", BAD_INDEXES)
def test_a_bad_index_is_reported_by_file_and_entry(tmp_path: Path, bad: str) -> None:
    text, why = BAD_INDEXES[bad]
    (tmp_path / "index.json").write_text(text)
    with pytest.raises(InvalidInputError) as error:
        run_folder(tmp_path, quiet=True)
    assert why in str(error.value)


@pytest.mark.parametrize(
    "name", ["a", "a\\u0000", "\\ud800"], ids=["missing", "zero byte", "half a character"]
)
def test_a_case_whose_file_cannot_be_opened_is_counted(tmp_path: Path, name: str) -> None:
    (tmp_path / "index.json").write_text(f'[{{"id": "3-xmap/a", "in": "{name}", "out": "b"}}]')
    assert "can't be read: " in unanswered(tmp_path).why


@pytest.mark.parametrize(
    ("make", "why"),
    [
        (lambda path: path.symlink_to("/etc/passwd"), "is a link that leads out of the folder"),
        (lambda path: path.symlink_to(path), "can't be read: "),
        (os.mkfifo, "isn't a file"),
        (Path.mkdir, "isn't a file"),
    ],
    ids=["a link out of the folder", "a link to itself", "a pipe that nobody writes", "a folder"],
)
def test_a_case_whose_file_is_a_trap_is_counted(
    tmp_path: Path, make: Callable[[Path], object], why: str
) -> None:
    (tmp_path / "index.json").write_text('[{"id": "3-xmap/a", "in": "a", "out": "b"}]')
    make(tmp_path / "a")
    assert why in unanswered(tmp_path).why


def test_a_case_that_cannot_be_read_is_counted_and_the_next_one_is_answered(tmp_path: Path) -> None:
    cases = folder(
        tmp_path,
        ("3-xmap/bad", ["Ash"], True),
        ("3-xmap/good", REACH, True),
        ("8-xref/[red]bad", [MAP, [ANN], CARDS], []),
        ("11-xother/unplayed", ["Ash"], True),
    )
    result = run_trains_cases(str(cases))
    assert (result.returncode, result.stderr) == (1, "")
    assert rows(result) == [
        ["3-xmap", "2", "1", "0", "1", ""],
        ["8-xref", "1", "0", "0", "1", ""],
        ["11-xother", "1", "-", "-", "-", "not played"],
    ]
    assert result.stdout.splitlines()[-2:] == [
        f"3-xmap/bad isn't answered: {cases}/3-xmap/bad-in.json: must hold 3 JSON values (city, city, map), not 1",
        f"8-xref/[red]bad isn't answered: {cases}/8-xref/[red]bad-in.json: players: {TOO_FEW_PLAYERS}",
    ]
    in_json = run_trains_cases(str(cases), "--json")
    assert in_json.returncode == 1
    (first, *_) = json.loads(in_json.stdout)["kinds"]
    assert (first["passed"], first["failed"], [case["id"] for case in first["unanswered"]]) == (
        1,
        [],
        ["3-xmap/bad"],
    )


def test_what_a_folder_says_of_its_cases_cannot_steer_a_terminal(tmp_path: Path) -> None:
    name, markup = "3-xmap/\x1b[2J\n", "3-xmap/[/bold]"
    entries = [{"id": name, "in": "a", "out": "b"}, {"id": markup, "in": "in", "out": "out"}]
    (tmp_path / "index.json").write_text(json.dumps(entries))
    (tmp_path / "in").write_text("\n".join(json.dumps(value) for value in REACH))
    (tmp_path / "out").write_text("false")
    result = run_trains_cases(str(tmp_path))
    assert "\x1b" not in result.stdout
    assert rows(result) == [["3-xmap", "2", "0", "1", "1", "[/bold]"]]
    assert result.stdout.splitlines()[-1].startswith("3-xmap/\\x1b[2J\\n isn't answered: ")


BAD_CASES: Mapping[str, tuple[str, list[Any], str]] = {
    "a value too few": ("3-xmap", ["Ash", "Esk"], "must hold 3 JSON values"),
    "no such city": ("3-xmap", ["Ash", "Zed", MAP], "the map has no city 'Zed'"),
    "a city that is none": ("3-xmap", ["Ash", [], MAP], "the map has no city []"),
    "no map": ("3-xmap", ["Ash", "Esk", 7], "map: must be an object"),
    "a bad length": ("3-xmap", ["Ash", "Esk", {**MAP, "connections": {"Ash": {"Esk": {"red": 9}}}}], "connections.'Ash'.'Esk'"),
    "no state": ("6-xstrategy", [MAP, 7], "player state"),
    "negative rails": ("6-xstrategy", [MAP, {**PLAYER_STATE, "this": {**OWN, "rails": -1}}], "player state.this.rails: "),
    "a card of gold": ("6-xstrategy", [MAP, {**PLAYER_STATE, "this": {**OWN, "cards": {"gold": 1}}}], "cards"),
    "not on the map": ("6-xstrategy", [MAP, {**PLAYER_STATE, "acquired": [[["Ash", "Esk", "red", 3]]]}], "no connection"),
    "eight others": ("6-xstrategy", [MAP, {**PLAYER_STATE, "acquired": [[]] * 8}], "acquired"),
    "no connection": ("5-xlegal", [MAP, PLAYER_STATE, ["Ash", "Bow"]], "connection.2: is missing"),
    "one player": ("8-xref", [MAP, [ANN], CARDS], "players"),
    "nine players": ("8-xref", [MAP, [ANN] * 9, CARDS], "players"),
    "an unknown player": ("8-xref", [MAP, [ANN, ["Bob", "Genius"]], CARDS], "players.1.1: "),
    "too few cards": ("8-xref", [MAP, [ANN, BOB], CARDS[:7]], "position.deck: 7 cards"),
    "a wild card": ("9-xmanager", [MAP, [ANN, BOB], ["locomotive"] * 250], "cards.0: "),
    "an unknown call": ("10-xserver", [MAP, [ANN, ["Bob", "player-bad-name"]], CARDS], "players.1.1"),
    "fifty-one players": ("9-xmanager", [MAP, [ANN] * 51, CARDS], "players"),
}  # fmt: skip


@pytest.mark.parametrize("bad", BAD_CASES)
def test_a_bad_case_is_counted_with_its_file_and_entry(tmp_path: Path, bad: str) -> None:
    kind, given, why = BAD_CASES[bad]
    case = unanswered(folder(tmp_path, (f"{kind}/a", given, None)))
    assert case.id == f"{kind}/a"
    assert case.why.startswith(f"{tmp_path}/{kind}/a-in.json: ")
    assert why in case.why


@pytest.mark.parametrize(
    "content",
    [b"\xff\xfe1", b"[" * 100_000, b"1" * 10_000, b"tru", b'{"a": 1', b"[1, 2"],
    ids=["no UTF-8", "nested", "a long number", "half a word", "half an object", "half a list"],
)
def test_a_file_that_holds_no_values_is_counted(tmp_path: Path, content: bytes) -> None:
    cases = folder(tmp_path, ("3-xmap/a", [], True))
    (cases / "3-xmap/a-in.json").write_bytes(content)
    assert "a-in.json: " in unanswered(cases).why


# -- a case that doesn't end by itself ---------------------------------------------------------------


def endless(values: Sequence[object]) -> object:
    while True:
        pass


def silent(values: Sequence[object]) -> object:
    async def wait() -> None:
        await asyncio.get_running_loop().create_future()

    return asyncio.run(wait())


def broken(values: Sequence[object]) -> object:
    raise AssertionError("a bug")


@pytest.mark.parametrize(
    ("solver", "why"),
    [
        (endless, "there is no answer after 0.05 s"),
        (silent, "no answer after"),
        (broken, "answering it failed: "),
    ],
)
def test_each_case_has_its_row_whatever_answering_it_does(
    tmp_path: Path, solver: CaseSolver, why: str
) -> None:
    (case,) = read_cases(folder(tmp_path, ("3-xmap/a", REACH, True)))
    shortfall = check_case(case, {"3-xmap": solver}, limit_s=0.05)
    assert isinstance(shortfall, UnansweredCase)
    assert why in shortfall.why


@pytest.mark.parametrize(
    ("players", "winners"),
    [
        ([ANN, ["Ann", "Hold-10"], BOB], [["Bob"], []]),
        ([ANN, BOB, ["Ann", "player-bad-start"]], [["Bob"], []]),
        ([ANN, ANN], [[], []]),
    ],
)
def test_a_name_that_stands_twice_is_refused_and_the_others_play(
    tmp_path: Path, players: list[Any], winners: list[Any]
) -> None:
    (tally,) = run_folder(
        folder(tmp_path, ("10-xserver/a", [MAP, players, CARDS], winners)), quiet=True, kinds=ALL_KINDS
    )
    assert (tally.failures, tally.unanswered, tally.passed) == ((), (), 1)


def test_two_expected_values_are_one_too_many(tmp_path: Path) -> None:
    cases = folder(tmp_path, ("3-xmap/a", REACH, True))
    (cases / "3-xmap/a-out.json").write_text("true false")
    assert unanswered(cases).why.endswith("a-out.json: must hold one JSON value, not 2")


def test_values_follow_each_other_with_any_white_space_or_none() -> None:
    assert list(iter_json_values('"a""b"[1]{"c":2}\n\n\t 3  4' + " " * 5000 + "null ")) == [
        "a",
        "b",
        [1],
        {"c": 2},
        3,
        4,
        None,
    ]
    assert list(iter_json_values(" \n")) == []


def test_a_byte_order_mark_is_no_value(tmp_path: Path) -> None:
    (tmp_path / "a").write_bytes(b"\xef\xbb\xbf[1]")
    assert read_values(tmp_path / "a") == [[1]]
