"""docs/how-to/simulate.md: many games on the core, as rows of a file, any of which is played into a real log."""

from __future__ import annotations

import csv
import json
import sys
from itertools import islice
from pathlib import Path

import pytest

from schemas.errors import InvalidInputError
from services.referee.games import RULESETS
from services.tournament.simulated_games import open_rows, plan_simulation, read_row, row_of
from services.tournament.viewed_game import GameSetting, play_fast, play_one
from tests.cli.command_line import run_in_process

PAIR = ("greedy", "random")


def simulated(path: Path, games: int = 3, rules: str = "usa") -> list[dict[str, object]]:
    where = {"rules": rules, "board": "", "options": {"cars": 12}}
    setting = GameSetting(rules, None, {"cars": 12})
    rows = []
    with open_rows(path) as write:
        for number, planned in enumerate(plan_simulation(PAIR, games, "s"), 1):
            rows.append(row_of(number, play_one(setting, planned), where))
            write(rows[-1])
    return rows


def test_each_deal_is_played_in_every_rotation_and_then_the_next() -> None:
    planned = [(game.seed, game.policies) for game in plan_simulation(PAIR, 3, "s")]
    assert planned == [("s/0", PAIR), ("s/0", PAIR[::-1]), ("s/1", PAIR)]
    seeds = [game.seed for game in plan_simulation(("greedy",) * 4, 2, "s")]
    assert seeds == ["s/0", "s/1"], "of equal seats one is enough"


@pytest.mark.parametrize("ending", ["csv", "jsonl", "parquet"])
def test_what_is_written_is_read_again(tmp_path: Path, ending: str) -> None:
    path = tmp_path / f"games.{ending}"
    rows = simulated(path)
    for number in (1, 3):
        row = read_row(path, number, "--like")
        assert row["seed"] == rows[number - 1]["seed"]
        assert row["options"] == {"cars": 12}
        assert int(str(row["total_B"])) == rows[number - 1]["total_B"]
    with pytest.raises(InvalidInputError, match="has no game 4"):
        read_row(path, 4, "--like")


def test_a_row_has_the_points_of_every_seat_by_source(tmp_path: Path) -> None:
    (tmp_path / "a.jsonl").touch()
    rows = simulated(tmp_path / "a.jsonl")
    for row, line in zip(rows, (tmp_path / "a.jsonl").read_text().splitlines(), strict=True):
        assert json.loads(line) == row
        for letter in "AB":
            assert sum(row["parts"][letter].values()) == row[f"total_{letter}"]  # type: ignore[index]
        assert 1 in (row["place_A"], row["place_B"])


def test_games_go_on_being_planned_only_as_they_are_played() -> None:
    endless = plan_simulation(("random",) * 2, 10**9, "s")
    played = play_fast(GameSetting("usa", None, {"cars": 8}), endless, 2)
    assert [game.seed for game in islice(played, 6)] == [f"s/{number}" for number in range(6)]
    played.close()  # type: ignore[attr-defined]  # a generator


def test_a_file_of_another_form_and_an_unwritable_one_are_refused(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    for path in (tmp_path / "a.txt", tmp_path / "missing" / "a.csv"):
        with pytest.raises(InvalidInputError, match="--out"), open_rows(path):
            pass
    (tmp_path / "b.csv").write_text("a,b\n1,2\n")
    with pytest.raises(InvalidInputError, match="isn't a file that ledgerline simulate wrote"):
        read_row(tmp_path / "b.csv", 1, "--like")
    monkeypatch.setitem(sys.modules, "pyarrow", None)
    with pytest.raises(InvalidInputError, match="pip install pyarrow"), open_rows(tmp_path / "a.parquet"):
        pass


@pytest.mark.long
def test_any_row_is_played_into_a_real_log(tmp_path: Path) -> None:
    # given three games of a train ruleset and of one from the kit
    for rules in (
        "usa",
        next(name for name in RULESETS if name not in ("usa", "europe", "marklin", "trains")),
    ):
        out = tmp_path / f"{rules}.csv"
        seats = "greedy,random" if rules == "usa" else "random,random,random"
        done = run_in_process(
            "simulate", "--rules", rules, "--seats", seats, "--games", "3", "--out", str(out)
        )
        assert done.returncode == 0, done.stderr
        with out.open(newline="") as file:
            row = [*csv.DictReader(file)][1]
        # when its second one is played
        like = run_in_process("play", "--like", f"{out}:2", "--data", str(tmp_path / "data"), "--json")
        assert like.returncode == 0, like.stderr
        # then it ends with the same points
        scores = json.loads(like.stdout)["seats"]
        totals = [int(row[f"total_{letter}"]) for letter in "ABC"[: len(seats.split(","))]]
        assert [score["total"] for score in sorted(scores, key=lambda score: score["seat"])] == totals


@pytest.mark.long
def test_what_cannot_be_simulated_is_one_clear_line(tmp_path: Path) -> None:
    out = str(tmp_path / "a.csv")
    for arguments, said in (
        (("simulate", "--seats", "greedy", "--out", out), "simulate: seats: 1, these rules take 2 to 5"),
        (("simulate", "--seats", "gredy,random", "--out", out), "no policy 'gredy'"),
        (("play", "--like", f"{out}:x"), "isn't FILE:N"),
        (("play", "--like", f"{out}:1", "--seats", "random,random"), "--like: says the game"),
    ):
        done = run_in_process(*arguments)
        assert done.returncode == 2
        assert said in done.stderr
        assert len(done.stderr.splitlines()) == 1
