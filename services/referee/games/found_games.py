"""The games that this process can play, and their rulesets by name and version.

A game enters by `add_game`: those of this folder when it is imported, those of other packages by the entry
point `ledgerline.games` (installed_games.py). Where such a package imports this folder, it has no game yet: its
game enters when somebody first asks for games.
"""

from __future__ import annotations

import copyreg
from collections.abc import Callable, Iterable, Mapping, MutableMapping
from typing import Final, NamedTuple

from schemas.commands import OF_EVERY_GAME, TYPES_BY_RULESET, CreateGame
from schemas.errors import LedgerlineError, missing_game
from schemas.refusals import BROUGHT_PAGES, BROUGHT_RULES, EVERY_RULE
from schemas.registry import FilledWhenAsked
from services.referee.games.state import Ruleset, as_call


class Game(NamedTuple):
    """A game as a value: its rulesets, which differ in options and parts."""

    name: str
    rulesets: tuple[Ruleset, ...]
    # the name of the ruleset for a creation that names none, but a board; None: it isn't this game's
    ruleset_for: Callable[[CreateGame], str | None] = lambda command: None
    rules: Mapping[str, str] = {}  # by id, what a refusal names, in one sentence
    boards: Callable[[], Iterable[str]] = tuple  # the names of those that come with it
    find_faults: Callable[[], Mapping[str, str]] = dict  # what of it this server can't read, and why
    page: str = ""  # the rules in Markdown, as docs/reference/rules has those of the product


class InstalledGameError(LedgerlineError):
    """A game of an installed package can't be played here."""


AWAITED: Final[list[Callable[[], None]]] = []  # what adds the games that are still to come


def _add_awaited() -> None:
    for add in tuple(AWAITED):
        add()


GAMES: Final[MutableMapping[str, Game]] = FilledWhenAsked(_add_awaited)
# the newest version of each
RULESETS: Final[MutableMapping[str, Ruleset]] = FilledWhenAsked(_add_awaited)
# every version that a log may name
RULESET_VERSIONS: Final[MutableMapping[tuple[str, int], Ruleset]] = FilledWhenAsked(_add_awaited)


def add_game(game: Game) -> None:
    """Have the game played here. Raises TypeError where another game has its name, or that of one of its rulesets."""
    if game.name in GAMES:
        rulesets = GAMES[game.name].rulesets
        origin = rulesets[0].start.__module__ if rulesets else "a package"
        raise TypeError(f"{origin} has a game {game.name!r} already")
    for rule, sentence in game.rules.items():
        if EVERY_RULE.get(rule, sentence) != sentence:
            raise TypeError(f"the rule {rule!r} says something else in another game")
        BROUGHT_RULES[rule] = sentence
    for ruleset in game.rulesets:
        if game.page:
            BROUGHT_PAGES[ruleset.name] = game.page
        own_types = (move.command.type for moves in ruleset.moves.values() for move in moves)
        TYPES_BY_RULESET[ruleset.name] = frozenset((*own_types, *(each.type for each in OF_EVERY_GAME)))
        key = (ruleset.name, ruleset.version)
        if key in RULESET_VERSIONS:
            raise TypeError(
                f"another game has a ruleset {ruleset.name!r} of version {ruleset.version} already"
            )
        RULESET_VERSIONS[key] = ruleset
        known = RULESETS.get(ruleset.name)
        if known is None or known.version < ruleset.version:
            RULESETS[ruleset.name] = ruleset
    GAMES[game.name] = game


def _as_found(ruleset: Ruleset) -> tuple[Callable[..., object], tuple[object, ...]]:
    """How a ruleset reaches another process, which has found the same games: by its name and version."""
    key = (ruleset.name, ruleset.version)
    return (find_version, key) if RULESET_VERSIONS.get(key) is ruleset else as_call(ruleset)


def find_version(name: str, version: int) -> Ruleset:
    """The ruleset of a log. Raises MissingGameError: none of this name and version is installed here."""
    ruleset = RULESET_VERSIONS.get((name, version))
    if ruleset is None:
        raise missing_game(f"version {version} of the rules {name}")
    return ruleset


copyreg.pickle(Ruleset, _as_found)  # type: ignore[arg-type]  # of a test it is made by its fields


def choose_ruleset(rulesets: Mapping[str, Ruleset], command: CreateGame) -> str:
    """The name that the command gives, or that a game finds for its board; the first ruleset where neither is given."""
    if command.ruleset is not None:
        return command.ruleset
    found = (game.ruleset_for(command) for game in GAMES.values() if command.board is not None)
    return next((name for name in found if name is not None), next(iter(rulesets)))
