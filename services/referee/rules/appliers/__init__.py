"""What each event does to the state, in the order of schemas/events: opening, playing, ending.

No judgement here: an event that reached the log did happen. Every function is the same for
every ruleset.
"""

from services.referee.rules.appliers import ending, opening, playing
from services.referee.rules.appliers.table import APPLIER_TABLE

__all__ = ["APPLIER_TABLE", "ending", "opening", "playing"]
