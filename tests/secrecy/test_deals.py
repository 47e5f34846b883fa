"""What a viewer receives of a game's beginning depends neither on what others are dealt nor on the seed (P5)."""

from __future__ import annotations

from itertools import islice

import pytest

from schemas.commands import ForkGame
from services.referee.games.trains.determinization import ViewerKnowledge, determinize
from services.referee.games.trains.setup.fork import ForkSource
from tests.long_runs import long_after
from tests.rules.test_properties import EVERY_RULESET, EVERY_TRAIN_RULESET
from tests.secrecy.deals import check_deals, created_twice
from tests.secrecy.matches import Match
from tests.secrecy.test_determinization import shuffle_with


@pytest.mark.parametrize("games", long_after(1, (6, 12)))
@EVERY_RULESET
def test_P5_no_viewer_receives_anything_of_what_others_are_dealt(rules: str, games: int) -> None:
    assert check_deals(rules, games) > games


@EVERY_RULESET
def test_P5_what_a_viewer_receives_is_equally_long_for_every_seed(rules: str) -> None:
    for chance in range(6):
        match = Match(rules, chance)
        if (
            getattr(match.state.own, "position_starter", None) is None
        ):  # else the seed shuffled the rest of the position
            for viewer in (None, *range(match.seats)):
                one, other = created_twice(match, viewer)
                assert one == other


@pytest.mark.parametrize("games", long_after(1, (3, 6)))
@EVERY_TRAIN_RULESET
def test_P5_a_fork_follows_from_what_its_asker_knows(rules: str, games: int) -> None:
    """All of the fork's state does, hidden cards too: so it reveals nothing of the running game."""
    forks = 0
    for chance in range(games):
        match = Match(rules, chance)
        for step in islice(match.steps(), 5, 60, 6):
            viewer = match.rng.choice([*match.knowledge])
            known, source = match.knowledge[viewer], ForkSource()
            if match.state.result:
                break
            assert isinstance(known, ViewerKnowledge)
            twin_state = determinize(match.state, known, shuffle_with(match.rng))
            command, creations = ForkGame("match", step.before.length + 1, viewer), []
            for state in (match.state, twin_state):
                source.state, source.knowledge = state, {**match.knowledge}  # type: ignore[dict-item]  # of trains
                creations.append(source.build_command(command, "5e" * 32, is_over=False))
            assert creations[0] == creations[1]
            forks += 1
    assert forks > games
