"""The rules, as a pure core: `decide` judges, `evolve` applies, `seen_by` filters.

Start with `decide`, then `evolve`; what a ruleset is made of stands in `ruleset`, each
ruleset in `rulesets/`, each kind of move in `moves/`. Nothing here reads a clock, rolls a
die or touches a wire: times and seeds come in with the command and stay in the log.
"""

from services.referee.rules.decide import UnloggedRejectionError, decide, decide_and_apply, decide_envelope
from services.referee.rules.evolve import evolve, fold, fold_events
from services.referee.rules.legal import legal
from services.referee.rules.rulesets import RULESETS
from services.referee.rules.scoring import score
from services.referee.rules.state import GameState
from services.referee.rules.views import redact_for, split_by_visibility

__all__ = [
    "RULESETS",
    "UnloggedRejectionError",
    "GameState",
    "decide_and_apply",
    "decide",
    "evolve",
    "split_by_visibility",
    "fold",
    "fold_events",
    "decide_envelope",
    "legal",
    "score",
    "redact_for",
]
