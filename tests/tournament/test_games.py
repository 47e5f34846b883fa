"""A tournament's games: --fast plays what the real pipeline plays, in any number of processes."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

import pytest

from schemas.refusals import CommandRefusedError
from services.tournament.game_results import plan_games
from services.tournament.viewed_game import GameSetting, play_fast
from tests.cli.command_line import ROOT, environment, run_in_process

USA = GameSetting("usa")
FAST = ("tournament", "--fast", "--processes", "1")


@pytest.mark.long
def test_two_processes_play_the_games_of_one() -> None:
    arguments = [
        "tournament",
        "--fast",
        "--policies",
        "greedy,random",
        "--games",
        "8",
        "--json",
        "--processes",
    ]
    alone = run_in_process(*arguments, "1").stdout
    # a process of its own, from a script, which the processes of a pool import: they mustn't begin anew
    spread = subprocess.run(
        [sys.executable, "deploy/ledgerline", *arguments, "2"],
        env=environment(PYTHONPATH=str(ROOT)), cwd=ROOT, capture_output=True, check=True,
    )  # fmt: skip
    assert json.loads(spread.stdout) == json.loads(alone)


def test_the_command_that_make_sets_up_can_be_imported_by_the_processes_of_a_pool() -> None:
    script = Path(sys.executable).with_name("ledgerline").read_text()
    assert script.index("if __name__ == '__main__':") < script.index("main()")


def test_a_block_is_one_deal() -> None:
    first, second = play_fast(USA, plan_games(["greedy"], 2, 1, "x") * 2, 1)
    assert first == second


def test_a_game_that_can_not_be_created_is_refused() -> None:
    with pytest.raises(CommandRefusedError, match="seats"):
        list(play_fast(USA, plan_games(["greedy"], 7, 1, "x"), 1))


def test_logged_games_end_as_those_of_fast_and_can_be_replayed(tmp_path: Path) -> None:
    arguments = ["tournament", "--policies", "greedy,random", "--games", "2", "--rules", "trains", "--json"]
    fast = json.loads(run_in_process(*arguments, "--fast", "--processes", "1").stdout)
    logged = json.loads(run_in_process(*arguments, data=tmp_path).stdout)
    assert [game["seats"] for game in logged["games"]] == [game["seats"] for game in fast["games"]]
    assert "no game was logged" in fast["how"] and fast["games"][0]["game"] is None
    replayed = run_in_process("replay", logged["games"][0]["game"], data=tmp_path)
    assert "The game is over" in replayed.stdout


def test_the_command_prints_the_standings_and_writes_its_files(tmp_path: Path) -> None:
    files = ["--csv", str(tmp_path / "seats.csv"), "--page", str(tmp_path / "page.html")]
    done = run_in_process(*FAST, "--policies", "greedy,random", "--games", "2", *files)
    assert "Played on the rules alone" in done.stdout
    assert len((tmp_path / "seats.csv").read_text().splitlines()) == 5
    assert (tmp_path / "page.html").read_text().startswith("<!doctype html>")


def test_a_game_of_named_parts_has_a_column_for_each_of_them(tmp_path: Path) -> None:
    files = ["--csv", str(tmp_path / "seats.csv"), "--page", str(tmp_path / "page.html")]
    done = run_in_process(*FAST, "--rules", "tricks", "--policies", "random", "--games", "2", *files)
    assert done.returncode == 0, done.stderr
    assert "3 seats" in done.stdout and "rating" in done.stdout and "tickets" not in done.stdout
    heading, *rows = (tmp_path / "seats.csv").read_text().splitlines()
    assert heading == "block,seed,game,seat,policy,place,total,tricks,removed"
    assert len(rows) == 6 and sum(int(row.split(",")[7]) for row in rows) == 2 * 20
    page = (tmp_path / "page.html").read_text()
    assert "tricks: 6.7 points" in page and "ickets" not in page


def test_a_knock_out_of_a_game_without_a_board_has_winners() -> None:
    players = ["--policies", "random,random,random,random,random", "--seats", "5"]
    done = run_in_process(*FAST, "--rules", "tricks", "--knock-out", *players)
    assert done.returncode == 0, done.stderr
    assert "Winners: " in done.stdout


@pytest.mark.parametrize(
    ("arguments", "named"),
    [
        (["--policies", "greedy,nobody"], "nobody"),
        (["--policies", "greedy,greedy"], "--policies"),
        (["--seats", "7"], "seats"),
        (["--csv", "/nowhere/at/all.csv"], "--csv"),
    ],
)
def test_a_wrong_request_is_one_clear_line(arguments: list[str], named: str) -> None:
    done = run_in_process(*FAST, "--games", "1", *arguments)
    assert done.returncode == 2
    assert named in done.stderr and "Traceback" not in done.stderr
