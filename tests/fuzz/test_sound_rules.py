"""Nothing is found in the rules as they are."""

from __future__ import annotations

import pytest

from services.fuzz import Arena, Quota, search_batch
from services.referee.games import RULESETS
from tests.long_runs import short_and_long


@pytest.mark.parametrize("games", short_and_long(2, 60))
@pytest.mark.parametrize("rules", RULESETS)
def test_random_play_of_any_options_finds_nothing(rules: str, games: int) -> None:
    result = search_batch(Arena(rules), "sound", Quota(games=games))
    assert result.found is None, result.found
    assert result.games == games
    assert len(result.reached) > 10
