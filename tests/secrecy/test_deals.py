"""What a viewer gets of a game's beginning doesn't depend on what others are dealt, nor on the seed."""

from __future__ import annotations

from tests.rules.test_properties import EVERY_RULESET
from tests.secrecy.deals import created_twice, watched_deals
from tests.secrecy.matches import Match


@EVERY_RULESET
def test_no_viewer_can_tell_what_others_are_dealt(rules: str) -> None:
    assert watched_deals(rules, 24) > 24


@EVERY_RULESET
def test_what_is_seen_of_a_seed_is_as_long_as_of_any(rules: str) -> None:
    for chance in range(6):
        match = Match(rules, chance)
        if match.table.laid is None:  # a position without a deck is shuffled by the seed
            for viewer in (None, *range(match.seats)):
                one, other = created_twice(match, viewer)
                assert one == other
