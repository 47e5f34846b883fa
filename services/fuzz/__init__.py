"""Random play of any ruleset, led by what it reaches, that looks for what no game may do.

Nothing here knows what a ruleset's commands mean: it decides, lists and folds, and makes commands and options from
their declared fields. `coverage_search` plays, `played_game` holds one game, `made_commands` chooses what is sent,
`game_checks` says what is wrong, and `log_shortening` cuts a game down to what shows it.
"""

from services.fuzz.coverage_search import Arena, BatchResult, Quota, search_batch
from services.fuzz.log_shortening import Shortened, shorten
from services.fuzz.played_game import GAME, KINDS, Finding, PlayedGame, Step

__all__ = [
    "GAME",
    "KINDS",
    "Arena",
    "BatchResult",
    "Finding",
    "PlayedGame",
    "Quota",
    "Shortened",
    "Step",
    "search_batch",
    "shorten",
]
