"""`ledgerline fuzz`: what it prints, its exit code, and the file that `replay` reads."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from services.fuzz import GAME
from tests.cli.command_line import run_in_process
from tests.fuzz.planted_rules import RULESETS, standing_in
from tests.fuzz.planted_tricks import PLANTED as PLANTED_TRICKS
from tests.long_runs import short_and_long

PLANTED = "a refusal that tells the next card"
WORDS = ("fuzz", "usa", "--board", "usa", "--games", "40", "--jobs", "1", "--seed", "planted")


@pytest.mark.long
def test_a_finding_is_printed_with_its_seed_and_its_log_is_a_file_that_replay_reads(tmp_path: Path) -> None:
    file = tmp_path / "found.ledgerline"
    with standing_in(RULESETS[PLANTED][1]):
        found = run_in_process(*WORDS, "--file", str(file))
        as_json = run_in_process(*WORDS, "--file", str(file), "--json")
    assert found.returncode == as_json.returncode == 1, found.stderr
    finding = json.loads(as_json.stdout)["finding"]
    assert finding["kind"] == "leak"
    assert finding["probe"]["command"]["type"] == "draw_market"
    assert f"usa: leak. What a seat gets depends on what it can't see.\n  {finding['why']}\n" in found.stdout
    assert "Find it again: ledgerline fuzz usa --board usa --seed planted --games " in found.stdout
    assert f"ledgerline replay {file}\n" in found.stdout
    for viewer in ((), ("--as", "0"), ("--as", "public")):
        replayed = run_in_process("replay", str(file), "--json", *viewer)
        assert replayed.returncode == 0, replayed.stderr
        document = json.loads(replayed.stdout)
        assert (document["game"], len(document["turns"])) == (GAME, len(finding["steps"]))


def test_a_search_of_every_game_ends_when_its_minutes_are_over() -> None:
    result = run_in_process("fuzz", "all", "--minutes", "0.01", "--jobs", "1", "--json")
    assert result.returncode == 0, result.stderr
    assert json.loads(result.stdout)["finding"] is None


def test_a_finding_in_a_game_without_a_board_is_a_file_that_replay_reads(tmp_path: Path) -> None:
    file = tmp_path / "found.ledgerline"
    with standing_in(PLANTED_TRICKS["nobody must follow suit"][1]):
        found = run_in_process("fuzz", "tricks", "--games", "20", "--jobs", "1", "--file", str(file))
        replayed = run_in_process("replay", str(file), "--json")
    assert found.returncode == 1, found.stderr
    assert found.stdout.splitlines()[1] == "tricks: missed move. A command is accepted that isn't listed."
    assert (replayed.returncode, json.loads(replayed.stdout)["game"]) == (0, GAME), replayed.stderr


@pytest.mark.parametrize("jobs", short_and_long("1", "2"))
def test_nothing_is_found_in_sound_rules(jobs: str) -> None:
    result = run_in_process("fuzz", "trains", "--games", "1", "--jobs", jobs)
    assert (result.returncode, result.stdout.splitlines()[-1]) == (0, "Nothing was found."), result.stderr
    assert result.stdout.startswith("1 games, ")


@pytest.mark.parametrize(
    ("words", "why"),
    [
        (
            ("fuzz", "chess"),
            "game: there is no ruleset 'chess'; there is usa, europe, marklin, trains, ",
        ),
        (("fuzz", "usa", "--seed", "\udcff"), "--seed: can't be written as UTF-8"),
        (("replay", "x" * 300, "--data", "nowhere"), "--data: there are no games in nowhere"),
        (("fuzz", "tricks", "--board", "usa"), "game: no game of tricks can be created: board: the rules"),
        (("fuzz", "usa", "--board", "moon"), "--board: 'moon' is neither a file nor a board"),
        (("replay", "pyproject.toml"), "pyproject.toml: the file doesn't begin with ledgerline/log/1"),
    ],
)
def test_bad_input_is_one_line(words: tuple[str, ...], why: str) -> None:
    result = run_in_process(*words)
    assert result.returncode == 2
    assert result.stdout == ""
    assert result.stderr.startswith(f"ledgerline: {why}")
    assert result.stderr.count("\n") == 1
