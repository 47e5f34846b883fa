"""All games that can be played here: those of this folder, then those of other packages, by their entry points."""

from __future__ import annotations

from importlib.metadata import EntryPoint, entry_points
from typing import Final

from schemas.contract import COMMAND_REGISTRY, EVENT_REGISTRY
from services.referee.games.appliers.table import APPLIER_TABLE
from services.referee.games.decide import require_decided
from services.referee.games.found_games import Game, InstalledGameError, add_game
from services.referee.games.trains.train_games import TRAIN_GAMES
from services.referee.games.tricks import TRICKS

ENTRY_POINTS: Final = "ledgerline.games"  # each names a `Game`


def add_installed_games() -> None:
    """Add each game once. Raises InstalledGameError, naming the package, where one of another package can't be played."""
    # By name: they come with the product, whose own tree isn't installed as a package where it is a checkout or an image.
    add_game(TRAIN_GAMES)
    add_game(TRICKS)
    _require_whole()
    for entry_point in sorted(entry_points(group=ENTRY_POINTS), key=lambda found: (found.name, found.value)):
        try:
            _add_installed(entry_point)
        except (
            Exception
        ) as error:  # whatever the code of others raises: who starts the program reads one sentence
            package = entry_point.dist
            origin = (
                f"package {package.name} {package.version}" if package else f"module {entry_point.module}"
            )
            reason = " ".join(str(error).split())
            if not isinstance(error, ImportError | TypeError | AttributeError):  # their words say enough
                reason = f"{type(error).__name__}: {reason}"
            raise InstalledGameError(
                f"the game {entry_point.name!r} of the {origin} can't be played here: {reason}"
            ) from error


def _add_installed(entry_point: EntryPoint) -> None:
    """Add one game of another package. Raises TypeError where it isn't whole, or has what another game has."""
    known = {*EVENT_REGISTRY.classes, *COMMAND_REGISTRY.classes}
    game = entry_point.load()
    if not isinstance(game, Game):
        raise TypeError(f"{entry_point.value} is no Game")
    add_game(game)
    _require_whole()
    for event in EVENT_REGISTRY.classes:
        if event not in known and not event.sentence:
            raise TypeError(f"the event {event.__name__} has no sentence")
    for command in COMMAND_REGISTRY.classes:
        if command not in known and not command.description:
            raise TypeError(f"the command {command.__name__} has no description")
    for ruleset in game.rulesets:
        for name, option in ruleset.options_schema.json_schema()["properties"].items():
            if not option.get("description"):
                raise TypeError(f"the option {name} of {ruleset.name} has no description")


def _require_whole() -> None:
    """Every event has its applier, and every command is decided. Raises TypeError."""
    APPLIER_TABLE.complete()
    require_decided()


add_installed_games()
