"""What the rulesets meant before. A game is played to its end, and decided again for ever, by the
version that its log names (P4).

Each version is made of the one after it, by undoing what changed.
"""

from __future__ import annotations

from dataclasses import replace
from typing import Final

from services.referee.rules.fair_randomness import BY_SEED
from services.referee.rules.ruleset import Ruleset
from services.referee.rules.rulesets.europe import EUROPE
from services.referee.rules.rulesets.marklin import MARKLIN
from services.referee.rules.rulesets.trains import TRAINS
from services.referee.rules.rulesets.usa import USA


def second(third: Ruleset) -> Ruleset:
    """Version 2: all chance followed from the house's seed, and only that was committed to."""
    return replace(third, version=2, dealing=BY_SEED)


def first(third: Ruleset) -> Ruleset:
    """Version 1: a move took as long as it took, unless somebody asked for a clock."""
    figures = replace(third.figures, move_ms=None)
    return replace(second(third), version=1, figures=figures)


FORMER: Final[tuple[Ruleset, ...]] = tuple(
    edition(ruleset) for edition in (first, second) for ruleset in (USA, EUROPE, MARKLIN, TRAINS)
)
