"""`ledgerline board`: the ids of a board for a judge and for the author of a bot."""

from __future__ import annotations

import json
from pathlib import Path
from xml.etree import ElementTree

import pytest

from schemas.trains.boards.form import BoardForm, read_board
from services.referee.games.trains.board import board_names, load_board
from services.trains.board_files import read_board_file
from tests.cli.command_line import run_in_process
from tests.schemas.board_examples import OURS


@pytest.mark.parametrize("name", board_names())
def test_a_board_is_listed_with_every_id(name: str) -> None:
    board = load_board(name)
    result = run_in_process("board", name)
    assert result.returncode == 0
    for some_id in (*board.cities, *board.routes, *board.tickets):
        assert some_id in result.stdout


def test_as_json_it_is_a_board_file() -> None:
    printed = json.loads(run_in_process("board", "usa", "--json").stdout)
    assert read_board(printed) == load_board("usa").form


PLAIN = {
    **OURS,
    "cities": [
        {**city, "merchandise": None, "unverified": False, "country": False} for city in OURS["cities"]
    ],
    "rules": "europe",
}
SAYABLE = {"europe", "usa", "usa-1910", "usa-mega", "nordic", "iberia"}


def played_on(form: BoardForm) -> tuple[list[str], list[str]]:
    """The names of its cities, and what makes each route, whose ids may number parallels otherwise."""
    names = {city.id: city.name.strip() for city in form.cities}
    routes = [
        f"{sorted(names[end] for end in r.between)} {r.length} {r.color} {r.locomotives} {r.kind}"
        for r in form.routes
    ]
    return list(names.values()), sorted(routes)


@pytest.mark.parametrize("name", sorted(SAYABLE))
def test_as_xml_it_is_a_map_of_ai_mas_that_is_read_again(name: str, tmp_path: Path) -> None:
    file = tmp_path / f"{name}.xml"
    file.write_text(run_in_process("board", name, "--xml").stdout)
    assert played_on(read_board_file(file)) == played_on(load_board(name).form)
    assert read_board_file(file).title == load_board(name).title
    assert run_in_process("board", str(file), "--xml").stdout == file.read_text()


@pytest.mark.parametrize("name", sorted({*board_names()} - SAYABLE))
def test_a_board_with_countries_has_no_xml_and_the_error_says_so(name: str) -> None:
    result = run_in_process("board", name, "--xml")
    assert (result.returncode, result.stdout, result.stderr.count("\n")) == (2, "", 1)
    assert "which the AI-MAS form can't say" in result.stderr


@pytest.mark.parametrize(
    ("change", "error"),
    [
        ({"cities": {"merchandise": "red"}}, "city west: has merchandise, which"),
        ({"routes": {"kind": "ferry"}}, "is a ferry of 0 locomotives, which"),
        ({"routes": {"length": 7}}, "7 spaces have no points to write"),
    ],
)
def test_what_xml_cannot_say_is_named(
    change: dict[str, dict[str, object]], error: str, tmp_path: Path
) -> None:
    file = tmp_path / "board.json"
    rows = {key: [*PLAIN[key][:-1], {**PLAIN[key][-1], **more}] for key, more in change.items()}
    file.write_text(json.dumps({**PLAIN, **rows}))
    result = run_in_process("board", str(file), "--xml")
    assert (result.returncode, result.stdout) == (2, "")
    assert error in result.stderr


def test_xml_refers_to_namesakes_by_position_and_says_where_it_can_not(tmp_path: Path) -> None:
    file = tmp_path / "board.json"
    for names, why in (
        (("Bern", "Bern", "Wien"), ""),
        (("Bern", "Bern", "0"), "shares its name, and another city is called 0"),
    ):
        cities = [{**city, "name": name} for city, name in zip(PLAIN["cities"], names, strict=True)]
        file.write_text(json.dumps({**PLAIN, "cities": cities}))
        result = run_in_process("board", str(file), "--xml")
        assert (result.returncode, why in result.stderr) == (2 if why else 0, True)


def test_xml_goes_without_json() -> None:
    assert "--xml: goes without --json" in run_in_process("board", "usa", "--xml", "--json").stderr


def test_the_tickets_that_the_rules_make_are_listed_too() -> None:
    printed = json.loads(run_in_process("board", "iberia", "--json").stdout)
    assert {
        "id": "madrid:toledo",
        "between": ["madrid", "toledo"],
        "points": 10,
        "deck": "regular",
    } in printed["tickets"]


def test_a_file_is_listed_and_drawn_and_its_names_are_never_markup(tmp_path: Path) -> None:
    file, picture = tmp_path / "board.json", tmp_path / "board.svg"
    cities = [{**city, "name": f"[red]<b>{n}"} for n, city in enumerate(OURS["cities"])]
    file.write_text(json.dumps({**OURS, "cities": cities}))
    result = run_in_process("board", str(file), "--svg", str(picture))
    assert result.returncode == 0 and "[red]<b>0" in result.stdout
    texts = [element.text for element in ElementTree.fromstring(picture.read_text()).iter()]
    assert "[red]<b>0" in texts


def test_an_unknown_board_is_one_line_that_suggests_another() -> None:
    result = run_in_process("board", "uas")
    assert (result.returncode, result.stdout) == (2, "")
    assert result.stderr.endswith("did you mean usa?\n") and result.stderr.count("\n") == 1
