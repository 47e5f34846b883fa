"""What a viewer gets of a game's beginning doesn't depend on what others are dealt, nor on the seed."""

from __future__ import annotations

from itertools import islice

from schemas.commands import ForkGame
from services.referee.rules.determinization import determinize
from services.referee.rules.setup.fork import ForkSource
from tests.rules.test_properties import EVERY_RULESET
from tests.secrecy.deals import created_twice, watched_deals
from tests.secrecy.matches import Match
from tests.secrecy.test_determinization import with_dice


@EVERY_RULESET
def test_no_viewer_can_tell_what_others_are_dealt(rules: str) -> None:
    assert watched_deals(rules, 24) > 24


@EVERY_RULESET
def test_what_is_seen_of_a_seed_is_as_long_as_of_any(rules: str) -> None:
    for chance in range(6):
        match = Match(rules, chance)
        if match.table.position_starter is None:  # else it is the seed that shuffled what was laid
            for viewer in (None, *range(match.seats)):
                one, other = created_twice(match, viewer)
                assert one == other


@EVERY_RULESET
def test_a_fork_follows_from_what_its_asker_knows(rules: str) -> None:
    """The whole table of it, what is hidden too: so it shows nothing of the game that goes on."""
    forks = 0
    for chance in range(6):
        match = Match(rules, chance)
        for step in islice(match.steps(), 5, 60, 6):
            viewer = match.rng.choice([*match.knowing])
            known, past = match.knowing[viewer], ForkSource()
            if match.table.result:
                break
            twin = determinize(match.table, known, with_dice(match.rng))
            wish, told = ForkGame("match", step.before.length + 1, viewer), []
            for table in (match.table, twin):
                past.state, past.knowledge = table, match.knowing
                told.append(past.build_command(wish, "5e" * 32, is_over=False))
            assert told[0] == told[1]
            forks += 1
    assert forks > 10
