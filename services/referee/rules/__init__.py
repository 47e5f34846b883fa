"""The rules as a pure core: `decide` turns a command into events, `evolve` applies an event to the
game state, `redact_for` hides from a viewer what it may not see.

Start with `decide`, then `evolve`. `ruleset` says what a ruleset is made of; the rulesets are in
`rulesets/`, the kinds of moves in `moves/`. Nothing here reads a clock, draws a random number or does
any input or output: times and seeds come in with the command and are recorded in the log.
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
