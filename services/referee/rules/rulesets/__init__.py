"""The rulesets by name, and all their versions. A new ruleset is a new value here, and a branch nowhere."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final

from services.referee.rules.rulesets.europe import EUROPE
from services.referee.rules.rulesets.marklin import MARKLIN
from services.referee.rules.rulesets.trains import TRAINS
from services.referee.rules.rulesets.usa import USA
from services.referee.rules.state import Ruleset

RULESETS: Final[Mapping[str, Ruleset]] = {ruleset.name: ruleset for ruleset in (USA, EUROPE, MARKLIN, TRAINS)}
RULESET_VERSIONS: Final[Mapping[tuple[str, int], Ruleset]] = {
    (ruleset.name, ruleset.version): ruleset for ruleset in RULESETS.values()
}  # every version that a log may name
