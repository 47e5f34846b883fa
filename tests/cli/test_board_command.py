"""`ledgerline board`: the ids of a board for a judge and for the author of a bot."""

from __future__ import annotations

import json
from pathlib import Path
from xml.etree import ElementTree

import pytest

from schemas.boards.form import read_board
from services.referee.rules.board import board_names, load_board
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
