"""All games that can be played here: those in folders of this one, then those of other packages, by their entry points."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from contextlib import contextmanager
from importlib import import_module
from importlib.metadata import EntryPoint, entry_points
from pkgutil import iter_modules
from typing import Final

from schemas.contract import COMMAND_REGISTRY, EVENT_REGISTRY
from services.referee.games.appliers import APPLIER_TABLE
from services.referee.games.decide import require_decided
from services.referee.games.found_games import AWAITED, GAMES, Game, InstalledGameError, add_game

FOLDER: Final = "services.referee.games"
ENTRY_POINTS: Final = "ledgerline.games"  # each names a `Game`


def add_installed_games() -> None:
    """Add each game once; those of other packages later, where one of these packages is being imported and has imported
    this. Raises InstalledGameError, naming the package, where one of another package can't be played."""
    # By their folders, each of which has its `GAME`: a checkout isn't installed as a package.
    for found in iter_modules(import_module(FOLDER).__path__, f"{FOLDER}."):
        if found.ispkg and (game := getattr(import_module(found.name), "GAME", None)):
            add_game(game)
    AWAITED.append(_add_awaited)
    _add_awaited()


def _add_awaited() -> None:
    found = sorted(entry_points(group=ENTRY_POINTS), key=lambda found: (found.name, found.value))
    if _is_one_being_imported(found):
        return
    AWAITED.remove(_add_awaited)  # to add a game is to ask for games, too
    try:
        _add_all(found)
    except InstalledGameError:
        AWAITED.append(_add_awaited)
        raise


def _is_one_being_imported(found: list[EntryPoint]) -> bool:
    """Whether a module of one of these packages has begun to run and hasn't come to its end."""
    packages = {entry_point.module.partition(".")[0] for entry_point in found}
    return any(
        name.partition(".")[0] in packages and getattr(module.__spec__, "_initializing", False)
        for name, module in [*sys.modules.items()]
    )


def _add_all(found: list[EntryPoint]) -> None:
    # What these have declared is known already, so nothing is whole without them.
    imported = [entry_point for entry_point in found if entry_point.module in sys.modules]
    for entry_point in imported:
        with _naming_package(entry_point):
            _add_installed(entry_point)
    if not imported:
        _require_whole()
    for entry_point in found:
        with _naming_package(entry_point):
            _require_described(_add_installed(entry_point))


@contextmanager
def _naming_package(entry_point: EntryPoint) -> Iterator[None]:
    """Raises InstalledGameError in place of whatever the code of others raises: who starts the program reads one sentence."""
    try:
        yield
    except Exception as error:
        package = entry_point.dist
        origin = f"package {package.name} {package.version}" if package else f"module {entry_point.module}"
        reason = " ".join(str(error).split())
        if not isinstance(error, ImportError | TypeError | AttributeError):  # their words say enough
            reason = f"{type(error).__name__}: {reason}"
        raise InstalledGameError(
            f"the game {entry_point.name!r} of the {origin} can't be played here: {reason}"
        ) from error


def _add_installed(entry_point: EntryPoint) -> Game:
    """Add a game of another package, unless it is there. Raises TypeError where it is none, or has what another game
    has."""
    game = entry_point.load()
    if not isinstance(game, Game):
        raise TypeError(f"{entry_point.value} is no Game")
    if GAMES.get(game.name) is not game:
        add_game(game)
    return game


def _require_described(game: Game) -> None:
    """The game is whole, and says what its events, commands and options are. Raises TypeError."""
    _require_whole()
    for event in EVENT_REGISTRY.classes:
        if _is_brought(event) and not event.sentence:
            raise TypeError(f"the event {event.__name__} has no sentence")
    for command in COMMAND_REGISTRY.classes:
        if _is_brought(command) and not command.description:
            raise TypeError(f"the command {command.__name__} has no description")
    for ruleset in game.rulesets:
        for name, option in ruleset.options_schema.json_schema()["properties"].items():
            if not option.get("description"):
                raise TypeError(f"the option {name} of {ruleset.name} has no description")


def _is_brought(contract: type) -> bool:
    """Whether another package declares it: functions of the product say what its own ones are."""
    return contract.__module__.partition(".")[0] not in ("schemas", "services")


def _require_whole() -> None:
    """Every event has its applier, and every command is decided. Raises TypeError."""
    APPLIER_TABLE.complete()
    require_decided()


add_installed_games()
