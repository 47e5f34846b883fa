"""A game that brings only its rules is played, listed, shown and audited from the command line."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from services.referee.games import RULESETS
from tests.cli.command_line import read_json, run_in_process


@pytest.fixture(scope="module", params=[name for name, each in RULESETS.items() if not each.default_board])
def played(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Any:
    """A game of bots, with its data folder."""
    data, least = tmp_path_factory.mktemp(request.param), RULESETS[request.param].rule_options.seats_least
    seats = ",".join(["random"] * least)
    game = read_json("play", "--rules", request.param, "--seats", seats, "--seed", "whole", data=data)
    return game, data


def test_it_is_listed_with_its_rules_and_no_board(played: Any) -> None:
    game, data = played
    (listed,) = read_json("games", data=data)["games"]
    assert (listed["ruleset"], listed["state"], "board" in listed) == (game["ruleset"], "over", False)
    text = run_in_process("games", data=data)
    assert (text.returncode, game["ruleset"] in text.stdout) == (0, True), text.stderr


@pytest.mark.parametrize("command", ["replay", "audit"])
def test_it_is_shown_again_and_audited(played: tuple[Any, Path], command: str) -> None:
    game, data = played
    result = run_in_process(command, game["game"], data=data)
    assert result.returncode == 0, result.stdout + result.stderr
