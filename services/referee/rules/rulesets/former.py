"""Earlier versions of the rulesets. A game is played to its end, and its log is decided again at any later
time, by the version that its log names (P4).

Each version is made from the one after it, by undoing what changed.
"""

from __future__ import annotations

from dataclasses import replace
from typing import Final

from services.referee.rules.fair_randomness import SERVER_SEED
from services.referee.rules.ruleset import Ruleset
from services.referee.rules.rulesets.europe import EUROPE
from services.referee.rules.rulesets.marklin import MARKLIN
from services.referee.rules.rulesets.trains import TRAINS
from services.referee.rules.rulesets.usa import USA


def version_2(current: Ruleset) -> Ruleset:
    """Version 2: every shuffle followed from the server's seed alone, the one thing committed to."""
    return replace(current, version=2, randomness=SERVER_SEED)


def version_1(current: Ruleset) -> Ruleset:
    """Version 1: no time limit for a move unless the game set one."""
    rule_options = replace(current.rule_options, move_ms=None)
    return replace(version_2(current), version=1, rule_options=rule_options)


FORMER_VERSIONS: Final[tuple[Ruleset, ...]] = tuple(
    make_version(ruleset)
    for make_version in (version_1, version_2)
    for ruleset in (USA, EUROPE, MARKLIN, TRAINS)
)
