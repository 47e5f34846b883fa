"""Nothing is found in the rules as they are."""

from __future__ import annotations

import json
from random import Random
from typing import Final

import pytest

from services.fuzz import Arena, Quota, search_batch
from services.fuzz.made_commands import CommandMaker
from services.referee.games import RULESETS
from tests.process_faults.seeds import SOAK

GAMES: Final = 60 if SOAK else 24


@pytest.mark.long
@pytest.mark.parametrize("rules", RULESETS)
def test_random_play_of_any_options_finds_nothing(rules: str) -> None:
    result = search_batch(Arena(rules), "sound", Quota(games=GAMES))
    assert result.found is None, result.found
    assert result.games == GAMES
    assert len(result.reached) > 10


def test_made_options_are_as_a_log_gives_them_back() -> None:
    # given options that are far from the ruleset's own, which are made by their schemas
    for name, ruleset in RULESETS.items():
        maker = CommandMaker(Random(0), ruleset, [None])
        for _ in range(200):
            options = maker.changed_options(4)
            # then JSON leaves them as they are
            assert options == json.loads(json.dumps(options)), name
