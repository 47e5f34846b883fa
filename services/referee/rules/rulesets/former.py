"""What the rulesets meant before. A game is played to its end, and decided again for ever, by the
version that its log names (P4).

Each version is made of the one after it, by undoing what changed.
"""

from __future__ import annotations

from dataclasses import replace
from typing import Final

from services.referee.rules.ruleset import Ruleset
from services.referee.rules.rulesets.europe import EUROPE
from services.referee.rules.rulesets.marklin import MARKLIN
from services.referee.rules.rulesets.trains import TRAINS
from services.referee.rules.rulesets.usa import USA


def first(second: Ruleset) -> Ruleset:
    """Version 1: a move took as long as it took, unless somebody asked for a clock."""
    return replace(second, version=1, figures=replace(second.figures, move_ms=None))


FORMER: Final[tuple[Ruleset, ...]] = tuple(first(ruleset) for ruleset in (USA, EUROPE, MARKLIN, TRAINS))
