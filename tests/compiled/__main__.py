"""`make fast-check`: the tests of what is compiled and goes through it, then games played in both forms."""

from __future__ import annotations

import argparse
import subprocess
import sys
from concurrent.futures import ProcessPoolExecutor, ThreadPoolExecutor
from multiprocessing import get_context
from typing import Final

from services.compiled_rules import prefer_compiled_rules, rules_form
from services.referee.games.trains.rulesets import TRAIN_RULESETS
from tests.compiled.both_rollouts import compare
from tests.compiled.two_forms import ROOT, differences, play_in_process, read_games

SUITES: Final = (
    "schemas", "rules", "referee", "golden", "verification", "secrecy", "ledger_contract", "simulator", "bots"
)  # fmt: skip


def main() -> int:
    """Returns the exit code."""
    parser = argparse.ArgumentParser(prog="make fast-check")
    parser.add_argument("--games", type=int, default=2_000, help="how many are played in both forms (2,000)")
    parser.add_argument("--rollouts", type=int, default=1_000, help="how many of each ruleset (1,000)")
    parser.add_argument("--no-tests", action="store_true", help="only these games")
    arguments = parser.parse_args()
    print(f"rules: {rules_form()}", flush=True)
    if not rules_form().compiled:
        return 1
    if not arguments.no_tests and not tests_pass():
        return 1
    return play_both(arguments.games) or compare_rollouts(arguments.rollouts)


def compare_rollouts(count: int) -> int:
    """Compare so many rollouts of each ruleset in both forms, two rulesets at a time. Returns the exit code."""
    with ProcessPoolExecutor(2, mp_context=get_context("spawn"), initializer=prefer_compiled_rules) as pool:
        found = [*pool.map(compare, TRAIN_RULESETS, [count] * len(TRAIN_RULESETS))]
    for rules, (declined, different) in zip(TRAIN_RULESETS, found, strict=True):
        print(f"{count} rollouts of {rules}, {declined} left to Python; different: {different or 'none'}")
    return 1 if any(different for _, different in found) else 0


def tests_pass() -> bool:
    """Run the tests of what is compiled, and of what decides by it, in the form that this process has."""
    command = [sys.executable, "-m", "pytest", *(f"tests/{suite}" for suite in SUITES)]
    return subprocess.run(command, cwd=ROOT, check=False).returncode == 0


def play_both(games: int) -> int:
    """Play so many games in both forms at once. Returns the exit code."""
    with play_in_process(0, games, compiled=False) as slow, play_in_process(0, games, compiled=True) as fast:
        with ThreadPoolExecutor(
            2
        ) as readers:  # else one of them waits, once its pipe is full, for the other to end
            slow_output, fast_output = readers.map(lambda process: process.communicate()[0], (slow, fast))
        pure = read_games(slow_output.splitlines(), compiled=False)
        compiled = read_games(fast_output.splitlines(), compiled=True)
    different = [*differences(pure, compiled)]
    entries = sum(game.entries for game in pure)
    print(f"{len(pure)} games, {entries} entries in both forms; different: {different or 'none'}")
    return 1 if different or len(pure) < games else 0


if __name__ == "__main__":
    sys.exit(main())
