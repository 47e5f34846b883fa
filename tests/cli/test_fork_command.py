"""`ledgerline fork` as an operator uses it."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from services.referee.games import RULESETS
from services.referee.games.state import Ruleset
from tests.cli.command_line import read_json, read_json_of_process, run_in_process


@pytest.fixture(scope="module")
def data(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("forks")


@pytest.fixture(scope="module")
def played(data: Path) -> Any:
    return read_json("play", "--seed", "forks", "--seats", "greedy,random", data=data)


@pytest.mark.long
def test_a_game_of_bots_starts_at_once_where_the_other_one_stood(played: Any, data: Path) -> None:
    fork = read_json_of_process("fork", played["game"], "--at", "40", data=data)
    assert (fork["of"], fork["at"], fork["afresh"], fork["started"]) == (played["game"], 40, False, True)
    assert fork["free"] == []
    source = read_json("replay", played["game"], "--to", "40", data=data)
    replayed = read_json("replay", fork["game"], data=data)
    assert replayed["forked"] == {"of": played["game"], "at": 40}
    for name in ("cars", "cards", "routes"):
        assert [seat[name] for seat in replayed["seats"]] == [seat[name] for seat in source["seats"]]


def test_its_bots_play_on_while_the_server_runs_and_an_audit_finds_nothing_wrong(
    played: Any, data: Path
) -> None:
    fork = read_json("fork", played["game"], "--at", "100", data=data)
    read_json("play", "--seed", "others", "--seats", "random,random", "--option", "cars=12", data=data)
    assert read_json("replay", fork["game"], data=data)["entries"] > 2
    audited = run_in_process("audit", fork["game"], data=data)
    assert audited.returncode == 0, audited.stdout + audited.stderr


def test_a_fork_is_described_in_words_too(played: Any, data: Path) -> None:
    text = run_in_process("fork", played["game"], "--at", "7", data=data).stdout
    assert f"goes on from game {played['game']} after entry 7; hidden cards stay where they were" in text
    assert "It has started" in text


@pytest.mark.parametrize(
    ("words", "why"),
    [
        (("--at", "1"), "--at: game {game} hadn't started at entry 1"),
        (("--at", "100000"), "--at: game {game} has {entries} entries"),
        (("--at", "{entries}"), "--at: game {game} was over at entry {entries}; name one before"),
        (
            ("--at", "7", "--as", "5"),
            "--as: '5' is neither public nor a seat from A to B, nor a player's name",
        ),
    ],
)
def test_bad_input_is_one_line_that_names_the_option(
    played: Any, data: Path, words: tuple[str, ...], why: str
) -> None:
    result = run_in_process("fork", played["game"], *(word.format(**played) for word in words), data=data)
    assert (result.returncode, result.stderr.strip()) == (2, f"ledgerline: {why.format(**played)}")


@pytest.mark.parametrize("rules", [each for each in RULESETS.values() if each.fork_command is None])
def test_a_game_whose_moments_cannot_be_laid_again_has_no_fork(rules: Ruleset, data: Path) -> None:
    seats = ",".join(["random"] * rules.rule_options.seats_least)
    played = read_json("play", "--rules", rules.name, "--seats", seats, data=data)
    result = run_in_process("fork", played["game"], "--at", "9", data=data)
    assert (result.returncode, result.stderr.count("\n")) == (2, 1)
    assert "can't be laid again" in result.stderr


def test_an_unknown_game_is_not_found(played: Any, data: Path) -> None:
    result = run_in_process("fork", "nowhere", "--at", "7", data=data)
    assert result.returncode == 2
    assert result.stderr.startswith("ledgerline: there is no game nowhere; `ledgerline games --data")
