"""All games that can be played here: those of this folder, then those of other packages, by their entry points."""

from __future__ import annotations

from importlib.metadata import entry_points
from typing import Final

from services.referee.games.appliers.table import APPLIER_TABLE
from services.referee.games.decide import require_decided
from services.referee.games.found_games import Game, add_game
from services.referee.games.trains.train_games import TRAIN_GAMES
from services.referee.games.tricks import TRICKS

ENTRY_POINTS: Final = "ledgerline.games"  # each names a `Game`


def add_installed_games() -> None:
    """Add each game once. Raises TypeError, naming its entry point, where one brings no game."""
    add_game(TRAIN_GAMES)
    add_game(TRICKS)
    for entry_point in sorted(entry_points(group=ENTRY_POINTS), key=lambda found: found.name):
        game = entry_point.load()
        if not isinstance(game, Game):
            raise TypeError(
                f"the entry point {entry_point.name!r} of {ENTRY_POINTS} is no Game: {entry_point.value}"
            )
        add_game(game)


add_installed_games()
APPLIER_TABLE.complete()
require_decided()
