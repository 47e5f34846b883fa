"""The rules as a pure core: `decide` turns a command into events, `evolve` applies an event to the
game state, `redact_for` hides from a viewer what it may not see.

What every game needs is here: start with `decide`, then `evolve`; `state` says what a ruleset is made of.
Each game has a folder of its own. Nothing here reads a clock, draws a random number or does any input or
output: times and seeds come in with the command and are recorded in the log.
"""

from services.referee.games import installed_games  # noqa: F401 - all games are known from here on
from services.referee.games.appliers import evolve, fold, fold_events
from services.referee.games.decide import (
    UnloggedRejectionError,
    decide,
    decide_and_apply,
    decide_envelope,
    legal,
)
from services.referee.games.found_games import RULESETS
from services.referee.games.state import GameState
from services.referee.games.views import redact_for, split_by_visibility

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
    "redact_for",
]
