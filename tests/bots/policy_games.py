"""Whole games of all policies that a ruleset has, on strict tables of any board, with every choice checked.

`python -m tests.bots.policy_games [GAMES [ROLLOUTS]]` plays so many of each ruleset, with so many rollouts a choice, and says how many decisions there were, how long each
policy's took, and a digest of all that was chosen."""

from __future__ import annotations

import sys
from collections import defaultdict
from hashlib import sha256
from random import Random
from time import perf_counter
from typing import Final

from schemas.commands import Command, write_command
from schemas.field_types import Seat
from services.bots.policies import SLOW_POLICIES
from services.bots.searching.candidate_halving import OWN_SEARCHES
from services.referee.games import legal
from services.referee.games.trains.rulesets import TRAIN_RULESETS
from services.referee.games.trains.train_state import TrainState
from services.tournament.viewed_game import CoreGame, GameSetting
from tests.rules.random_games import BOARDS_BY_RULESET, seat_counts, small_deck

REPEATED_EVERY: Final = 7  # moves; then the policy is asked a second time
# Moves: else the fallback of a slow policy plays, as whole games would take minutes.
SLOW_EVERY: Final = 200
SLOW_FIRST: Final = 14


class CheckedGame(CoreGame):
    """Every command is one of those that are legal for the referee, and the same policy chooses it again from the same view."""

    def __init__(self, rules: str, number: int) -> None:
        rng, names = Random(f"{rules} {number}"), sorted(TRAIN_RULESETS[rules].bot_policies)
        board = rng.choice(BOARDS_BY_RULESET[rules])
        policies = tuple(
            names[(number * len(names) // 2 + seat) % len(names)]
            for seat in range(rng.choice(seat_counts(board)))
        )
        options = {"strict": True, **({"cards": small_deck(rules)} if number % 3 == 2 else {})}
        super().__init__(GameSetting(rules, board, options), policies, str(number))
        self.named = policies
        self.seconds: dict[str, list[float]] = defaultdict(list)
        self.chosen = sha256()

    def choose(self, seat: Seat) -> Command:
        move, policy = self.moves[seat], self.named[seat]
        is_quick = policy in SLOW_POLICIES and move % SLOW_EVERY != SLOW_FIRST
        self.policies = [SLOW_POLICIES[policy].fallback if is_quick else name for name in self.named]
        begun = perf_counter()
        command = super().choose(seat)
        self.seconds[self.policies[seat]].append(perf_counter() - begun)
        assert command in legal(self.state, seat), f"{self.policies[seat]} chose {command}"
        if move % REPEATED_EVERY == 0:
            self.moves[seat] = move
            assert super().choose(seat) == command, f"{self.policies[seat]} changed its mind"
        self.chosen.update(repr(write_command(command)).encode())
        return command


def play_checked(rules: str, number: int) -> CheckedGame:
    """Play one game to its end; nobody was removed from the table."""
    game = CheckedGame(rules, number)
    state = game.play_to_end()
    assert not any(seat_state.exit_reason for seat_state in state.seats)
    return game


def main() -> None:
    games = int(sys.argv[1]) if len(sys.argv) > 1 else 1
    if len(sys.argv) > 2:
        OWN_SEARCHES[TrainState] = OWN_SEARCHES[TrainState]._replace(rollouts=int(sys.argv[2]))
    digest = sha256()
    for rules in sorted(TRAIN_RULESETS):
        seconds: dict[str, list[float]] = defaultdict(list)
        for number in range(games):
            game = play_checked(rules, number)
            digest.update(game.chosen.digest())
            for name, each in game.seconds.items():
                seconds[name] += each
        for name, each in sorted(seconds.items()):
            mean_ms, most_ms = 1000 * sum(each) / len(each), 1000 * max(each)
            print(
                f"{rules} {name}: {len(each)} decisions, mean {mean_ms:.2f} ms, most {most_ms:.0f} ms",
                file=sys.stderr,
            )
    print(digest.hexdigest())


if __name__ == "__main__":
    main()
