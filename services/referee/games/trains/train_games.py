"""The family as a value."""

from __future__ import annotations

from typing import Final

from schemas.trains.field_types import CARDS
from schemas.trains.refusals import TRAIN_RULES
from services.referee.games.found_games import Game
from services.referee.games.shuffle import state_order
from services.referee.games.trains import hidden_piles  # noqa: F401 - it fills the table of piles
from services.referee.games.trains.board import unreadable_boards
from services.referee.games.trains.rulesets.europe import EUROPE
from services.referee.games.trains.rulesets.marklin import MARKLIN
from services.referee.games.trains.rulesets.trains import TRAINS
from services.referee.games.trains.rulesets.usa import USA
from services.referee.games.trains.setup.opening import ruleset_for

state_order(CARDS)
TRAIN_RULESETS: Final = {ruleset.name: ruleset for ruleset in (USA, EUROPE, MARKLIN, TRAINS)}
TRAIN_GAMES: Final = Game(
    "trains", (*TRAIN_RULESETS.values(),), ruleset_for, TRAIN_RULES, find_faults=unreadable_boards
)
